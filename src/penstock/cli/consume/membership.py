"""Consuming as a member of a group: partitions come and go, and what was printed is committed.

Commits come after the printing, so that whoever takes over repeats a little and loses nothing.
"""

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from penstock.cli.librdkafka import ask

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message, TopicPartition

_COMMIT_EVERY_SECONDS = 1.0


class Membership:
    """What a member of a group has printed and not yet committed."""

    def __init__(self, consumer: "Consumer", group: str) -> None:
        self._consumer = consumer
        self._group = group
        self._pending: dict[tuple[str, int], int] = {}
        self._committed_at = time.monotonic()

    def join(self, topic: str, assigned: Callable[[Iterable[int]], None]) -> None:
        """Subscribe to ``topic``; ``assigned`` is told which partitions the group gave us."""

        def on_assign(consumer: "Consumer", partitions: "list[TopicPartition]") -> None:
            assigned([partition.partition for partition in partitions])

        def on_revoke(consumer: "Consumer", partitions: "list[TopicPartition]") -> None:
            self.commit()

        def on_lost(consumer: "Consumer", partitions: "list[TopicPartition]") -> None:
            # Others have them already, from where we last committed: ours would be refused.
            self._pending.clear()

        self._consumer.subscribe([topic], on_assign=on_assign, on_revoke=on_revoke, on_lost=on_lost)

    def printed(self, messages: "Iterable[Message]") -> None:
        """Remember how far printing has come; commit now and then."""
        for message in messages:
            self._pending[str(message.topic()), int(message.partition())] = int(message.offset()) + 1
        if time.monotonic() - self._committed_at >= _COMMIT_EVERY_SECONDS:
            self.commit()

    def commit(self) -> None:
        """Commit all that was printed, and wait for the answer."""
        from confluent_kafka import TopicPartition

        self._committed_at = time.monotonic()
        if not self._pending:
            return
        offsets = [TopicPartition(*partition, offset) for partition, offset in self._pending.items()]
        self._pending.clear()
        ask(
            lambda: self._consumer.commit(offsets=offsets, asynchronous=False),
            doing=f"commit offsets of group {self._group!r}",
        )
