"""AlterPartition: a leader asks for another in-sync set, and the controller checks that it may.

The leader names the state it started from (leader epoch and partition epoch), so that a change which crossed
its request on the way wins. It names every member with the broker epoch it saw fetching, so that a replica
which has restarted since, perhaps with less on its disk, is not taken for the one that had caught up
(KIP-903).
"""

from collections.abc import Sequence
from dataclasses import replace

from penstock.metadata.fencing import check_broker_epoch
from penstock.metadata.image import ClusterImage
from penstock.metadata.leadership import circumstances_in
from penstock.metadata.partition_change import RECOVERED, RECOVERING, as_it_is, change_partition
from penstock.metadata.records import LEADER_UNCHANGED, PartitionChangeRecord
from penstock.metadata.replication_rules import topic_rules
from penstock.metadata.result import Result
from penstock.metadata.topic_image import PartitionImage, TopicImage, changed_partition
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId
from penstock.wire.messages.alter_partition import (
    ANY_BROKER_EPOCH,
    AlterPartitionRequest,
    AlterPartitionResponse,
    BrokerState,
    PartitionData,
    PartitionResult,
    TopicData,
    TopicResult,
)

EPOCHS_SINCE_VERSION = 3


def alter_partition(
    image: ClusterImage, request: AlterPartitionRequest, *, version: int = EPOCHS_SINCE_VERSION
) -> Result[AlterPartitionResponse]:
    """Decide on the partitions of a request, each by itself."""
    try:
        check_broker_epoch(image, request.broker_id, request.broker_epoch)
    except ApiError as error:
        return Result(records=(), response=AlterPartitionResponse(error_code=error.code))
    alteration = _Alteration(image, NodeId(request.broker_id), version)
    topics = tuple(alteration.topic(each) for each in request.topics)
    return Result(records=tuple(alteration.records), response=AlterPartitionResponse(topics=topics))


class _Alteration:
    """One request, as far as it has been decided."""

    def __init__(self, image: ClusterImage, asking: NodeId, version: int) -> None:
        self.records: list[PartitionChangeRecord] = []
        self._image = image
        self._asking = asking
        self._version = version

    def topic(self, wanted: TopicData) -> TopicResult:
        topic = self._image.topics_by_id.get(wanted.topic_id)
        seen: set[int] = set()
        results = []
        for each in wanted.partitions:
            if topic is None:
                results.append(_refusal(each, ErrorCode.UNKNOWN_TOPIC_ID))
            elif each.partition_index in seen:
                results.append(_refusal(each, ErrorCode.INVALID_REQUEST))
            else:
                results.append(self._partition(topic, each))
            seen.add(each.partition_index)
        return TopicResult(topic_id=wanted.topic_id, partitions=tuple(results))

    def _partition(self, topic: TopicImage, wanted: PartitionData) -> PartitionResult:
        if not 0 <= wanted.partition_index < len(topic.partitions):
            return _refusal(wanted, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        old = topic.partitions[wanted.partition_index]
        members = self._members(wanted)
        error = _stale(old, wanted, self._asking) or _unfit(self._image, old, wanted, members)
        if error is not None:
            return _refusal(wanted, error)
        record = change_partition(
            old,
            replace(
                as_it_is(old),
                isr=tuple(NodeId(each.broker_id) for each in members),
                recovery_state=wanted.leader_recovery_state,
            ),
            circumstances_in(self._image, topic_rules(self._image, topic.name)),
            topic_id=topic.topic_id,
            index=wanted.partition_index,
        )
        # A set that holds already is written too: it moves the partition epoch, and so makes every older
        # request of the leader stale that is still on its way.
        confirmed = PartitionChangeRecord(
            partition_id=wanted.partition_index, topic_id=topic.topic_id, isr=old.isr
        )
        return self._outcome(old, record or confirmed, wanted)

    def _members(self, wanted: PartitionData) -> Sequence[BrokerState]:
        if self._version >= EPOCHS_SINCE_VERSION:
            return wanted.new_isr_with_epochs
        return tuple(BrokerState(broker_id=node_id) for node_id in wanted.new_isr)

    def _outcome(
        self, old: PartitionImage, record: PartitionChangeRecord, wanted: PartitionData
    ) -> PartitionResult:
        self.records.append(record)
        if record.leader not in (LEADER_UNCHANGED, self._asking):
            # The change completed a move which took the leader away. It is both done and refused: done,
            # since the record is written; refused, since the asking broker leads no more.
            return _refusal(wanted, ErrorCode.NEW_LEADER_ELECTED)
        return _answer(wanted, changed_partition(old, record))


def _stale(old: PartitionImage, wanted: PartitionData, asking: NodeId) -> ErrorCode | None:
    """Whether the leader and the controller talk of the same state of the partition."""
    if wanted.leader_epoch > old.leader_epoch or wanted.partition_epoch > old.partition_epoch:
        return ErrorCode.NOT_CONTROLLER  # The leader has seen what this controller has not.
    if wanted.leader_epoch < old.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if asking != old.leader:
        return ErrorCode.INVALID_REQUEST
    if wanted.partition_epoch < old.partition_epoch:
        return ErrorCode.INVALID_UPDATE_VERSION
    return None


def _unfit(
    image: ClusterImage, old: PartitionImage, wanted: PartitionData, members: Sequence[BrokerState]
) -> ErrorCode | None:
    """Whether the wanted set may be one at all, and every member may be in it."""
    ids = [each.broker_id for each in members]
    is_set_of_replicas = len(set(ids)) == len(ids) and set(ids) <= set(old.replicas)
    if not is_set_of_replicas or old.leader not in ids:
        return ErrorCode.INVALID_REQUEST
    if wanted.leader_recovery_state not in (RECOVERED, RECOVERING):
        return ErrorCode.INVALID_REQUEST
    if wanted.leader_recovery_state == RECOVERING and (
        len(ids) > 1 or old.leader_recovery_state == RECOVERED
    ):
        return ErrorCode.INVALID_REQUEST
    if not all(_is_eligible(image, each) for each in members):
        return ErrorCode.INELIGIBLE_REPLICA
    return None


def _is_eligible(image: ClusterImage, member: BrokerState) -> bool:
    broker = image.brokers.get(NodeId(member.broker_id))
    if broker is None or not broker.is_active:
        return False
    return member.broker_epoch in (ANY_BROKER_EPOCH, broker.epoch)


def _refusal(wanted: PartitionData, error: ErrorCode) -> PartitionResult:
    return PartitionResult(partition_index=wanted.partition_index, error_code=error)


def _answer(wanted: PartitionData, partition: PartitionImage) -> PartitionResult:
    return PartitionResult(
        partition_index=wanted.partition_index,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        isr=partition.isr,
        leader_recovery_state=partition.leader_recovery_state,
        partition_epoch=partition.partition_epoch,
    )
