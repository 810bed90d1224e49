"""The consumer for programs without an event loop."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from time import monotonic
from types import TracebackType
from typing import Any, Self, Unpack

from confluent_kafka import Consumer as RawConsumer

from penstock.client.config.consumer_config import ConsumerConfig, ConsumerSettings
from penstock.client.consuming.intake import Intake
from penstock.client.consuming.message import Formats, Message
from penstock.client.consuming.offsets import ConsumerOffsets
from penstock.client.consuming.pace import Pace
from penstock.client.consuming.rebalancing import RebalanceCallback, RebalanceCallbacks, Rebalancing, Teller
from penstock.client.error_mapping import translated
from penstock.client.errors import ConfigurationError
from penstock.client.inheritance import BELONGS_TO_PARENT, INHERITABLE
from penstock.client.serializers import Deserializer, bytes_deserializer
from penstock.client.topic_partition import TopicPartition, partition_of, raw_offsets, raw_partitions

POLL_SECONDS = 1.0
USUAL_RECORDS = 500
SHORT_RECORDS = 300
"""Two objects for each message of a longer list would make Python's garbage collector look at them all, which
costs as much as reading them. So lists are that short, unless somebody wants longer ones than usual."""

LEAVE_SECONDS = 0.1
STORE_SECONDS = 0.1
"""How often what was seen is stored for the next commit; each time, if commits are more frequent."""

BUSY_WITH_CALLBACK = (
    "A rebalance callback cannot read with its consumer, close it, unsubscribe or assign, since librdkafka "
    "waits for its end: do so when poll has returned"
)


class Consumer(ConsumerOffsets):
    """Reads messages, as a member of a group or of partitions named by hand.

    With ``enable_auto_commit``, what was handed over is committed from time to time once the caller asks for
    more, and when the consumer is closed without an exception; never what the caller has not seen. One thread
    at a time.
    """

    def __init__(self, config: ConsumerConfig | None = None, **settings: Unpack[ConsumerSettings]) -> None:
        super().__init__(ConsumerConfig.of(config, settings))
        timeouts = {
            "socket.timeout.ms": min(
                300_000, max(self.config.request_timeout_ms, self.config.fetch_max_wait_ms + 2_000)
            ),
            "coordinator.query.interval.ms": max(1_000, self.config.request_timeout_ms),
        }
        with translated("make a consumer"):
            self._raw: Any = RawConsumer(timeouts | self._trouble.settings() | self.config.librdkafka())
        self._formats = Formats(
            _format(self.config.key_deserializer), _format(self.config.value_deserializer)
        )
        self._intake = Intake(self._raw, self._trouble)
        self._teller = Teller()
        self._is_closing = False
        self._next_store = 0.0
        most = self.config.max_poll_records
        self._list_records = most if most > USUAL_RECORDS else min(most, SHORT_RECORDS)
        INHERITABLE.add(self)

    # Choosing what to read.

    def subscribe(
        self,
        topics: str | Iterable[str] = (),
        *,
        pattern: str | None = None,
        on_assigned: RebalanceCallback | None = None,
        on_revoked: RebalanceCallback | None = None,
        on_lost: RebalanceCallback | None = None,
    ) -> None:
        """Share these topics, and those whose whole name matches ``pattern``, with the group's other members.

        Callbacks run inside ``poll``. In ``on_assigned``, ``seek`` says where a partition starts; in
        ``on_revoked``, ``commit`` still works. A later subscription takes the place of this one; what is in
        both is read on, and what is not may still come until the group has taken it away.
        """
        self._refuse_closed()
        if self.config.group_id is None:
            raise ConfigurationError(
                "subscribe needs a group: group_id=None must be text; "
                "without a group, read partitions with assign([(topic, partition)])",
                setting="group_id",
            )
        names = [topics] if isinstance(topics, str) else list(topics)
        if not (names or pattern) or not all(isinstance(name, str) and name for name in names):
            raise ConfigurationError(f"topics={topics!r} is not allowed: give names of topics, or a pattern")
        if pattern is not None:
            if not isinstance(pattern, str) or not pattern:
                raise ConfigurationError(
                    f"pattern={pattern!r} is not allowed: it must be a regular expression"
                )
            names.append(f"^({pattern})$")  # In brackets: each side of a | is to match the whole name.
        callbacks = RebalanceCallbacks(on_assigned=on_assigned, on_revoked=on_revoked, on_lost=on_lost)
        only_topic = names[0] if len(names) == 1 and not names[0].startswith("^") else None
        before = self._rebalancing
        if before is not None and self._is_cooperative():
            # What both subscriptions want is not taken away, and is read on from where librdkafka is: so what
            # was fetched is kept until its partition goes, and may be of another topic.
            self._store_seen()
            only_topic = only_topic if only_topic == self._progress.only_topic else None
        else:
            self._leave_all()
        self._rebalancing = Rebalancing(
            self._raw, self._give_up, self._teller, callbacks, is_cooperative=self._is_cooperative()
        )
        if before is not None:
            self._rebalancing.partitions = before.partitions
        self._progress.only_topic = only_topic
        with translated(f"subscribe to {', '.join(names)}"):
            self._raw.subscribe(names, **self._rebalancing.arguments())

    def assign(self, partitions: Iterable[tuple[str, int]] | Mapping[tuple[str, int], int]) -> None:
        """Read these partitions and no others, from offsets if given, whatever the group does.

        Without offsets they start where the group has committed, or as ``auto_offset_reset`` says.
        """
        self._refuse_closed()
        self._refuse_in_callback()
        self._leave_group()
        self._leave_all()
        chosen = raw_offsets(partitions) if isinstance(partitions, Mapping) else raw_partitions(partitions)
        topics = {each.topic for each in chosen}
        self._progress.only_topic = topics.pop() if len(topics) == 1 else None
        self._unassigned = {partition_of(each): each.offset for each in chosen}
        self._progress.begin(self._unassigned)

    def unsubscribe(self) -> None:
        """Leave the group, for which ``on_revoked`` runs, or the partitions that were assigned by hand."""
        self._refuse_closed()
        self._refuse_in_callback()
        is_by_hand = self._rebalancing is None
        self._leave_group()
        self._leave_all()
        if is_by_hand:
            with translated("unassign partitions"):
                self._raw.unassign()

    # Reading.

    def poll(self, timeout: float = POLL_SECONDS, max_records: int | None = None) -> list[Message]:
        """The next messages, up to ``max_poll_records``: at once if there are any, none if none come."""
        most = self._list_records if max_records is None else max_records
        self.fetch(timeout, most)
        return self._progress.take(most)

    def consume_one(self, timeout: float = POLL_SECONDS) -> Message | None:
        """The next message; None if there is none in time."""
        found = self.poll(timeout, 1)
        return found[0] if found else None

    def __iter__(self) -> Iterator[Message]:
        """All messages, for ever."""
        return self.messages()

    def messages(self, idle_timeout: float | None = None) -> Iterator[Message]:
        """All messages; ends when there was none for ``idle_timeout`` seconds."""
        # Not a generator itself: of one, a line of Python would run for each message.
        return chain.from_iterable(self._pieces(idle_timeout))

    def start_consuming(self, callback: Callable[[Message], bool | None]) -> None:
        """Give ``callback`` every message, until it returns False."""
        for message in self:
            if callback(message) is False:
                return

    def fetch(self, timeout: float, most: int) -> bool:
        """Have messages to hand over, if any come in time; all that were handed over before count as seen."""
        self._before_reading()
        progress = self._progress
        if not progress.go_on():
            progress.let_go()
            raw = self._intake.fetch(most, timeout)
            progress.add(self._formats.messages(raw), raw)
        return not progress.is_used_up

    def fetch_ahead(self, timeout: float, most: int, lists: int) -> bool:
        """As ``fetch``, but up to so many lists: those that are there wait behind the first.

        librdkafka, which may call functions of the caller's, is visited for every list, also for one that has
        waited. Nothing can be handed over before that is done.
        """
        self._before_reading()
        progress = self._progress
        if progress.is_used_up and progress.has_waiting:
            self._put_off(self._intake.fetch_more(1))
        elif progress.is_used_up:
            self._fetch_lists(timeout, most, lists)
        return progress.go_on()

    @property
    def is_store_due(self) -> bool:
        """Whether the next automatic commit is to hear of what was seen since."""
        return self._is_auto_committing and monotonic() > self._next_store

    # Ending.

    def close(self, *, commit: bool = True) -> None:
        """Commit what was seen, if ``enable_auto_commit`` says so, and leave the group; once or twice."""
        if self._is_closed or self._is_closing:
            return
        self._refuse_in_callback()
        if commit:
            self._store_seen()
        else:
            # Closing has partitions taken away, before which what was seen would be stored.
            self._is_auto_committing = False
        self._is_closing = True
        try:
            with translated("close a consumer"):
                self._raw.close()
        finally:
            self._is_closed = True
            self._progress.drop_all()

    def leave_to_parent(self) -> object:
        """Be closed in a child of ``fork``, which has none of librdkafka's threads."""
        self._is_closed = True
        self._why_closed = BELONGS_TO_PARENT.format("consumer")
        return self._raw

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """After an exception, the last messages may not have been dealt with: they are not committed."""
        self.close(commit=error is None)

    def __del__(self) -> None:
        if not getattr(self, "_is_closed", True) and hasattr(self, "_raw"):
            warnings.warn(f"{self!r} was never closed", ResourceWarning, stacklevel=2)

    # Inside.

    def _pieces(self, idle_timeout: float | None) -> Iterator[Iterator[Message]]:
        """A few messages at a time; each piece must be used up before the next is asked for."""
        wait = POLL_SECONDS if idle_timeout is None else idle_timeout
        pace = Pace()
        while self.fetch(wait, self._list_records) or idle_timeout is None:
            pace.go_on()
            while not self._progress.is_used_up:
                yield islice(self._progress.rest, pace.count)
                if pace.now() > self._next_store:
                    self._store_seen()

    def _refuse_in_callback(self) -> None:
        """librdkafka's binding does not survive it."""
        if self._teller.is_telling:
            raise ConfigurationError(BUSY_WITH_CALLBACK)

    def _before_reading(self) -> None:
        self._refuse_closed()
        self._refuse_in_callback()
        self._assign()
        if self.is_store_due:
            self._store_seen()

    def _fetch_lists(self, timeout: float, most: int, lists: int) -> None:
        self._progress.let_go()
        has_more = self._put_off(self._intake.fetch(most, timeout))
        for _ in range(lists - 1):
            if not has_more:
                break
            self._progress.let_one_go()
            has_more = self._put_off(self._intake.fetch_more(most))
        self._progress.let_used_go()

    def _put_off(self, raw: list[Any]) -> bool:
        if raw:
            self._progress.put_off(self._formats.messages(raw), raw)
        return bool(raw)

    def _store_seen(self) -> None:
        is_frequent = self.config.auto_commit_interval_ms / 1000 <= STORE_SECONDS
        self._next_store = 0.0 if is_frequent else monotonic() + STORE_SECONDS
        if self._is_auto_committing:
            self._store(self._progress.seen())

    def _give_up(self, partitions: Sequence[TopicPartition]) -> None:
        """They are taken away: the last commit before that is to have all that was seen."""
        try:
            self._store_seen()
        finally:
            self._forget(partitions)

    def _leave_group(self) -> None:
        """Have all partitions taken away now: later on, those that are assigned by hand next would be."""
        if self._rebalancing is None:
            return
        with translated("unsubscribe"):
            self._raw.poll(0)  # The group may have given some already, which nobody was told yet.
            self._raw.unsubscribe()
            deadline = monotonic() + self.config.request_timeout_ms / 1000
            while self._rebalancing.partitions and monotonic() < deadline:
                self._raw.poll(LEAVE_SECONDS)  # What it may return is of a partition that goes, and not seen.

    def _leave_all(self) -> None:
        self._store_seen()
        self._forget([*self._progress.seen(), *self._progress.began(), *self.assignment()])
        self._rebalancing = None
        self._unassigned = {}

    def _is_cooperative(self) -> bool:
        strategy = self.config.kafka.get("partition.assignment.strategy", self.config.assignment_strategy)
        return self.config.is_modern or "cooperative" in str(strategy)


def _format(given: Any) -> Deserializer | None:
    return None if given is bytes_deserializer else given
