"""Compaction beside a producer: a million updates of ten thousand keys, as the broker itself clocks it.

The topic is filled first, with compaction held back by its dirty ratio. Then a producer goes on updating the
same keys at a fixed rate, compaction is let loose, and the broker's log says how many records it went over in
how many seconds; memory is the broker's, sampled meanwhile.

    python benchmarks/compaction.py --updates 1000000 --keys 10000 --rate 10000
"""

import argparse
import json
import os
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)
from subjects import PenstockProcess, machine

TOPIC = "compacted"
VALUE_BYTES = 90
SEGMENT_BYTES = 16 * 1024 * 1024
SETTINGS = {"log.cleaner.backoff.ms": "100"}
DONE = "log compacted"
SECONDS_MAX = 300.0
SAMPLE_SECONDS = 0.02


def main() -> None:
    """Measure and print."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix=".penstock-bench-", dir=options.directory) as temporary:
        directory = Path(temporary) / "data"
        with PenstockProcess(directory, SETTINGS) as broker:
            outcome = _measure(broker, directory.with_suffix(".log"), options)
    print(f"{machine()}; load average {os.getloadavg()[0]:.1f}")
    for name, value in outcome.items():
        print(f"{name}: {value}")


def _measure(broker: PenstockProcess, log: Path, options: argparse.Namespace) -> dict[str, str]:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_server})
    config = {
        "cleanup.policy": "compact",
        "segment.bytes": str(SEGMENT_BYTES),
        "min.cleanable.dirty.ratio": "1.0",
        "compression.type": "producer",
    }
    admin.create_topics([NewTopic(TOPIC, 1, 1, config=config)])[TOPIC].result()
    _fill(broker.bootstrap_server, options)
    updates = Updates(broker.bootstrap_server, options)
    updates.start()
    time.sleep(options.quiet_seconds)
    quiet = updates.take_latencies()
    before, peak = broker.resident_megabytes(), 0.0
    began = time.monotonic()
    admin.incremental_alter_configs([_dirty_ratio("0.5")])
    while not (passes := _passes(log)):
        peak = max(peak, broker.resident_megabytes())
        time.sleep(SAMPLE_SECONDS)
        if time.monotonic() - began > SECONDS_MAX:
            raise SystemExit(f"nothing was compacted within {SECONDS_MAX} s")
    seconds = time.monotonic() - began
    busy = updates.take_latencies()
    updates.finish()
    first = passes[0]
    return {
        "records before": f"{first['records_before']:,}",
        "records after": f"{first['records_after']:,}",
        "megabytes before": f"{first['bytes_before'] / 1e6:.1f}",
        "megabytes after": f"{first['bytes_after'] / 1e6:.2f}",
        "seconds, by the broker's log": f"{first['seconds']}",
        "records/s": f"{first['records_before'] / first['seconds']:,.0f}",
        "seconds from the order to the log line": f"{seconds:.2f}",
        "memory before, and growth at most": f"{before:.1f} MB, {max(0.0, peak - before):.1f} MB",
        f"acknowledgement at {options.rate:,} records/s before": _latency(quiet),
        f"acknowledgement at {options.rate:,} records/s meanwhile": _latency(busy),
    }


def _fill(bootstrap_server: str, options: argparse.Namespace) -> None:
    dice = random.Random(1)
    producer = _producer(bootstrap_server)
    for number in range(options.updates):
        _send(producer, dice.randrange(options.keys), number)
    producer.flush()


class Updates:
    """Goes on updating keys at a fixed rate, and remembers how long each acknowledgement took."""

    TICK_SECONDS = 0.01

    def __init__(self, bootstrap_server: str, options: argparse.Namespace) -> None:
        self._producer = _producer(bootstrap_server)
        self._options = options
        self._latencies: list[float] = []
        self._is_finishing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="updates")

    def start(self) -> None:
        self._thread.start()

    def take_latencies(self) -> list[float]:
        taken, self._latencies = self._latencies, []
        return taken

    def finish(self) -> None:
        self._is_finishing.set()
        self._thread.join()

    def _run(self) -> None:
        dice = random.Random(2)
        per_tick = max(1, int(self._options.rate * self.TICK_SECONDS))
        due = time.monotonic()
        while not self._is_finishing.is_set():
            for number in range(per_tick):
                _send(self._producer, dice.randrange(self._options.keys), number, self._timed())
            due += self.TICK_SECONDS
            self._producer.poll(max(0.0, due - time.monotonic()))
        self._producer.flush()

    def _timed(self) -> Any:
        sent = time.monotonic()
        return lambda *_: self._latencies.append(time.monotonic() - sent)


def _producer(bootstrap_server: str) -> Producer:
    return Producer(
        {
            "bootstrap.servers": bootstrap_server,
            "acks": "all",
            "linger.ms": 5,
            "queue.buffering.max.messages": 1_000_000,
        }
    )


def _send(producer: Producer, key: int, number: int, on_delivery: Any = None) -> None:
    value = (b"%d " % number).ljust(VALUE_BYTES, b".")
    while True:
        try:
            producer.produce(TOPIC, value, key=b"key-%06d" % key, on_delivery=on_delivery)
        except BufferError:
            producer.poll(0.1)
        else:
            return


def _dirty_ratio(ratio: str) -> ConfigResource:
    entry = ConfigEntry("min.cleanable.dirty.ratio", ratio, incremental_operation=AlterConfigOpType.SET)
    return ConfigResource(ResourceType.TOPIC, TOPIC, incremental_configs=[entry])


def _passes(log: Path) -> list[dict[str, Any]]:
    return [entry for entry in _entries(log) if entry["event"] == DONE and entry["partition"] == f"{TOPIC}-0"]


def _entries(log: Path) -> Iterator[dict[str, Any]]:
    for line in log.read_text().splitlines():
        if line.startswith("{"):
            yield json.loads(line)


def _latency(seconds: list[float]) -> str:
    if len(seconds) < 2:
        return "nothing was acknowledged"
    parts = statistics.quantiles(seconds, n=100)
    return f"{parts[49] * 1000:.1f} ms at p50, {parts[98] * 1000:.1f} ms at p99"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--updates", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--rate", type=int, default=10_000, help="records a second while compaction runs")
    parser.add_argument("--quiet-seconds", type=float, default=5.0, help="how long to measure before")
    parser.add_argument(
        "--directory", type=Path, help="where to put the data; a temporary place if not given"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
