"""How far groups have come: what they committed, where the partitions end, and what lies between."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.list_offsets import LATEST_TIMESTAMP
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Connection
from penstock.wire_client.coordinators import Coordinated, ask_coordinators
from penstock.wire_client.errors import check
from penstock.wire_client.groups.description import GroupDescription, Member
from penstock.wire_client.topics import offsets_at

Offsets = Mapping[TopicPartition, int]

BY_NAME_VERSION_MAX = 9
"""Of OffsetFetch and OffsetCommit: the last that knows topics by name, as people do."""

_MANY_GROUPS_VERSION = 8
"""Of OffsetFetch: the first that takes more than one group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a group is in one partition; what is not known, or not there, is None."""

    partition: TopicPartition
    committed: int | None
    end: int | None
    member: Member | None

    @property
    def lag(self) -> int | None:
        """Records to go; negative when the log ends before what was committed, as after a loss of data."""
        return None if self.committed is None or self.end is None else self.end - self.committed

    def as_json(self) -> dict[str, Any]:
        """The numbers under their names."""
        member = self.member
        return {
            "topic": self.partition.topic,
            "partition": self.partition.partition,
            "committed_offset": self.committed,
            "end_offset": self.end,
            "lag": self.lag,
            "member_id": None if member is None else member.member_id,
            "client_id": None if member is None else member.client_id,
            "host": None if member is None else member.host,
        }


def committed_offsets(cluster: Cluster, groups: Iterable[str]) -> dict[str, Offsets]:
    """All that each group has committed; nothing for a group that does not exist."""
    answers = ask_coordinators(cluster, Coordinated.GROUP, groups, _fetch)
    return {group: _offsets(group, answer) for group, answer in answers.items()}


def end_offsets(cluster: Cluster, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int | None]:
    """Where each partition ends; None for one that is gone or without a leader."""
    return offsets_at(cluster, dict.fromkeys(partitions, LATEST_TIMESTAMP))


def progress_of(cluster: Cluster, groups: Sequence[GroupDescription]) -> dict[str, list[Progress]]:
    """For each group every partition that it committed an offset for, or that a member has."""
    committed = committed_offsets(cluster, [group.group for group in groups])
    owners = {group.group: _owners(group) for group in groups}
    ends = end_offsets(
        cluster,
        {partition for name in committed for partition in (*committed[name], *owners[name])},
    )
    return {
        name: [
            Progress(
                partition=partition,
                committed=committed[name].get(partition),
                end=ends[partition],
                member=owners[name].get(partition),
            )
            for partition in sorted({*committed[name], *owners[name]})
        ]
        for name in committed
    }


def total_lag(progress: Iterable[Progress]) -> int | None:
    """Records to go in all partitions where that is known; None where it is known of none."""
    lags = [one.lag for one in progress if one.lag is not None]
    return sum(max(0, lag) for lag in lags) if lags else None


def _owners(group: GroupDescription) -> dict[TopicPartition, Member]:
    return {partition: member for member in group.members for partition in member.assignment}


def _fetch(broker: Connection, groups: Sequence[str]) -> dict[str, OffsetFetchResponseGroup]:
    if broker.version(ApiKey.OFFSET_FETCH, at_most=BY_NAME_VERSION_MAX) < _MANY_GROUPS_VERSION:
        return {group: _fetch_one(broker, group) for group in groups}
    asked = tuple(OffsetFetchRequestGroup(group_id=group, topics=None) for group in groups)
    answer = broker.call(ApiKey.OFFSET_FETCH, OffsetFetchRequest(groups=asked), at_most=BY_NAME_VERSION_MAX)
    return {group.group_id: group for group in answer.groups}


def _fetch_one(broker: Connection, group: str) -> OffsetFetchResponseGroup:
    """As brokers before Kafka 3.0 are asked, put in the form of the answer that came later."""
    request = OffsetFetchRequest(group_id=group, topics=None)
    answer = broker.call(ApiKey.OFFSET_FETCH, request, at_most=_MANY_GROUPS_VERSION - 1)
    topics = tuple(
        OffsetFetchResponseTopics(
            name=topic.name,
            partitions=tuple(
                OffsetFetchResponsePartitions(
                    partition_index=partition.partition_index,
                    committed_offset=partition.committed_offset,
                    error_code=partition.error_code,
                )
                for partition in topic.partitions
            ),
        )
        for topic in answer.topics
    )
    return OffsetFetchResponseGroup(group_id=group, topics=topics, error_code=answer.error_code)


def _offsets(group: str, answer: OffsetFetchResponseGroup) -> Offsets:
    if answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND:
        return {}
    check(answer.error_code, doing=f"read the offsets of group {group!r}")
    return {
        TopicPartition(topic.name, partition.partition_index): partition.committed_offset
        for topic in answer.topics
        for partition in topic.partitions
        if partition.committed_offset >= 0
    }
