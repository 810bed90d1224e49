"""What a topic keeps on disk, and the four ways to keep less: compression, deletion, retention, compaction.

    python examples/storage_management_demo.py

It looks at the files of its own broker, and lets a day pass on that broker's clock. With
``--bootstrap-server`` it only does what needs no files and no patience.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import playground

from penstock import Admin, Consumer, Producer, TopicPartition
from penstock.testing import Broker

SMALL_SEGMENTS = {"segment.bytes": "65536"}
SENSORS = 50
QUICK_BROKER = {"log.cleaner.backoff.ms": 100, "log.retention.check.interval.ms": 200}
WAIT_SECONDS = 20.0


def main(place: playground.Playground, data: Path | None) -> None:
    """Fill topics, and make them smaller again."""
    compare_codecs(place, data)
    with place.topic("readings", config=SMALL_SEGMENTS | {"retention.ms": "86400000"}) as topic:
        fill(place, topic, 5_000)
        show(place, topic, data, "5,000 readings")
        delete_first(place, topic, 2_000, data)
        show(place, topic, data, "the first 2,000 deleted by hand")
        if place.broker is not None:
            place.broker.clock.advance(hours=25)
            wait_until(lambda: first_and_end(place, topic)[0] == 5_000, "retention has done its work")
            show(place, topic, data, "a day later, older than retention.ms")
    if place.broker is not None:
        compact(place, data)


def compare_codecs(place: playground.Playground, data: Path | None) -> None:
    """The same records take less room, on the wire and on disk, when producers compress them."""
    for codec in ("none", "gzip", "lz4", "zstd"):
        with place.topic(f"codec-{codec}") as topic:
            fill(place, topic, 2_000, codec)
            size = "" if data is None else f": {size_of(data, topic):,} bytes on disk"
            print(f"2,000 readings with compression_type={codec!r}{size}")


def compact(place: playground.Playground, data: Path | None) -> None:
    """Keep the newest value of each key, and forget the others."""
    config = SMALL_SEGMENTS | {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}
    with place.topic("latest", config=config) as topic:
        fill(place, topic, 5_000)
        wait_until(lambda: len(read(place, topic)) < 1_500, "compaction has done its work")
        left = read(place, topic)
        show(place, topic, data, f"5,000 readings of {SENSORS} sensors, compacted to {len(left)} records")
        newest = {key: value for key, value in left}
        right = all(int(value.split()[1]) >= 5_000 - SENSORS for value in newest.values())
        print(f"{len(newest)} sensors are there, each with its newest reading: {'yes' if right else 'NO'}")


def fill(place: playground.Playground, topic: str, count: int, codec: str = "none") -> None:
    """Readings of some sensors, one after the other."""
    with Producer(
        bootstrap_servers=place.bootstrap_servers, compression_type=codec, batch_size=8_192, linger_ms=50
    ) as producer:
        for number in range(count):
            value = f"reading {number} temperature={20 + number % 7}.5 pressure=1013 humidity=40"
            producer.send(topic, value.encode(), key=f"sensor-{number % SENSORS}".encode())


def read(place: playground.Playground, topic: str) -> list[tuple[str, str]]:
    """Keys and values of all that is there."""
    found: list[tuple[str, str]] = []
    _, end = first_and_end(place, topic)
    with Consumer(
        bootstrap_servers=place.bootstrap_servers,
        auto_offset_reset="earliest",
        key_deserializer="str",
        value_deserializer="str",
    ) as consumer:
        consumer.assign([(topic, 0)])
        while (consumer.position()[TopicPartition(topic, 0)] or 0) < end:
            found += [(message.key, message.value) for message in consumer.poll(0.2)]
    return found


def delete_first(place: playground.Playground, topic: str, count: int, data: Path | None) -> None:
    """Let a partition begin later; segments that are wholly before that are removed soon."""
    before = 0 if data is None else size_of(data, topic)
    with Admin(bootstrap_servers=place.bootstrap_servers) as admin:
        admin.delete_records({(topic, 0): count})
    if data is not None:
        wait_until(lambda: size_of(data, topic) < before, "segments are removed")


def show(place: playground.Playground, topic: str, data: Path | None, what: str) -> None:
    """One line on what a topic holds."""
    first, end = first_and_end(place, topic)
    line = f"{what}: offsets {first} to {end}"
    if data is not None:
        segments = len(list(data.glob(f"{topic}-*/*.log")))
        line += f", {size_of(data, topic):,} bytes in {segments} segments"
    print(line)


def first_and_end(place: playground.Playground, topic: str) -> tuple[int, int]:
    """The first offset of the topic's only partition, and the one after its last."""
    partition = TopicPartition(topic, 0)
    with Admin(bootstrap_servers=place.bootstrap_servers) as admin:
        first = admin.list_offsets([partition], "earliest")[partition]
        return first, admin.list_offsets([partition], "latest")[partition]


def size_of(data: Path, topic: str) -> int:
    """Bytes of records, all segments together."""
    return sum(path.stat().st_size for path in data.glob(f"{topic}-*/*.log"))


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    """Look again and again, but not for ever."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise SystemExit(f"Not within {WAIT_SECONDS:g} s: {what}.")
        time.sleep(0.05)


def choose() -> None:
    """Use the cluster that was named, or a broker with files to look at."""
    servers = playground.chosen_servers(__doc__)
    if servers is not None:
        main(playground.Playground(bootstrap_servers=servers, broker=None), None)
        return
    with (
        tempfile.TemporaryDirectory(prefix="penstock-") as directory,
        Broker(directory=directory, settings=QUICK_BROKER) as broker,
    ):
        main(
            playground.Playground(bootstrap_servers=broker.bootstrap_servers, broker=broker), Path(directory)
        )


if __name__ == "__main__":
    with playground.quiet_end():
        choose()
