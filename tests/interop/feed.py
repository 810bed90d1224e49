"""A producer in the background that gives a group something to do, and knows what it was promised."""

import threading
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaError, Message, Producer


class Feed:
    """Sends numbered records to every partition of a topic in turn until it is stopped; retries by itself."""

    KEYS_PER_PARTITION = 5

    def __init__(self, bootstrap: str, topic: str, *, partitions: int, pause_seconds: float = 0.02) -> None:
        self.values: list[str] = []
        """What was acknowledged; in the order of the log, for one partition."""
        self.errors: list[KafkaError] = []
        self._topic = topic
        self._partitions = partitions
        self._pause_seconds = pause_seconds
        self._is_stopping = threading.Event()
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "log_level": 0,
                "enable.idempotence": True,
                "linger.ms": 0,
                "retry.backoff.ms": 20,
                "reconnect.backoff.max.ms": 100,
                "message.timeout.ms": 60_000,
            }
        )
        self._thread = threading.Thread(target=self._run, name=f"feed of {topic}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_stopping.set()
        self._thread.join(60)

    def stop(self) -> list[str]:
        """Every value that was sent, all of them acknowledged."""
        self._is_stopping.set()
        self._thread.join(60)
        assert not self._thread.is_alive(), "the feed hangs"
        assert not self.errors, self.errors[:3]
        return self.values

    def _run(self) -> None:
        number = 0
        while not self._is_stopping.is_set():
            for partition in range(self._partitions):
                self._send(partition, number)
            number += 1
            self._producer.poll(0)
            self._is_stopping.wait(self._pause_seconds)
        if self._producer.flush(50):
            self.errors.append(KafkaError(KafkaError._TIMED_OUT))

    def _send(self, partition: int, number: int) -> None:
        self._producer.produce(
            self._topic,
            f"{partition}:{number}",
            key=f"{partition}-{number % self.KEYS_PER_PARTITION}",
            partition=partition,
            on_delivery=self._on_delivery,
        )

    def _on_delivery(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.errors.append(error)
            return
        value = message.value()
        assert value is not None
        self.values.append(value.decode())
