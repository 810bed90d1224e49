"""What producers share: settings, serializing, choosing a partition, giving librdkafka a record."""

from collections.abc import Mapping
from time import monotonic
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka import Producer as RawProducer

from penstock.client.config.producer_config import ProducerConfig
from penstock.client.config.rules import refusal
from penstock.client.error_mapping import exception_from, translated
from penstock.client.errors import ClosedError, ConfigurationError, SerializationError
from penstock.client.inheritance import BELONGS_TO_PARENT, INHERITABLE
from penstock.client.partitioners import Partitioner, PartitionerFunction
from penstock.client.producing.left_open import OPEN
from penstock.client.producing.metrics import ProducerMetrics, Statistics
from penstock.client.producing.partition_counts import PartitionCounts
from penstock.client.producing.record import Headers, Record
from penstock.client.serializers import Serializer, bytes_serializer
from penstock.client.trouble import Trouble, logger
from penstock.model.names import is_header_name

POLL_EVERY = 256
"""A busy sender fetches acknowledgements after so many records."""

ANY_PARTITION = -1


class RecordSender:
    """One librdkafka producer and how records get into it."""

    def __init__(self, config: ProducerConfig) -> None:
        self.config = config
        self._trouble = Trouble()
        self._statistics = Statistics()
        settings = self._trouble.settings() | self._statistics.settings() | config.librdkafka()
        with translated("make a producer"):
            self._raw: Any = RawProducer(settings)
        self._produce = self._raw.produce
        self._choose = _partition_function(config)
        self._counts = PartitionCounts(self._raw, config)
        self._serialize_key: Serializer = config.key_serializer  # type: ignore[assignment]
        self._serialize_value: Serializer = config.value_serializer  # type: ignore[assignment]
        self._is_plain = (
            self._choose is None and self._serialize_key is self._serialize_value is bytes_serializer
        )
        self._is_closed = False
        self._why_closed = "The producer is closed"
        self._sent = 0
        self._sent_bytes = 0
        INHERITABLE.add(self)

    def leave_to_parent(self) -> object:
        """Be closed in a child of ``fork``, which has none of librdkafka's threads."""
        OPEN.discard(self)  # type: ignore[arg-type] # only the kinds of it are there
        self._is_plain, self._is_closed = False, True
        self._why_closed = BELONGS_TO_PARENT.format("producer")
        return self._raw

    def __len__(self) -> int:
        """Records whose fate is not known yet."""
        if self._is_closed:
            return 0
        self._fetch()  # Statistics that wait to be fetched would count as well.
        return len(self._raw)

    def __bool__(self) -> bool:
        return True

    def _fetch(self) -> None:
        """Fetch what librdkafka has to tell."""
        raise NotImplementedError

    def _metrics(self, failed: int) -> ProducerMetrics:
        return self._statistics.metrics(
            sent=self._sent, sent_bytes=self._sent_bytes, failed=failed, waiting=len(self)
        )

    def _serialized(self, record: Record) -> Record:
        """The same with key and value as bytes."""
        topic, value, key, headers, partition, timestamp_ms = record
        key = _as_bytes(key, self._serialize_key, "key", topic)
        value = _as_bytes(value, self._serialize_value, "value", topic)
        return Record(topic, value, key, headers, partition, timestamp_ms)

    def _needs_count(self, record: Record) -> bool:
        """Whether a partition cannot be chosen before a broker was asked."""
        return (
            self._choose is not None and record.partition is None and self._counts.known(record.topic) is None
        )

    def _enqueue(self, record: Record, on_delivery: Any) -> None:
        """Give librdkafka a serialized record; raises BufferError when there is no room."""
        topic, value, key, headers, partition, timestamp_ms = record
        if partition is None:
            partition = ANY_PARTITION if self._choose is None else self._chosen(self._choose, record)
        if headers is None and timestamp_ms is None:
            self._produce(topic, value, key, partition, on_delivery)
        else:
            self._produce(topic, value, key, partition, on_delivery, **_extras(record))
        self._sent += 1
        self._sent_bytes += len(value or b"") + len(key or b"")

    def _partition_count(self, topic: str) -> int:
        """How many there are to choose from; waits until that is known."""
        return self._counts.find(topic)

    def _chosen(self, choose: PartitionerFunction, record: Record) -> int:
        count = self._partition_count(record.topic)
        try:
            partition = choose(record.topic, record.key, count)
        except Exception as error:
            raise ConfigurationError(
                f"The partitioner failed for a record of {record.topic}: {error!r}", setting="partitioner"
            ) from error
        if not isinstance(partition, int) or not 0 <= partition < count:
            raise ConfigurationError(
                f"The partitioner chose {partition!r} for {record.topic}: it must be from 0 to {count - 1}",
                setting="partitioner",
            )
        return partition

    def _flushed(self, seconds: float) -> int:
        """Wait for everything on its way; how many records are left after so long."""
        deadline = monotonic() + seconds
        with translated("flush"):
            try:
                self._raw.flush(seconds)
                # Statistics count as well until they are fetched: what came since then is not left behind.
                while (left := len(self._raw)) and monotonic() < deadline:
                    self._raw.flush(max(0.0, deadline - monotonic()))
            except KafkaException as error:
                self._trouble.note(error.args[0])
                left = len(self._raw)
        return left

    def _purge(self, seconds: float) -> None:
        """Have everything on its way fail now."""
        self._raw.purge()
        self._flushed(seconds)

    def _let_go(self) -> None:
        """Give back what librdkafka holds."""
        if not hasattr(self._raw, "close"):
            return
        try:
            self._raw.close()
        except (KafkaException, SystemError) as error:
            # The binding reports what has ended the producer once more, and not even properly.
            logger.debug("closing a producer that had failed: %r", error)

    def _refuse_closed(self) -> None:
        if self._is_closed:
            raise ClosedError(self._why_closed)

    def _refusal(self, error: Exception, topic: object) -> Exception:
        """Why a record was not even taken."""
        if isinstance(error, KafkaException | RuntimeError):
            self._refuse_closed()
        return exception_from(error, doing=f"send a record to {topic!r}")


