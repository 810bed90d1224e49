"""Produce requests, and what producers know of themselves."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.model.error_codes import ErrorCode
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord
from penstock.sim.workloads.client import Client
from penstock.wire.messages.init_producer_id import InitProducerIdRequest
from penstock.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

INIT_VERSION = 5
TIMESTAMP_MS = 1_700_000_000_000
#: Who has a batch when its producer is told that it is safe.
ALL_REPLICAS, LEADER_ALONE = -1, 1
#: Kinds of key that FindCoordinator knows.
GROUP, TRANSACTION = 0, 1


@dataclass(slots=True, kw_only=True)
class Identity:
    """A producer id with its epoch, and what was sent under it."""

    producer_id: int
    epoch: int
    _sequences: dict[tuple[str, int], int] = field(default_factory=dict)

    def take_sequence(self, topic: str, partition: int, count: int) -> int:
        """The sequence of the next batch of ``count`` records."""
        sequence = self._sequences.get((topic, partition), 0)
        self._sequences[topic, partition] = sequence + count
        return sequence


def plain_batch(values: Sequence[str]) -> bytearray:
    """A batch of nobody in particular."""
    return build_batch(_records(values))


def sequenced_batch(
    values: Sequence[str], identity: Identity, sequence: int, *, is_transactional: bool = False
) -> bytearray:
    """A batch that can be sent again."""
    return build_batch(
        _records(values),
        producer_id=identity.producer_id,
        producer_epoch=identity.epoch,
        base_sequence=sequence,
        transactional=is_transactional,
    )


def produce_request(
    topic: str,
    partition: int,
    batch: bytearray,
    *,
    transactional_id: str | None = None,
    acks: int = ALL_REPLICAS,
) -> ProduceRequest:
    """One batch for one partition, to be safe on all in-sync replicas, or on the leader's disk alone."""
    data = PartitionProduceData(index=partition, records=batch)
    return ProduceRequest(
        transactional_id=transactional_id,
        acks=acks,
        timeout_ms=5000,
        topic_data=(TopicProduceData(name=topic, partition_data=(data,)),),
    )


def produced(response: Any) -> tuple[int, int]:
    """The error code and the base offset of the one batch that was sent."""
    answer = response.responses[0].partition_responses[0]
    return answer.error_code, answer.base_offset


async def ask_identity(client: Client, transactional_id: str | None, timeout_ms: int) -> Identity | ErrorCode:
    """A new producer id or epoch, or why there is none."""
    request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=timeout_ms)
    if transactional_id is None:
        response = await client.ask_any(request, INIT_VERSION)
    else:
        response = await client.ask_coordinator(TRANSACTION, transactional_id, request, INIT_VERSION)
    if response.error_code:
        return ErrorCode(response.error_code)
    return Identity(producer_id=response.producer_id, epoch=response.producer_epoch)


def _records(values: Sequence[str]) -> list[NewRecord]:
    return [NewRecord(value=value.encode(), timestamp=TIMESTAMP_MS) for value in values]
