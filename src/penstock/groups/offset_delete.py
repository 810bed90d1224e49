"""OffsetDelete (key 47): a group forgets how far it has come in topics it no longer reads.

Behaviour: a group of consumers may have members; topics that one of them reads are
GROUP_SUBSCRIBED_TO_TOPIC. Of members that use the group for something else nobody knows what they read:
NON_EMPTY_GROUP. Forgetting an offset that is not there is fine.
"""

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import CoordinatorRecord, Outcome, answer
from penstock.groups.group import Group
from penstock.groups.offset_record import offset_tombstone
from penstock.groups.shard_state import ShardState
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import TopicPartition
from penstock.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


def delete_offsets(state: ShardState, event: RequestReceived, request: OffsetDeleteRequest) -> Outcome:
    """Decide on an OffsetDelete request."""
    group = state.groups.get(request.group_id)
    if group is None:
        raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND)
    group.check_offset_delete()
    known = set(state.offsets.partitions_of(request.group_id))
    records: dict[TopicPartition, CoordinatorRecord] = {}
    topics = []
    for topic in request.topics:
        codes = [_code(state, group, topic.name, each.partition_index) for each in topic.partitions]
        for each, code in zip(topic.partitions, codes, strict=True):
            partition = TopicPartition(topic.name, each.partition_index)
            if code is ErrorCode.NONE and partition in known:
                records[partition] = offset_tombstone(request.group_id, partition)
        topics.append(_answered(topic, codes))
    response = OffsetDeleteResponse(topics=tuple(topics))
    return Outcome(records=tuple(records.values())) + answer(event.token, response)


def _code(state: ShardState, group: Group, topic: str, partition: int) -> ErrorCode:
    if not state.topics.has_partition(topic, partition):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if group.is_subscribed_to(topic):
        return ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    return ErrorCode.NONE


def _answered(topic: OffsetDeleteRequestTopic, codes: list[ErrorCode]) -> OffsetDeleteResponseTopic:
    return OffsetDeleteResponseTopic(
        name=topic.name,
        partitions=tuple(
            OffsetDeleteResponsePartition(partition_index=each.partition_index, error_code=code)
            for each, code in zip(topic.partitions, codes, strict=True)
        ),
    )
