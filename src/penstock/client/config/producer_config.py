"""How a producer works."""

from dataclasses import dataclass
from typing import Any

from penstock.client.choices import AckMode, CompressionType
from penstock.client.config.client_config import ClientConfig, ClientSettings
from penstock.client.config.rules import (
    INT32_MAX,
    flag,
    number,
    one_of,
    optional,
    refusal,
    setting,
    text,
    whole,
)
from penstock.client.partitioners import Partitioner, PartitionerFunction, partitioner
from penstock.client.serializers import Serializer, serializer


class ProducerSettings(ClientSettings, total=False):
    """The fields of ``ProducerConfig`` as keyword arguments."""

    acks: AckMode | str | int
    batch_size: int
    linger_ms: float
    compression_type: CompressionType | str
    retries: int
    enable_idempotence: bool | None
    transactional_id: str | None
    transaction_timeout_ms: int
    delivery_timeout_ms: int
    max_in_flight_requests: int
    max_message_bytes: int
    buffer_records: int
    buffer_bytes: int
    max_block_ms: int
    block_when_full: bool
    partitioner: Partitioner | str | PartitionerFunction
    key_serializer: Serializer | str
    value_serializer: Serializer | str
    statistics_interval_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerConfig(ClientConfig):
    """Settings of a ``Producer`` or ``AsyncProducer``."""

    acks: AckMode | str | int = setting(
        AckMode.ALL,
        one_of(AckMode, **{"-1": AckMode.ALL, "leader": AckMode.LEADER, "none": AckMode.NONE}),
        kafka="acks",
    )
    """Who must have a record before it is acknowledged."""

    batch_size: int = setting(16_384, whole(1), kafka="batch.size")
    """Bytes of records for one partition that are sent together."""

    linger_ms: float = setting(10, number(0, 900_000), kafka="linger.ms")
    """How long a record waits for others of its batch."""

    compression_type: CompressionType | str = setting(
        CompressionType.NONE, one_of(CompressionType), kafka="compression.type"
    )
    """How batches are compressed."""

    retries: int = setting(INT32_MAX, whole(0), kafka="message.send.max.retries")
    """How often a batch is sent again; ``delivery_timeout_ms`` ends it in any case."""

    enable_idempotence: bool | None = setting(None, optional(flag))
    """Whether retries neither double nor reorder records. Unless given: yes, if ``acks`` is ALL."""

    transactional_id: str | None = setting(None, optional(text), kafka="transactional.id")
    """The name under which transactions are made; whoever uses it next fences the one before."""

    transaction_timeout_ms: int = setting(60_000, whole(1_000))
    """After so long a broker aborts a transaction that was not ended."""

    delivery_timeout_ms: int = setting(120_000, whole(1))
    """After so long a record that is not acknowledged has failed, whatever was tried."""

    max_in_flight_requests: int = setting(
        5, whole(1, 1_000_000), kafka="max.in.flight.requests.per.connection"
    )
    """Batches that may be on their way to one broker."""

    max_message_bytes: int = setting(1_000_000, whole(1_000, 1_000_000_000), kafka="message.max.bytes")
    """The largest record or batch that is sent."""

    buffer_records: int = setting(100_000, whole(1, 10_000_000), kafka="queue.buffering.max.messages")
    """Records that may wait for acknowledgement."""

    buffer_bytes: int = setting(64 * 1024 * 1024, whole(1024, INT32_MAX))
    """Bytes of them."""

    max_block_ms: int = setting(60_000, whole(0))
    """How long ``send`` waits for room, and for a topic's partitions if it must know them."""

    block_when_full: bool = setting(True, flag)
    """Whether ``send`` waits for room; otherwise it raises ``BufferFull`` at once."""

    partitioner: Partitioner | str | PartitionerFunction = setting(Partitioner.MURMUR2, partitioner)
    """Which partition a record goes to: a ``Partitioner``, or ``(topic, key, partition_count) -> int``."""

    key_serializer: Serializer | str = setting("bytes", serializer)
    """Makes bytes of keys: 'bytes', 'str', 'json', or a function."""

    value_serializer: Serializer | str = setting("bytes", serializer)
    """Makes bytes of values: 'bytes', 'str', 'json', or a function."""

    statistics_interval_ms: int = setting(1_000, whole(0, 86_400_000), kafka="statistics.interval.ms")
    """How often ``metrics`` hears of batches and latencies; 0 for never."""

    @property
    def is_idempotent(self) -> bool:
        """Whether retries neither double nor reorder records."""
        return self.acks == AckMode.ALL if self.enable_idempotence is None else self.enable_idempotence

    def _check_together(self) -> None:
        if self.enable_idempotence and self.acks != AckMode.ALL:
            raise refusal("acks", self.acks, "AckMode.ALL with enable_idempotence=True")
        if self.is_idempotent and self.max_in_flight_requests > 5:
            raise refusal("max_in_flight_requests", self.max_in_flight_requests, "at most 5 with idempotence")
        if self.is_idempotent and self.retries == 0:
            raise refusal("retries", self.retries, "at least 1 with idempotence")
        if self.transactional_id is not None and not self.is_idempotent:
            allowed = "None unless acks is AckMode.ALL and enable_idempotence is not False"
            raise refusal("transactional_id", self.transactional_id, allowed)
        longer = f"more than linger_ms, {self.linger_ms:g}"
        if self.delivery_timeout_ms <= self.linger_ms:
            raise refusal("delivery_timeout_ms", self.delivery_timeout_ms, longer)
        if self.transactional_id is not None and self.transaction_timeout_ms <= self.linger_ms:
            raise refusal("transaction_timeout_ms", self.transaction_timeout_ms, longer)

    def _more(self) -> dict[str, Any]:
        delivery_timeout_ms = self.delivery_timeout_ms
        more: dict[str, Any] = {
            "enable.idempotence": self.is_idempotent,
            "queue.buffering.max.kbytes": max(1, self.buffer_bytes // 1024),
            "request.timeout.ms": self.request_timeout_ms,
        }
        if self.transactional_id is not None:
            # librdkafka insists: what a transaction waits for must end before the transaction does.
            delivery_timeout_ms = min(delivery_timeout_ms, self.transaction_timeout_ms)
            more["transaction.timeout.ms"] = self.transaction_timeout_ms
        if isinstance(self.partitioner, Partitioner) and self.partitioner.librdkafka_name:
            more["partitioner"] = self.partitioner.librdkafka_name
        return more | {"message.timeout.ms": delivery_timeout_ms}
