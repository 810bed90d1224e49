"""How far the caller has seen: what may be committed, and not one message more.

Messages are fetched in lists; some may wait behind the one that is being handed over. What was handed over
as a list counts as seen at once; of a list that is handed over one by one, what the caller was given.
Counting is put off until somebody asks, and then done for a whole list by functions written in C: this is on
the way of every message.
"""

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from itertools import chain, islice
from operator import length_hint
from typing import Any

from confluent_kafka import Message as RawMessage

from penstock.client.consuming.message import Message
from penstock.client.topic_partition import TopicPartition

_topic, _partition = RawMessage.topic, RawMessage.partition

_List = tuple[list[Message], list[Any]]
"""Messages as ours and as librdkafka has them."""


class Progress:
    """The list that is being handed over, and the offsets after all that were seen."""

    def __init__(self) -> None:
        self.only_topic: str | None = None
        """If nothing but this topic is read, which spares asking every message for its own."""
        self._fetched: list[Message] = []
        self._raw: list[Any] = []
        """The same as librdkafka has them."""
        self.rest: Iterator[Message] = iter(self._fetched)
        """What was fetched and not handed over. Taking from it is handing over."""
        self._counted = 0
        """How many of those are in ``_seen``."""
        self._seen: dict[TopicPartition, int] = {}
        self._began: dict[TopicPartition, int] = {}
        self._waiting: deque[_List] = deque()
        """What was fetched ahead, in order."""
        self._used: deque[_List] = deque()
        """What was handed over of it. Python's garbage collector runs when some hundred objects more were
        made than freed, and looks at them all: so a list of these is freed just before another is made."""

    def add(self, messages: list[Message], raw: list[Any]) -> None:
        """What was fetched next, ours and librdkafka's; all before must have been handed over or dropped."""
        self._count(self._given())
        self._fetched, self._raw = messages, raw
        self.rest, self._counted = iter(messages), 0

    def put_off(self, messages: list[Message], raw: list[Any]) -> None:
        """What was fetched ahead waits behind all that is there."""
        self._waiting.append((messages, raw))

    def go_on(self) -> bool:
        """Have the next of the lists that wait, if none is being handed over; whether there is one then."""
        if self.is_used_up and self._waiting:
            used = self._fetched, self._raw
            self.add(*self._waiting.popleft())
            if used[0]:
                self._used.append(used)
        return not self.is_used_up

    def let_go(self) -> None:
        """Count what was handed over and keep it no longer: its memory is wanted for what comes next."""
        self.add([], [])

    def let_one_go(self) -> None:
        """Keep the oldest of the lists no longer that were handed over."""
        if self._used:
            self._used.popleft()

    def let_used_go(self) -> None:
        """Keep none of them any longer."""
        self._used.clear()

    def take(self, most: int) -> list[Message]:
        """Hand over a list."""
        return list(islice(self.rest, most))

    @property
    def is_used_up(self) -> bool:
        """Whether all that was fetched was handed over."""
        return not length_hint(self.rest)

    @property
    def has_waiting(self) -> bool:
        """Whether there is more than what is being handed over."""
        return bool(self._waiting)

    def seen(self) -> dict[TopicPartition, int]:
        """The offset after the last message that the caller was given, per partition."""
        self._count(self._given())
        return self._seen

    def began(self) -> dict[TopicPartition, int]:
        """Where handing over a partition has begun since it came or was sought in, or will begin if known."""
        self._count(self._given())
        return self._began

    def begin(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Handing over begins there; librdkafka's names of places, which are no offsets, say nothing."""
        self._began.update((each, offset) for each, offset in offsets.items() if offset >= 0)

    def first_unseen(self, partition: TopicPartition) -> int | None:
        """The offset of the first message of a partition that was fetched and not handed over."""
        waiting = chain.from_iterable(messages for messages, _ in self._waiting)
        for message in chain(self._fetched[self._given() :], waiting):
            if message.topic_partition == partition:
                return message.offset
        return None

    def drop(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Hand over nothing more of these partitions; the offsets of the first messages that were dropped."""
        first: dict[TopicPartition, int] = {}
        kept = []
        for message in self._take_back():
            if (partition := message.topic_partition) in partitions:
                first.setdefault(partition, message.offset)
            else:
                kept.append(message)
        self.add(kept, [message._raw for message in kept])
        return first

    def drop_all(self) -> None:
        """Hand over nothing more of what was fetched."""
        self._take_back()

    def forget(self, partitions: Collection[TopicPartition]) -> None:
        """They are somebody else's, or are read from somewhere else."""
        self.drop(partitions)
        for partition in partitions:
            self._seen.pop(partition, None)
            self._began.pop(partition, None)

    def _given(self) -> int:
        """How many of the fetched were handed over."""
        return len(self._fetched) - length_hint(self.rest)

    def _take_back(self) -> list[Message]:
        """All that was not handed over; who goes on to take from what was the rest finds nothing there."""
        # In one step: the loop of an asynchronous consumer may be taking from it at this moment.
        left = list(self.rest)
        self._count(len(self._fetched) - len(left))
        self._fetched, self._raw, self._counted = [], [], 0
        self._used.clear()
        while self._waiting:
            left += self._waiting.popleft()[0]
        return left

    def _count(self, given: int) -> None:
        """Let the first of the fetched, so many, be seen."""
        if self._counted == given:
            return
        raw = self._raw if given - self._counted == len(self._raw) else self._raw[self._counted : given]
        for place, last in self._last_messages(raw).items():
            if place not in self._began:
                self._began[TopicPartition(*place)] = _first_offset(raw, last)
            self._seen[TopicPartition(*place)] = last.offset() + 1
        self._counted = given

    def _last_messages(self, raw: list[Any]) -> Mapping[tuple[str, int], Any]:
        """The last message of every partition; in most lists all are of one, and then few are looked at."""
        partitions = list(map(_partition, raw))
        if self.only_topic is None:
            # Later messages of a partition overwrite earlier ones, so that the last one remains.
            return dict(zip(zip(map(_topic, raw), partitions, strict=True), raw, strict=True))
        if partitions.count(partitions[0]) == len(partitions):
            return {(self.only_topic, partitions[0]): raw[-1]}
        last = dict(zip(partitions, raw, strict=True))
        return {(self.only_topic, number): message for number, message in last.items()}


def _first_offset(raw: list[Any], last: Any) -> int:
    """The offset of the first message of the partition that ``last`` is of."""
    topic, partition = last.topic(), last.partition()
    return next(each.offset() for each in raw if each.partition() == partition and each.topic() == topic)  # type: ignore[no-any-return]
