"""Printing records as they come, until enough of them, an end, a point in time, or an interrupt."""

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.cli.consume.assignment import ends_at
from penstock.cli.consume.interrupt import Interrupt
from penstock.cli.consume.record_filter import RecordFilter
from penstock.cli.consume.record_format import Formatter
from penstock.cli.librdkafka import failure
from penstock.cli.output import check_for_reader

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

POLL_SECONDS = 0.1
"""How long one wait for records lasts, so that Ctrl-C is noticed."""

_RECORDS_PER_WRITE_MAX = 1_000

Printed = Callable[["Iterable[Message]"], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When to stop by itself."""

    count: int | None = None
    exit_at_end: bool = False
    until_ms: int | None = None


class Following:
    """One run of ``penstock consume``; whoever assigns partitions tells it which."""

    def __init__(
        self,
        consumer: "Consumer",
        write: Formatter,
        wants: RecordFilter,
        limits: Limits,
        *,
        when_printed: Printed = lambda messages: None,
    ) -> None:
        self._consumer = consumer
        self._write = write
        self._wants = wants
        self._limits = limits
        #: Told of everything that was dealt with, printed or not.
        self._when_printed = when_printed
        self._unfinished: set[int] = set()
        self._is_assigned = False
        #: Where partitions end for us, once that is known.
        self._ends: dict[int, int] | None = None

    def assigned(self, partitions: Iterable[int]) -> None:
        """These are read from now on, and no others."""
        self._unfinished = set(partitions)
        self._is_assigned = True

    def run(self) -> None:
        """Print until it is over."""
        output = sys.stdout.buffer
        remaining = sys.maxsize if self._limits.count is None else self._limits.count
        with Interrupt() as interrupt:
            while remaining and not self._is_over() and not interrupt.is_asked:
                messages = self._next_messages(count_max=min(remaining, _RECORDS_PER_WRITE_MAX))
                if not messages:
                    check_for_reader()
                records = [message for message in messages if self._is_record(message)]
                wanted = list(filter(self._wants, records))
                output.write(b"".join(map(self._write, wanted)))
                output.flush()
                self._when_printed(records)
                remaining -= len(wanted)

    def _is_over(self) -> bool:
        if self._limits.until_ms is not None and self._ends is None:
            self._find_ends(self._limits.until_ms)
        is_bounded = self._limits.exit_at_end or self._ends is not None
        return is_bounded and self._is_assigned and not self._unfinished

    def _find_ends(self, until_ms: int) -> None:
        """Once the time has come, whatever is older is there."""
        if time.time() * 1000 < until_ms:
            return
        positions = self._consumer.assignment()
        self._ends = ends_at(self._consumer, positions, until_ms)
        for partition in self._consumer.position(positions):
            begins = partition.offset if partition.offset >= 0 else self._begin(partition.partition)
            if begins >= self._ends[partition.partition]:
                self._unfinished.discard(partition.partition)

    def _begin(self, number: int) -> int:
        """Where reading begins in a partition of which nothing was read yet."""
        offsets = {each.partition: each.offset for each in self._consumer.assignment()}
        return int(offsets[number])

    def _next_messages(self, *, count_max: int) -> "list[Message]":
        """Whatever is there, at most ``count_max``; waits a moment when there is nothing."""
        first = self._consumer.poll(POLL_SECONDS)
        if first is None:
            return []
        return [first, *(self._consumer.consume(count_max - 1, 0) if count_max > 1 else [])]

    def _is_record(self, message: "Message") -> bool:
        """Whether this is a record, not the news that an end is reached; other news is a failure."""
        from confluent_kafka import KafkaError

        problem = message.error()
        number = message.partition()
        if problem is None:
            if self._ends is None:
                return True
            if message.offset() + 1 >= self._ends[number]:
                self._unfinished.discard(number)
            return bool(message.offset() < self._ends[number])
        if problem.code() != KafkaError._PARTITION_EOF:
            raise failure(problem, doing=f"consume topic {message.topic()!r}")
        self._unfinished.discard(number)
        return False
