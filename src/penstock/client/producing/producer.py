"""The producer for programs without an event loop."""

import time
import warnings
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self, Unpack

from penstock.client.config.producer_config import ProducerConfig, ProducerSettings
from penstock.client.errors import BufferFull, ConfigurationError, PenstockClientError, RequestTimedOut
from penstock.client.producing.delivery import Delivery
from penstock.client.producing.delivery_thread import DeliveryThread
from penstock.client.producing.left_open import EXIT_SECONDS, OPEN
from penstock.client.producing.metrics import ProducerMetrics
from penstock.client.producing.record import Headers, Record
from penstock.client.producing.record_sender import ANY_PARTITION, POLL_EVERY, RecordSender
from penstock.client.producing.transaction import Transaction, Transactions
from penstock.client.trouble import logger

CLOSE_SECONDS = 30.0
ROOM_SECONDS = 0.05


class Producer(RecordSender):
    """Sends records, many at a time, and says where each of them went.

    It may be used by several threads. Close it, or use it in a ``with`` block: that waits for what it holds.
    """

    def __init__(self, config: ProducerConfig | None = None, **settings: Unpack[ProducerSettings]) -> None:
        super().__init__(ProducerConfig.of(config, settings))
        self._thread = DeliveryThread(self._raw, f"penstock-producer-{self.config.client_id}", self._trouble)
        self._transactions = Transactions(self._raw, self.config, self._thread, self._trouble)
        OPEN.add(self)

    def send(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        headers: Headers | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> Delivery:
        """Send one record. The future gives its ``RecordMetadata``, or raises why it was not acknowledged.

        It waits only for room in the buffer, see ``max_block_ms`` and ``block_when_full``.
        """
        delivery = Delivery()
        delivery.topic = topic
        delivery._attendant = thread = self._thread
        delivery._outcome = delivery._late = None
        if (
            self._is_plain
            and headers is None
            and timestamp_ms is None
            and type(value) is bytes
            and (key is None or type(key) is bytes)
        ):
            # What nearly all records are goes the shortest way; the other way does the same and more.
            try:
                self._produce(topic, value, key, ANY_PARTITION if partition is None else partition, delivery)
            except BufferError:
                self._send_when_there_is_room(Record(topic, value, key, None, partition, None), delivery)
            except Exception as error:
                raise self._refusal(error, topic) from error
            else:
                self._sent = sent = self._sent + 1
                self._sent_bytes += len(value) if key is None else len(value) + len(key)
                if not sent % POLL_EVERY:
                    thread.sender_has_polled = True
                    thread.fetch(0)
        else:
            self._refuse_closed()
            record = self._serialized(Record(topic, value, key, headers, partition, timestamp_ms))
            self._send_when_there_is_room(record, delivery)
        if thread.is_asleep:
            thread.wake()
        return delivery

    def send_batch(
        self, records: Iterable[Record | tuple[Any, ...]], timeout: float | None = None
    ) -> list[int]:
        """Send records, or tuples such as ``(topic, value, key)``, and wait: their offsets, in order.

        If some were not acknowledged, the first of their errors is raised when the fate of all is known.
        """
        deadline = time.monotonic() + self._seconds(timeout, self.config.delivery_timeout_ms)
        deliveries = [self.send(*record) for record in records]
        self._thread.fetch(0)
        with self._thread.attention():
            for delivery in deliveries:
                delivery.exception(max(0.0, deadline - time.monotonic()))
        return [delivery.result().offset for delivery in deliveries]

    def flush(self, timeout: float | None = None) -> None:
        """Send what waits for more at once, and wait until the fate of every record is known."""
        self._refuse_closed()
        seconds = self._seconds(timeout, self.config.delivery_timeout_ms)
        deadline = time.monotonic() + seconds
        with self._thread.attention():
            waiting = self._flushed(seconds)
        self._thread.wait_called_back(max(0.0, deadline - time.monotonic()))
        if waiting:
            text = self._trouble.explain(f"{waiting} records are not acknowledged after {seconds:g} s")
            raise RequestTimedOut(text, code="REQUEST_TIMED_OUT", is_retriable=True)

    def refresh_partitions(self, topic: str) -> int:
        """Ask for a topic's partitions again, such as after some were added; how many there are now."""
        self._refuse_closed()
        self._counts.forget(topic)
        return self._counts.find(topic)

    def transaction(self) -> Transaction:
        """Begin a transaction, for a ``with`` block: committed at its end, aborted if it raises.

        The first one waits until earlier producers of the same ``transactional_id`` are fenced.
        """
        self._refuse_closed()
        return self._transactions.begin()

    def metrics(self) -> ProducerMetrics:
        """What it has done so far."""
        return self._metrics(self._thread.failed_count)

    def close(self, timeout: float = CLOSE_SECONDS) -> None:
        """Wait for what is on its way, then let go of everything; may be called twice.

        Records that are not acknowledged in time fail, so that every future ends.
        """
        if self._is_closed:
            return
        OPEN.discard(self)
        self._is_closed = True
        self._is_plain = False  # The shortest way asks nobody, and there might be no end of what it sends.
        self._transactions.abort_open()
        with self._thread.attention():
            waiting = self._flushed(timeout)
        if waiting:
            self._purge(timeout)
        self._thread.stop()
        self._let_go()
        self._thread.call_back()
        if waiting:
            text = self._trouble.explain(
                f"{waiting} records were not acknowledged within {timeout:g} s of closing"
            )
            raise RequestTimedOut(text, code="REQUEST_TIMED_OUT")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if not getattr(self, "_is_closed", True):
            self.close_at_last()
            warnings.warn(f"{self!r} was never closed", ResourceWarning, stacklevel=2)

    def _fetch(self) -> None:
        self._thread.fetch(0)

    def close_at_last(self) -> None:
        """What nobody has closed still sends what it holds, if that is quick."""
        try:
            self.close(EXIT_SECONDS)
        except RequestTimedOut as error:
            logger.warning("%s", error)

    def _send_when_there_is_room(self, record: Record, delivery: Delivery) -> None:
        deadline = time.monotonic() + self.config.max_block_ms / 1000
        while True:
            self._refuse_closed()
            try:
                self._enqueue(record, delivery)
            except BufferError:
                if not self.config.block_when_full or time.monotonic() >= deadline:
                    raise self._buffer_full() from None
                self._thread.sender_has_polled = True
                self._thread.fetch(ROOM_SECONDS)
            except PenstockClientError:
                raise
            except Exception as error:
                raise self._refusal(error, record.topic) from error
            else:
                return

    def _buffer_full(self) -> BufferFull:
        waited = f" after {self.config.max_block_ms} ms" if self.config.block_when_full else ""
        text = f"{len(self)} records wait for acknowledgement and there is no room for another{waited}"
        return BufferFull(self._trouble.explain(text), code="QUEUE_FULL", is_retriable=True)

    @staticmethod
    def _seconds(timeout: float | None, default_ms: int) -> float:
        if timeout is not None and timeout < 0:
            raise ConfigurationError(
                f"timeout={timeout!r} is not allowed: it must be seconds from 0, or None"
            )
        return default_ms / 1000 if timeout is None else timeout
