"""Moving the offsets of a group: what a target means for each partition, and one commit of all of them.

Only a group without members is moved; the coordinator refuses the commit of everybody else's, with one of the
codes ``GROUP_IS_ACTIVE``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.list_offsets import EARLIEST_TIMESTAMP
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.wire_client.cluster import PASSING, Cluster
from penstock.wire_client.connection import Connection
from penstock.wire_client.coordinators import Coordinated, ask_coordinator
from penstock.wire_client.errors import WireClientError, check
from penstock.wire_client.groups.offsets import BY_NAME_VERSION_MAX, Offsets, end_offsets
from penstock.wire_client.groups.reset_target import Reference, Situation, Target, new_offset
from penstock.wire_client.topics import by_topic, known_offsets_at

GROUP_IS_ACTIVE = frozenset(
    {
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.REBALANCE_IN_PROGRESS,
        ErrorCode.STALE_MEMBER_EPOCH,
    }
)
"""How a broker refuses a commit from outside a group that has members."""


class UnknownRangeError(WireClientError):
    """Where a partition begins and ends cannot be found out at present."""

    def __init__(self, partition: TopicPartition) -> None:
        super().__init__(f"The offsets of {partition} cannot be looked up: it has no leader, or is gone.")
        self.partition = partition


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One offset before and after; ``new`` is None where nothing is to be done."""

    partition: TopicPartition
    old: int | None
    new: int | None
    note: str

    @property
    def change(self) -> int | None:
        """How many records are skipped; negative for those that will be read again."""
        return None if self.old is None or self.new is None else self.new - self.old

    def as_json(self) -> dict[str, Any]:
        """The numbers under their names."""
        return {
            "topic": self.partition.topic,
            "partition": self.partition.partition,
            "old_offset": self.old,
            "new_offset": self.new,
            "change": self.change,
            "note": self.note,
        }


class CommitOutcome(NamedTuple):
    """The first error of a commit, if there is one, and where it is."""

    error_code: int
    partition: TopicPartition | None = None


def plan_moves(
    cluster: Cluster, partitions: Sequence[TopicPartition], committed: Offsets, target: Target
) -> list[Move]:
    """What ``target`` means for each of ``partitions``; nothing is guessed of one that nobody leads."""
    starts = known_offsets_at(cluster, dict.fromkeys(partitions, EARLIEST_TIMESTAMP))
    ends = end_offsets(cluster, partitions)
    at_time: dict[TopicPartition, int | None] = {}
    if target.reference is Reference.TIMESTAMP:
        at_time = known_offsets_at(cluster, dict.fromkeys(partitions, target.number))
        for partition in partitions:
            if partition not in at_time:
                raise UnknownRangeError(partition)
    return [
        _move(partition, target, _situation(partition, starts, ends, committed, at_time))
        for partition in partitions
    ]


def commit_moves(cluster: Cluster, group: str, moves: Iterable[Move]) -> None:
    """Commit all new offsets at once, as somebody who is no member of the group."""
    offsets = {move.partition: move.new for move in moves if move.new is not None}
    outcome = ask_coordinator(
        cluster, Coordinated.GROUP, group, lambda broker: _commit(broker, group, offsets)
    )
    check(outcome.error_code, doing=f"reset the offset of group {group!r} in {outcome.partition}")


def _situation(
    partition: TopicPartition,
    starts: dict[TopicPartition, int | None],
    ends: dict[TopicPartition, int | None],
    committed: Offsets,
    at_time: dict[TopicPartition, int | None],
) -> Situation:
    start, end = starts.get(partition), ends[partition]
    if start is None or end is None:
        raise UnknownRangeError(partition)
    return Situation(start=start, end=end, committed=committed.get(partition), at_time=at_time.get(partition))


def _move(partition: TopicPartition, target: Target, situation: Situation) -> Move:
    offset, note = new_offset(target, situation)
    return Move(partition=partition, old=situation.committed, new=offset, note=note)


def _commit(broker: Connection, group: str, offsets: Offsets) -> CommitOutcome:
    topics = tuple(
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
    )
    request = OffsetCommitRequest(group_id=group, topics=topics)
    answer = broker.call(ApiKey.OFFSET_COMMIT, request, at_most=BY_NAME_VERSION_MAX)
    refused = [
        CommitOutcome(partition.error_code, TopicPartition(topic.name, partition.partition_index))
        for topic in answer.topics
        for partition in topic.partitions
        if partition.error_code != ErrorCode.NONE
    ]
    refused.sort(key=lambda outcome: outcome.error_code in PASSING)
    return refused[0] if refused else CommitOutcome(ErrorCode.NONE)
