"""TxnOffsetCommit (key 28): a group remembers how far it has come, if the producer's transaction commits.

Behaviour: the records are appended as a batch of the producer's transaction, and count from its commit
marker on. Whether the producer may write is for the log to say (its epoch) and for the transaction
coordinator (whether the transaction is open). Whether the *consumer* may is decided here since version 3: a
member of the past is fenced. Producers that do not say who consumes for them are not.

Version notes: 3 member, generation and instance id.
"""

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import CoordinatorRecord, Outcome, ProducerEpoch, answer
from penstock.groups.group import Committer, PartitionRule
from penstock.groups.offset_record import OffsetDecision, WantedOffset
from penstock.groups.shard_state import ShardState
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import Millis
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)


def commit_transactional_offsets(
    state: ShardState, event: RequestReceived, request: TxnOffsetCommitRequest, now: Millis
) -> Outcome:
    """Decide on a TxnOffsetCommit request."""
    refusal, rule = _permission(state, event, request)
    decision = OffsetDecision(state=state, group_id=request.group_id, refusal=refusal, rule=rule, now=now)
    records: list[CoordinatorRecord] = []
    topics = []
    for topic in request.topics:
        wanted = _wanted(topic)
        codes = [_told(decision.code(each)) for each in wanted]
        taken = [each for each, code in zip(wanted, codes, strict=True) if code is ErrorCode.NONE]
        records.extend(map(decision.record, taken))
        topics.append(_answered(topic, codes))
    producer = ProducerEpoch(producer_id=request.producer_id, producer_epoch=request.producer_epoch)
    written = Outcome(records=tuple(records), transaction=producer if records else None)
    return written + answer(event.token, TxnOffsetCommitResponse(topics=tuple(topics)))


def _permission(
    state: ShardState, event: RequestReceived, request: TxnOffsetCommitRequest
) -> tuple[ErrorCode, PartitionRule | None]:
    """Why the group takes no offsets of this committer, or of which partitions it does."""
    group = state.groups.get(request.group_id)
    if group is None:
        return ErrorCode.NONE if request.generation_id < 0 else ErrorCode.ILLEGAL_GENERATION, None
    committer = Committer(
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        generation_or_epoch=request.generation_id,
        is_transactional=True,
        api_version=event.api_version,
    )
    try:
        return ErrorCode.NONE, group.check_offset_commit(committer)
    except ApiError as error:
        return error.code, None


def _told(code: ErrorCode) -> ErrorCode:
    """Producers know nothing of epochs of members."""
    return ErrorCode.ILLEGAL_GENERATION if code is ErrorCode.STALE_MEMBER_EPOCH else code


def _wanted(topic: TxnOffsetCommitRequestTopic) -> list[WantedOffset]:
    return [
        WantedOffset(
            topic=topic.name,
            partition=partition.partition_index,
            offset=partition.committed_offset,
            leader_epoch=partition.committed_leader_epoch,
            metadata=partition.committed_metadata or "",
        )
        for partition in topic.partitions
    ]


def _answered(topic: TxnOffsetCommitRequestTopic, codes: list[ErrorCode]) -> TxnOffsetCommitResponseTopic:
    return TxnOffsetCommitResponseTopic(
        name=topic.name,
        partitions=tuple(
            TxnOffsetCommitResponsePartition(partition_index=partition.partition_index, error_code=code)
            for partition, code in zip(topic.partitions, codes, strict=True)
        ),
    )
