"""A producer that also remembers when each of its records was acknowledged."""

import time
from itertools import pairwise

from confluent_kafka import KafkaError, Message
from tests.broker_process import wait_until
from tests.chaos.writers import LibrdkafkaWriter

ANSWER_MS_MAX = 1_500
"""A leader that is frozen, or has lost its followers, answers nobody: the sooner a client asks elsewhere the
better."""


class TimedWriter(LibrdkafkaWriter):
    """Knows how long a partition was without service."""

    def __init__(self, bootstrap: str, topic: str, *, partitions: int) -> None:
        super().__init__(
            bootstrap,
            topic,
            partitions=partitions,
            acks="all",
            is_idempotent=True,
            answer_ms_max=ANSWER_MS_MAX,
        )
        #: When the acknowledgements of each partition came.
        self.times: list[list[float]] = [[] for _ in range(partitions)]

    def _on_delivery(self, error: KafkaError | None, message: Message) -> None:
        super()._on_delivery(error, message)
        partition = message.partition()
        if error is None and partition is not None:
            self.times[partition].append(time.monotonic())

    def wait_served(self, partition: int, *, since: float, seconds: float = 60.0) -> None:
        """Until something that was answered later than ``since`` has been acknowledged there."""
        times = self.times[partition]
        wait_until(
            lambda: bool(times) and times[-1] > since,
            what=f"{self.topic}-{partition} to be served",
            seconds=seconds,
            every_seconds=0.005,
        )

    def gap(self, partition: int, *, since: float) -> float:
        """The longest time between two acknowledgements, from shortly before ``since`` until now."""
        times = [moment for moment in self.times[partition] if moment > since - 0.5]
        return max((later - earlier for earlier, later in pairwise(times)), default=0.0)
