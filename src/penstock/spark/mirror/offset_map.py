"""The offset map: a compacted topic at the target that remembers sync points, and what of it is known here.

A record is about one partition of one source. Its key is JSON with the id of the source's cluster, the topic,
the partition and the topic of the copy; its value is JSON with the sync points, oldest first.
"""

import json
import threading
import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

from penstock.client import Admin, Consumer, Producer, TopicPartition
from penstock.spark.mirror.access import Access
from penstock.spark.mirror.errors import MirrorError
from penstock.spark.mirror.sync_points import BEGINNING, Copied, Points, SyncPoint, extended

TOPIC = "__penstock_mirror_offsets"

_READ_SECONDS_MAX = 30.0
_POLL_SECONDS = 0.5


class MirroredPartition(NamedTuple):
    """A partition and its copy, which has the same number."""

    source_id: str
    """Of the cluster that the original is in."""
    topic: str
    partition: int
    copy: str
    """The topic of the copy."""


class Entry(NamedTuple):
    """What is known of a partition."""

    points: Points
    at_ms: int
    """When it was written."""


Entries = Mapping[MirroredPartition, Entry]


class OffsetMap:
    """The map at a target, for the one who writes it; use it in a ``with`` statement."""

    def __init__(self, target: Access) -> None:
        create_map(target)
        self._entries = dict(read_map(target))
        self._producer = Producer(
            bootstrap_servers=target.bootstrap_servers, client_id="penstock-mirror", kafka=target.librdkafka
        )
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._producer.close()

    def entries(self) -> Entries:
        """All of it, as of now."""
        with self._lock:
            return dict(self._entries)

    def begin(self, partitions: Iterable[MirroredPartition]) -> None:
        """Note partitions that are going to be copied, unless something is known of them."""
        with self._lock:
            self._write({each: (BEGINNING,) for each in partitions if each not in self._entries})

    def extend(self, copied: Mapping[MirroredPartition, Copied]) -> None:
        """Write down what a micro-batch has copied; on return it is there for everybody."""
        with self._lock:
            news = {}
            for partition, done in copied.items():
                known = self._entries.get(partition)
                points = extended(() if known is None else known.points, done)
                if known is None or points != known.points:
                    news[partition] = points
            self._write(news)

    def _write(self, news: Mapping[MirroredPartition, Points]) -> None:
        at_ms = time.time_ns() // 1_000_000
        entries = {partition: Entry(points, at_ms) for partition, points in news.items()}
        if entries:
            self._producer.send_batch(
                (TOPIC, _value(entry), _key(partition)) for partition, entry in entries.items()
            )
        self._entries |= entries


def create_map(target: Access) -> None:
    """Make the topic unless it is there."""
    with Admin(bootstrap_servers=target.bootstrap_servers, kafka=target.librdkafka) as admin:
        if TOPIC not in admin.list_topics(include_internal=True):
            admin.create_topic(TOPIC, partitions=1, config={"cleanup.policy": "compact"}, exist_ok=True)


def read_map(target: Access) -> Entries:
    """The last word on every partition; nothing if no mirror ever had this cluster for a target."""
    with Admin(bootstrap_servers=target.bootstrap_servers, kafka=target.librdkafka) as admin:
        if TOPIC not in admin.list_topics(include_internal=True):
            return {}
        end = admin.list_offsets([(TOPIC, 0)])[TopicPartition(TOPIC, 0)]
    entries: dict[MirroredPartition, Entry] = {}
    if end == 0:
        return entries
    deadline = time.monotonic() + _READ_SECONDS_MAX
    with Consumer(
        bootstrap_servers=target.bootstrap_servers, client_id="penstock-mirror", kafka=target.librdkafka
    ) as consumer:
        consumer.assign({(TOPIC, 0): 0})
        offset = 0
        while offset < end:
            if time.monotonic() > deadline:
                raise MirrorError(
                    f"Topic {TOPIC} was read up to offset {offset} of {end} in {_READ_SECONDS_MAX:g} s, "
                    "not further: see whether the brokers there are well, and start again."
                )
            for message in consumer.poll(_POLL_SECONDS):
                offset = message.offset + 1
                if message.raw_key is not None and message.raw_value is not None:
                    entries[_parse_key(message.raw_key)] = _parse_value(message.raw_value)
    return entries


def _key(partition: MirroredPartition) -> bytes:
    return json.dumps(partition._asdict()).encode()


def _parse_key(key: bytes) -> MirroredPartition:
    return MirroredPartition(**json.loads(key))


def _value(entry: Entry) -> bytes:
    return json.dumps({"points": entry.points, "at_ms": entry.at_ms}).encode()


def _parse_value(value: bytes) -> Entry:
    document: dict[str, Any] = json.loads(value)
    return Entry(tuple(SyncPoint(*point) for point in document["points"]), document["at_ms"])
