"""AlterPartition (key 56): a leader asks the controller for another in-sync set.

Flexible from the start. Version notes: 2 topics by id; 3 every member of the set comes with its broker epoch.
"""

from penstock.model.ids import TopicId
from penstock.wire.primitives import INT8, INT16, INT32, INT64, TOPIC_ID
from penstock.wire.schema import Struct, array, field

ANY_BROKER_EPOCH = -1
"""As a member's epoch: not to be checked."""


class BrokerState(Struct):
    """A member of the wanted set, as the process that the leader has seen fetching."""

    broker_id: int = field(INT32)
    broker_epoch: int = field(INT64, default=ANY_BROKER_EPOCH)


class PartitionData(Struct):
    """The set wanted for one partition, and what it is based on."""

    partition_index: int = field(INT32)
    leader_epoch: int = field(INT32)
    new_isr: tuple[int, ...] = array(INT32, "0-2")
    new_isr_with_epochs: tuple[BrokerState, ...] = array(BrokerState, "3+")
    leader_recovery_state: int = field(INT8)
    partition_epoch: int = field(INT32)


class TopicData(Struct):
    """Partitions of one topic."""

    topic_id: TopicId = field(TOPIC_ID)
    partitions: tuple[PartitionData, ...] = array(PartitionData)


class AlterPartitionRequest(Struct):
    """Change the in-sync sets of partitions that the asking broker leads."""

    broker_id: int = field(INT32)
    broker_epoch: int = field(INT64, default=-1)
    topics: tuple[TopicData, ...] = array(TopicData)


class PartitionResult(Struct):
    """What holds for one partition now, or why the change was refused."""

    partition_index: int = field(INT32)
    error_code: int = field(INT16)
    leader_id: int = field(INT32)
    leader_epoch: int = field(INT32)
    isr: tuple[int, ...] = array(INT32)
    leader_recovery_state: int = field(INT8)
    partition_epoch: int = field(INT32)


class TopicResult(Struct):
    """The outcome for one topic."""

    topic_id: TopicId = field(TOPIC_ID)
    partitions: tuple[PartitionResult, ...] = array(PartitionResult)


class AlterPartitionResponse(Struct):
    """The outcome for every partition asked."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16)
    topics: tuple[TopicResult, ...] = array(TopicResult)
