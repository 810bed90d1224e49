"""OffsetFetch (key 9): how far a group has come.

Behaviour: a partition without an offset is no error, and neither is a group that nobody has heard of: both
answer with offset -1. Without a list of topics all offsets of the group are meant. With ``require_stable``
an offset that an open transaction may still change answers UNSTABLE_OFFSET_COMMIT: the client waits and
asks again (KIP-447). An offset of a topic that is gone is none; in another of the same name that there is by
now it would mean other records.

Version notes: 2 null topics; 7 require_stable; 8 many groups; 9 members of consumer groups say who they
are; 10 topics by id.
"""

from dataclasses import dataclass
from itertools import groupby

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import Outcome, answer
from penstock.groups.offsets import CommittedOffset
from penstock.groups.refusals import MANY_GROUPS_SINCE_VERSION
from penstock.groups.shard_state import ShardState
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import ZERO_TOPIC_ID, TopicPartition
from penstock.wire.messages.offset_fetch import (
    NO_OFFSET_COMMITTED,
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

TOPIC_IDS_SINCE_VERSION = 10


def fetch_offsets(state: ShardState, event: RequestReceived, request: OffsetFetchRequest) -> Outcome:
    """Answer an OffsetFetch request."""
    by_id = event.api_version >= TOPIC_IDS_SINCE_VERSION
    fetch = _Fetch(state=state, require_stable=request.require_stable, by_id=by_id)
    if event.api_version >= MANY_GROUPS_SINCE_VERSION:
        groups = tuple(fetch.group(each) for each in request.groups)
        return answer(event.token, OffsetFetchResponse(groups=groups))
    return answer(event.token, _as_single(fetch.group(_only_group(request))))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fetch:
    """One request; its answers are made in the shape of the newest version."""

    state: ShardState
    require_stable: bool
    by_id: bool

    def group(self, wanted: OffsetFetchRequestGroup) -> OffsetFetchResponseGroup:
        group = self.state.groups.get(wanted.group_id)
        try:
            if group is not None:
                group.check_offset_fetch(wanted.member_id, wanted.member_epoch)
        except ApiError as error:
            return OffsetFetchResponseGroup(group_id=wanted.group_id, error_code=error.code)
        if wanted.topics is None:
            topics = self._all_topics(wanted.group_id)
        else:
            topics = tuple(self._topic(wanted.group_id, each) for each in wanted.topics)
        return OffsetFetchResponseGroup(group_id=wanted.group_id, topics=topics)

    def _all_topics(self, group_id: str) -> tuple[OffsetFetchResponseTopics, ...]:
        """Everything committed, in a fixed order; by id, topics that have none are left out."""
        topics = []
        partitions = sorted(self.state.offsets.of_group(group_id))
        for name, of_topic in groupby(partitions, key=lambda partition: partition.topic):
            topic_id = self.state.topics.id_of(name)
            if self.by_id and topic_id == ZERO_TOPIC_ID:
                continue
            indexes = tuple(partition.partition for partition in of_topic)
            wanted = OffsetFetchRequestTopics(name=name, topic_id=topic_id, partition_indexes=indexes)
            topics.append(self._topic(group_id, wanted))
        return tuple(topics)

    def _topic(self, group_id: str, wanted: OffsetFetchRequestTopics) -> OffsetFetchResponseTopics:
        name = self.state.topics.name_of(wanted.topic_id) if self.by_id else wanted.name
        return OffsetFetchResponseTopics(
            name=wanted.name,
            topic_id=wanted.topic_id,
            partitions=tuple(
                _refused(index, ErrorCode.UNKNOWN_TOPIC_ID)
                if name is None
                else self._partition(group_id, TopicPartition(name, index))
                for index in wanted.partition_indexes
            ),
        )

    def _partition(self, group_id: str, partition: TopicPartition) -> OffsetFetchResponsePartitions:
        if self.require_stable and self.state.offsets.is_unstable(group_id, partition):
            return _refused(partition.partition, ErrorCode.UNSTABLE_OFFSET_COMMIT)
        committed = self.state.offsets.get(group_id, partition)
        if committed is None or not self._is_of_present_topic(committed, partition.topic):
            return _refused(partition.partition, ErrorCode.NONE)
        return OffsetFetchResponsePartitions(
            partition_index=partition.partition,
            committed_offset=committed.value.offset,
            committed_leader_epoch=committed.value.leader_epoch,
            metadata=committed.value.metadata,
        )

    def _is_of_present_topic(self, committed: CommittedOffset, name: str) -> bool:
        """Whether it was not committed for a topic of that name that has been deleted since."""
        return committed.value.topic_id in (ZERO_TOPIC_ID, self.state.topics.id_of(name))


def _refused(index: int, code: ErrorCode) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=index, committed_offset=NO_OFFSET_COMMITTED, error_code=code
    )


def _only_group(request: OffsetFetchRequest) -> OffsetFetchRequestGroup:
    """A request of old in the shape of the newest."""
    topics = None
    if request.topics is not None:
        topics = tuple(
            OffsetFetchRequestTopics(name=topic.name, partition_indexes=topic.partition_indexes)
            for topic in request.topics
        )
    return OffsetFetchRequestGroup(group_id=request.group_id, topics=topics)


def _as_single(group: OffsetFetchResponseGroup) -> OffsetFetchResponse:
    """An answer in the shape of old."""
    return OffsetFetchResponse(
        error_code=group.error_code,
        topics=tuple(
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=tuple(
                    OffsetFetchResponsePartition(
                        partition_index=each.partition_index,
                        committed_offset=each.committed_offset,
                        committed_leader_epoch=each.committed_leader_epoch,
                        metadata=each.metadata,
                        error_code=each.error_code,
                    )
                    for each in topic.partitions
                ),
            )
            for topic in group.topics
        ),
    )
