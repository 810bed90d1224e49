"""OffsetCommit (key 8): a group remembers how far it has come.

Behaviour: a member commits with its member id and generation. A committer from outside (generation -1) may
do so while the group has no members; if there is no such group, there is one now, which only has offsets. A
commit is a sign of life. Every offset is refused or taken by itself.

Version notes: 2 to 4 say how long to keep the offsets; 9 an unknown group is GROUP_ID_NOT_FOUND; 10 topics
by id.
"""

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import CoordinatorRecord, Outcome, answer
from penstock.groups.group import Committer, PartitionRule
from penstock.groups.offset_record import OffsetDecision, WantedOffset
from penstock.groups.records import NO_EXPIRY, TIMESTAMP_MAX
from penstock.groups.shard_state import ShardState
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import Millis
from penstock.wire.messages.offset_commit import (
    NO_RETENTION_TIME,
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

UNKNOWN_GROUP_SINCE_VERSION = 9
TOPIC_IDS_SINCE_VERSION = 10


def commit_offsets(
    state: ShardState, event: RequestReceived, request: OffsetCommitRequest, now: Millis
) -> Outcome:
    """Decide on an OffsetCommit request."""
    refusal, rule = _permission(state, event, request, now)
    decision = OffsetDecision(
        state=state,
        group_id=request.group_id,
        refusal=refusal,
        rule=rule,
        now=now,
        expire_timestamp=_expire_timestamp(request, now),
    )
    records: list[CoordinatorRecord] = []
    topics = []
    for topic in request.topics:
        wanted = _wanted(state, topic, event.api_version)
        codes = [decision.code(each) for each in wanted]
        taken = [each for each, code in zip(wanted, codes, strict=True) if code is ErrorCode.NONE]
        records.extend(map(decision.record, taken))
        topics.append(_answered(topic, codes))
    return Outcome(records=tuple(records)) + answer(event.token, OffsetCommitResponse(topics=tuple(topics)))


def _permission(
    state: ShardState, event: RequestReceived, request: OffsetCommitRequest, now: Millis
) -> tuple[ErrorCode, PartitionRule | None]:
    """Why the group takes no offsets of this committer, or of which partitions it does."""
    committer = Committer(
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        generation_or_epoch=request.generation_id_or_member_epoch,
        is_transactional=False,
        api_version=event.api_version,
    )
    group = state.groups.get(request.group_id)
    if group is None:
        if committer.generation_or_epoch < 0:
            return ErrorCode.NONE, None
        has_code = event.api_version >= UNKNOWN_GROUP_SINCE_VERSION
        return ErrorCode.GROUP_ID_NOT_FOUND if has_code else ErrorCode.ILLEGAL_GENERATION, None
    try:
        rule = group.check_offset_commit(committer)
    except ApiError as error:
        return error.code, None
    group.note_offset_commit(committer, now)
    return ErrorCode.NONE, rule


def _expire_timestamp(request: OffsetCommitRequest, now: Millis) -> int:
    """For how long is up to the client, which may say for ever with the largest number it knows."""
    has_own = request.retention_time_ms != NO_RETENTION_TIME
    return min(now + request.retention_time_ms, TIMESTAMP_MAX) if has_own else NO_EXPIRY


def _wanted(state: ShardState, topic: OffsetCommitRequestTopic, api_version: int) -> list[WantedOffset]:
    by_id = api_version >= TOPIC_IDS_SINCE_VERSION
    name = state.topics.name_of(topic.topic_id) if by_id else topic.name
    return [
        WantedOffset(
            topic=name,
            partition=partition.partition_index,
            offset=partition.committed_offset,
            leader_epoch=partition.committed_leader_epoch,
            metadata=partition.committed_metadata or "",
        )
        for partition in topic.partitions
    ]


def _answered(topic: OffsetCommitRequestTopic, codes: list[ErrorCode]) -> OffsetCommitResponseTopic:
    return OffsetCommitResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        partitions=tuple(
            OffsetCommitResponsePartition(partition_index=partition.partition_index, error_code=code)
            for partition, code in zip(topic.partitions, codes, strict=True)
        ),
    )
