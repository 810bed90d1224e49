"""A producer of keyed updates that goes on through every crash and knows what each key may be."""

import random
import threading
from collections import defaultdict
from collections.abc import Iterator

from confluent_kafka import KafkaError, Message, Producer
from tests.broker_process import wait_until
from tests.raw_kafka import Connection

from penstock.records.batch import split_batches
from penstock.records.record import Record, decode_records

KEYS = 200
TOMBSTONES = 0.1
PADDING = b"." * 100


def stored_records(raw: Connection, topic: str) -> Iterator[Record]:
    """Everything in partition 0, across the gaps that compaction leaves."""
    offset, end = 0, raw.end_offset(topic)
    while offset < end:
        fetched = raw.fetch(topic, 0, offset=offset)
        assert fetched.error_code == 0
        batches = list(split_batches(fetched.records))
        assert batches, f"nothing is served at offset {offset} of {end}"
        for position, header in batches:
            yield from decode_records(fetched.records, header, position)
            offset = header.next_offset


class KeyedWriter:
    """Updates and deletes keys of one partition, idempotently, from a fixed seed."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.topic = topic
        self.errors: list[KafkaError] = []
        self.acknowledged_count = 0
        #: Everything sent, by key and in order; None deletes.
        self._sent: defaultdict[bytes, list[bytes | None]] = defaultdict(list)
        #: How many of those are acknowledged.
        self._acknowledged: defaultdict[bytes, int] = defaultdict(int)
        self._dice = random.Random("keys")
        self._is_finishing = threading.Event()
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "log_level": 0,
                "enable.idempotence": True,
                "linger.ms": 2,
                "batch.size": 4_000,
                "retry.backoff.ms": 20,
                "reconnect.backoff.ms": 10,
                "reconnect.backoff.max.ms": 100,
                "message.timeout.ms": 120_000,
                "queue.buffering.max.messages": 2000,
            }
        )
        self._thread = threading.Thread(target=self._run, name=f"writer of {topic}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        self._is_finishing.set()
        self._thread.join(90)
        assert not self._thread.is_alive(), f"the writer of {self.topic} hangs"
        assert not self.errors, self.errors[:3]

    def wait_for_progress(self, count: int) -> None:
        wanted = self.acknowledged_count + count
        wait_until(
            lambda: self.acknowledged_count >= wanted, what=f"{count} more acknowledgements", seconds=60
        )

    def check(self, raw: Connection) -> int:
        """Every key has its last acknowledged value or one sent later; how many records are stored."""
        acknowledged = dict(self._acknowledged)
        stored: dict[bytes | None, list[bytes | None]] = defaultdict(list)
        for record in stored_records(raw, self.topic):
            stored[record.key].append(record.value)
        for key, count in acknowledged.items():
            values = stored[key]
            newest = values[-1] if values else None
            assert newest in self._sent[key][count - 1 :], f"{key!r} is {newest!r} after {count} updates"
            self._check_order(key, values)
        return sum(map(len, stored.values()))

    def _check_order(self, key: bytes, values: list[bytes | None]) -> None:
        """Updates of a key stand in the order in which they were sent; deletions are not told apart."""
        numbers = [int(value.split()[0]) for value in values if value is not None]
        assert numbers == sorted(set(numbers)), f"updates of {key!r} stand in the wrong order"

    def _run(self) -> None:
        number = 0
        while not self._is_finishing.is_set():
            for _ in range(20):
                number += 1
                self._update(number)
            self._producer.poll(0.002)
        if self._producer.flush(60):
            self.errors.append(KafkaError(KafkaError._TIMED_OUT))

    def _update(self, number: int) -> None:
        key = b"key-%d" % self._dice.randrange(KEYS)
        value = None if self._dice.random() < TOMBSTONES else b"%d " % number + PADDING
        try:
            self._producer.produce(self.topic, value, key=key, partition=0, on_delivery=self._on_delivery)
        except BufferError:
            self._producer.poll(0.05)
            return
        self._sent[key].append(value)

    def _on_delivery(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.errors.append(error)
            return
        key = message.key()
        assert isinstance(key, bytes)
        self._acknowledged[key] += 1
        self.acknowledged_count += 1
