"""DescribeProducers (key 61): who writes to partitions, and since which offset in a transaction.

Version 0.

Behaviour
    - Every producer that the partition's log remembers, idempotent or transactional; the leader says so.
    - By this a transaction that hangs is found: open in a log, and unknown to its coordinator (KIP-664).
"""

from typing import TYPE_CHECKING

from penstock.model.errors import ApiError
from penstock.storage.producer_state import Producer
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: DescribeProducersRequest, header: RequestHeader
) -> DescribeProducersResponse:
    """Look every partition up by itself."""
    return DescribeProducersResponse(
        topics=tuple(
            TopicResponse(
                name=topic.name,
                partitions=tuple(_describe(broker, topic.name, index) for index in topic.partition_indexes),
            )
            for topic in request.topics
        )
    )


def _describe(broker: "Broker", topic: str, index: int) -> PartitionResponse:
    try:
        partition = broker.replicas.by_name(topic, index)
        partition.check_is_here()
    except ApiError as error:
        return PartitionResponse(
            partition_index=index, error_code=error.code, error_message=error.message or None
        )
    return PartitionResponse(
        partition_index=index, active_producers=tuple(map(_state, partition.log.producers))
    )


def _state(producer: Producer) -> ProducerState:
    last = producer.last_batch
    first_offset = producer.transaction_first_offset
    return ProducerState(
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        last_sequence=-1 if last is None else last.last_sequence,
        last_timestamp=producer.last_timestamp,
        coordinator_epoch=producer.coordinator_epoch,
        current_txn_start_offset=-1 if first_offset is None else first_offset,
    )
