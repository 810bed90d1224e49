"""Searching and following the topic in which all brokers of a cluster keep their logs.

Records are in the order in which brokers sent them, a second or so behind what they tell of. The broker finds
the first one since a point in time by its index, so that a search of the last hour reads the last hour.
"""

import time
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from penstock.client.logs.entry import FoundEntry, parse_entry
from penstock.client.logs.newest import Newest
from penstock.client.logs.query import LogFilter, LogQuery
from penstock.model.errors import PenstockError
from penstock.model.names import LOGS_TOPIC

if TYPE_CHECKING:
    from confluent_kafka import Message, TopicPartition

ANSWER_SECONDS_MAX = 10.0
LEADER_SECONDS_MAX = 1.0
"""How long one question waits for leaders that may be gone, before it is asked who leads."""

SILENCE_SECONDS_MAX = 10.0
"""How long a search waits for a partition that sends nothing, before it goes on without it."""

POLL_SECONDS = 0.1
RECORDS_AT_ONCE = 1_000
LATENESS_MS = 10 * 60 * 1000
"""How long after an event its record may come; brokers that cannot reach the topic keep entries back."""


class NoLogTopicError(PenstockError):
    """The cluster keeps no logs."""


class LogTopic:
    """A reader of the topic, in no group; to be used as a ``with`` block."""

    def __init__(self, bootstrap_servers: str, *, client_id: str = "penstock-logs") -> None:
        from confluent_kafka import Consumer

        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "client.id": client_id,
                "group.id": client_id,
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "earliest",
                "log_level": 0,
                "fetch.wait.max.ms": 100,
            }
        )
        #: Partitions whose entries are missing, since nobody answered for them.
        self.missing: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._consumer.close()

    def search(self, query: LogQuery) -> Newest:
        """Everything that is there now and is looked for."""
        wanted = LogFilter(query)
        found = Newest(query.limit)
        starts = self._starts(query)
        ends = self._ends(starts, query)
        self._consumer.assign(starts)
        for messages in self._until_ends({each.partition for each in starts}, ends):
            for entry in _entries(messages, wanted):
                found.add(entry)
        return found

    def follow(self, query: LogQuery) -> Iterator[list[FoundEntry]]:
        """What comes after a search, for ever, as it comes; an empty list now and then."""
        wanted = LogFilter(query)
        while True:
            messages = self._consumer.consume(RECORDS_AT_ONCE, POLL_SECONDS)
            records = [message for message in messages if message.error() is None]
            yield sorted(_entries(records, wanted), key=lambda entry: entry.time_ms)

    def _starts(self, query: LogQuery) -> "list[TopicPartition]":
        """Where reading begins in every partition that somebody leads."""
        from confluent_kafka import OFFSET_BEGINNING, TopicPartition

        topic = self._consumer.list_topics(timeout=ANSWER_SECONDS_MAX).topics.get(LOGS_TOPIC)
        if topic is None:
            raise NoLogTopicError(f"The cluster has no topic {LOGS_TOPIC}: its brokers do not feed one.")
        led = sorted(number for number, each in topic.partitions.items() if each.leader >= 0)
        self.missing = sorted(set(topic.partitions) - set(led))
        if query.since_ms is None:
            return [TopicPartition(LOGS_TOPIC, number, OFFSET_BEGINNING) for number in led]
        return self._offsets_at(led, query.since_ms)

    def _ends(self, starts: "Sequence[TopicPartition]", query: LogQuery) -> dict[int, int]:
        """Behind which offsets nothing is looked for any more; none for those that are read to their ends."""
        if query.until_ms is None:
            return {}
        later = self._offsets_at([each.partition for each in starts], query.until_ms + LATENESS_MS)
        return {each.partition: each.offset for each in later if each.offset >= 0}

    def _offsets_at(self, numbers: Sequence[int], time_ms: int) -> "list[TopicPartition]":
        """The first offsets since a point in time, of partitions whose leaders answer."""
        from confluent_kafka import KafkaException, TopicPartition

        asked = [TopicPartition(LOGS_TOPIC, number, max(0, time_ms)) for number in numbers]
        gives_up_at = time.monotonic() + ANSWER_SECONDS_MAX
        while True:
            try:
                answers = self._consumer.offsets_for_times(asked, timeout=LEADER_SECONDS_MAX)
            except KafkaException:
                if time.monotonic() > gives_up_at:
                    raise
                # Somebody may have died just now, which is what people look for: ask who leads since.
                self._consumer.list_topics(timeout=ANSWER_SECONDS_MAX)
                continue
            self.missing += [each.partition for each in answers if each.error is not None]
            return [each for each in answers if each.error is None]

    def _until_ends(self, unfinished: set[int], ends: dict[int, int]) -> "Iterator[list[Message]]":
        """Records, until every partition was read up to its end, or says nothing any more."""
        from confluent_kafka import KafkaError

        gives_up_at = time.monotonic() + SILENCE_SECONDS_MAX
        while unfinished and time.monotonic() < gives_up_at:
            messages = self._consumer.consume(RECORDS_AT_ONCE, POLL_SECONDS)
            if messages:
                gives_up_at = time.monotonic() + SILENCE_SECONDS_MAX
            for message in messages:
                problem, number = message.error(), message.partition()
                is_at_end = problem is not None and problem.code() == KafkaError._PARTITION_EOF
                if is_at_end or (problem is None and message.offset() + 1 >= ends.get(number, _NEVER)):
                    unfinished.discard(number)
            yield [message for message in messages if message.error() is None]
        self.missing = sorted({*self.missing, *unfinished})


_NEVER = 2**63


def _entries(messages: "Sequence[Message]", wanted: LogFilter) -> Iterator[FoundEntry]:
    for message in messages:
        if wanted.may_admit(_headers(message)):
            entry = parse_entry(message.value() or b"")
            if entry is not None and wanted.admits(entry):
                yield entry


def _headers(message: "Message") -> dict[str, str]:
    headers: list[tuple[str, Any]] = message.headers() or []
    return {name: bytes(value or b"").decode(errors="replace") for name, value in headers}