def _extras(record: Record) -> dict[str, Any]:
    extras: dict[str, Any] = {}
    if record.headers is not None:
        extras["headers"] = _header_pairs(record.headers)
    if record.timestamp_ms is not None:
        if not isinstance(record.timestamp_ms, int) or record.timestamp_ms < 1:
            raise refusal(
                "timestamp_ms", record.timestamp_ms, "milliseconds since 1970, from 1, or None for now"
            )
        extras["timestamp"] = record.timestamp_ms
    return extras


def _header_pairs(headers: Headers) -> list[Any]:
    """A list of its own for the binding, which does not survive every name."""
    pairs = list(headers.items() if isinstance(headers, Mapping) else headers)
    for pair in pairs:
        name = pair[0] if isinstance(pair, tuple) and pair else None
        if not is_header_name(name):
            raise refusal("headers", headers, "pairs of a name, which is text without zeros, and a value")
    return pairs


def _partition_function(config: ProducerConfig) -> PartitionerFunction | None:
    chosen = config.partitioner
    return chosen.function() if isinstance(chosen, Partitioner) else chosen  # type: ignore[return-value]


def _as_bytes(given: Any, serialize: Serializer, what: str, topic: str) -> bytes | None:
    if given is None or (type(given) is bytes and serialize is bytes_serializer):
        return given
    try:
        made = serialize(given)
    except SerializationError:
        raise
    except Exception as error:
        raise SerializationError(
            f"The {what}_serializer failed for a record of {topic}: {error!r}", code="INVALID_RECORD"
        ) from error
    if isinstance(made, str):
        return made.encode()
    if not isinstance(made, bytes):
        raise SerializationError(
            f"The {what}_serializer made {type(made).__name__}, not bytes or text", code="INVALID_RECORD"
        )
    return made
