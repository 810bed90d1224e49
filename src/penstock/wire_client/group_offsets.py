"""Offsets that a group has committed, with the words that were left beside them; and committing them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.wire.messages.offset_fetch import (
    NO_OFFSET_COMMITTED,
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
)
from penstock.wire_client.coordinators import Coordinated
from penstock.wire_client.errors import check
from penstock.wire_client.known_coordinators import CoordinatorKey, KnownCoordinators, Question
from penstock.wire_client.patience import Patience
from penstock.wire_client.topics import by_topic

_VERSION_MAX = 7
"""The last that asks for one group, and the first that knows of open transactions."""


_COMMIT_VERSION_MAX = 9
"""Of OffsetCommit: the last that knows topics by name."""


class CommittedOffset(NamedTuple):
    """An offset and what its committer wrote beside it."""

    offset: int
    metadata: str = ""


def stable_offset(
    coordinators: KnownCoordinators,
    group: str,
    partition: TopicPartition,
    *,
    patience: Patience | None = None,
) -> CommittedOffset | None:
    """What the group has committed for a partition, once no open transaction can change it any more.

    Raises ``RefusedError`` with UNSTABLE_OFFSET_COMMIT when one still can after ``patience``.
    """
    request = OffsetFetchRequest(
        group_id=group,
        topics=(OffsetFetchRequestTopic(name=partition.topic, partition_indexes=(partition.partition,)),),
        require_stable=True,
    )
    question = Question(ApiKey.OFFSET_FETCH, request, _VERSION_MAX, _codes)
    answer = coordinators.ask(CoordinatorKey(Coordinated.GROUP, group), question, patience=patience)
    for code in _codes(answer):
        check(code, doing=f"read the offsets of group {group!r}")
    (found,) = (each for topic in answer.topics for each in topic.partitions)
    if found.committed_offset == NO_OFFSET_COMMITTED:
        return None
    return CommittedOffset(found.committed_offset, found.metadata or "")


def commit_offsets(
    coordinators: KnownCoordinators, group: str, offsets: Mapping[TopicPartition, int]
) -> None:
    """Let a group that has no members remember the next offset of each partition."""
    request = OffsetCommitRequest(
        group_id=group,
        topics=tuple(
            OffsetCommitRequestTopic(
                name=topic,
                partitions=tuple(
                    OffsetCommitRequestPartition(
                        partition_index=number, committed_offset=offsets[TopicPartition(topic, number)]
                    )
                    for number in numbers
                ),
            )
            for topic, numbers in by_topic(offsets).items()
        ),
    )
    question = Question(ApiKey.OFFSET_COMMIT, request, _COMMIT_VERSION_MAX, _committed_codes)
    answer = coordinators.ask(CoordinatorKey(Coordinated.GROUP, group), question)
    for code in _committed_codes(answer):
        check(code, doing=f"commit offsets of group {group!r}")


def _committed_codes(answer: Any) -> list[int]:
    return [each.error_code for topic in answer.topics for each in topic.partitions]


def _codes(answer: Any) -> list[int]:
    return [answer.error_code, *(each.error_code for topic in answer.topics for each in topic.partitions)]
