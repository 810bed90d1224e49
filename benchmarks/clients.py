"""What our clients' comfort costs: ``python benchmarks/clients.py``.

The same records, settings and broker through confluent-kafka as it is and through ``penstock.Producer`` and
``penstock.Consumer``, in turn, several times each; a round's rates are compared with each other only.
confluent-kafka sends once with a callback per record, which is what a future needs, and once without anybody
asking what became of them. Processor time is that of all threads of the client's process: it says more than
time does where others use the machine. Nothing is asserted but that everything arrives.
"""

import argparse
import asyncio
import gc
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import confluent_kafka
from report import new_parser, report
from subjects import PenstockProcess
from table import Line

import penstock

SHARE_ASKED = 0.6
RECORD_BYTES = 100
PARTITIONS = 4
WAIT_SECONDS_MAX = 120.0
POLL_EVERY = 256
FILLED = "filled"
ROOM = {"buffer_records": 500_000, "buffer_bytes": 1_000_000_000, "batch_size": 1_000_000}
"""Enough for the sender never to wait for long: the broker's speed is measured elsewhere."""

PATIENCE = {"fetch_max_wait_ms": 10}
"""A consumer that is done with one partition is not to wait for news of it while others have more."""


class Spent(NamedTuple):
    """What a measurement took: time, and of all this process's threads together, processor time."""

    seconds: float
    processor_seconds: float


class Stopwatch:
    """Runs from the beginning."""

    def __init__(self) -> None:
        self._began = Spent(time.perf_counter(), time.process_time())

    def read(self) -> Spent:
        """What was spent until now."""
        seconds, processor_seconds = self._began
        return Spent(time.perf_counter() - seconds, time.process_time() - processor_seconds)


Measure = Callable[[str, int], Spent]


def main() -> None:
    """Measure, print, and write what was asked for."""
    report(_all_lines, _options())


def _options() -> argparse.Namespace:
    parser = new_parser(__doc__)
    add = parser.add_argument
    add("--only", choices=["produce", "consume"], action="append", help="measure this alone; may be repeated")
    add("--records", type=int, default=300_000, help="of every measurement (default: 300,000)")
    add("--rounds", type=int, default=5, help="of measurements in turn (default: 5)")
    return parser.parse_args()


def _all_lines(directory: Path, options: argparse.Namespace) -> Iterator[Line]:
    with PenstockProcess(directory / "data") as broker:
        yield from _lines(broker.bootstrap_server, options)


def _lines(server: str, options: argparse.Namespace) -> Iterator[Line]:
    with penstock.Admin(bootstrap_servers=server) as admin:
        for topic in ("produced", FILLED):
            admin.create_topic(topic, partitions=PARTITIONS, config={"retention.ms": "-1"})
    for title, measures in PARTS.items():
        if options.only and title not in options.only:
            continue
        if title == "consume":
            produce_bare(server, options.records, topic=FILLED)
        yield from _compared(title, measures, server, options)


def _compared(
    title: str, measures: dict[str, Measure], server: str, options: argparse.Namespace
) -> Iterator[Line]:
    spent: dict[str, list[Spent]] = {name: [] for name in measures}
    for number in range(options.rounds + 1):
        for name, measure in measures.items():
            print(f"... {title}, {name}, round {number}", file=sys.stderr, flush=True)
            gc.collect()
            found = measure(server, options.records)
            if number:  # the first round warms everything up
                spent[name].append(found)
    bare = spent[next(iter(measures))]
    for name, found in spent.items():
        yield _line(title, name, found, bare, records=options.records)


def _line(title: str, name: str, found: list[Spent], bare: list[Spent], *, records: int) -> Line:
    share, processor_share = (
        statistics.median(first[kind] / own[kind] for own, first in zip(found, bare, strict=True))
        for kind in range(2)
    )
    rates = [records / each.seconds for each in found]
    is_ours = name.startswith("penstock")
    shares = f"{share:.2f} of the first ({processor_share:.2f} by processor time); at least {SHARE_ASKED}"
    return Line(
        key=f"{title}-{name}",
        title=f"{title} {records:,} records of {RECORD_BYTES} bytes",
        subject=name,
        value=statistics.median(rates),
        unit="records/s",
        target=shares if is_ours else "",
        ratio=share / SHARE_ASKED if is_ours else None,
        details={
            "rates": rates,
            "processor microseconds": [each.processor_seconds / records * 1e6 for each in found],
            "share of the first": share,
            "share of the first by processor time": processor_share,
        },
    )


# Producing.


def produce_bare(server: str, records: int, *, topic: str = "produced") -> Spent:
    """A callback per record, as a careful program has it."""
    failed = 0

    def on_delivery(error: object, message: object) -> None:
        nonlocal failed
        failed += error is not None

    producer = confluent_kafka.Producer(
        penstock.ProducerConfig(bootstrap_servers=server, **ROOM).librdkafka()
    )
    value = os.urandom(RECORD_BYTES)
    watch = Stopwatch()
    for number in range(records):
        while True:
            try:
                producer.produce(topic, value, on_delivery=on_delivery)
                break
            except BufferError:
                producer.poll(0.05)
        if not number % POLL_EVERY:
            producer.poll(0)
    left = producer.flush(WAIT_SECONDS_MAX)
    spent = watch.read()
    _check(left == failed == 0, f"{left} records left, {failed} failed")
    return spent


def produce_unasked(server: str, records: int) -> Spent:
    """Nobody asks what became of a record."""
    producer = confluent_kafka.Producer(
        penstock.ProducerConfig(bootstrap_servers=server, **ROOM).librdkafka()
    )
    value = os.urandom(RECORD_BYTES)
    watch = Stopwatch()
    for number in range(records):
        while True:
            try:
                producer.produce("produced", value)
                break
            except BufferError:
                producer.poll(0.05)
        if not number % POLL_EVERY:
            producer.poll(0)
    left = producer.flush(WAIT_SECONDS_MAX)
    spent = watch.read()
    _check(left == 0, f"{left} records left")
    return spent


def produce_futures(server: str, records: int) -> Spent:
    """A future per record, all of them kept and asked."""
    value = os.urandom(RECORD_BYTES)
    with penstock.Producer(bootstrap_servers=server, **ROOM) as producer:
        watch = Stopwatch()
        send = producer.send
        deliveries = [send("produced", value) for _ in range(records)]
        producer.flush(WAIT_SECONDS_MAX)
        spent = watch.read()
        _check(all(delivery.result().offset >= 0 for delivery in deliveries), "some records failed")
    return spent


def produce_async(server: str, records: int) -> Spent:
    """A future per record in a loop."""

    async def produce() -> Spent:
        value = os.urandom(RECORD_BYTES)
        async with penstock.AsyncProducer(bootstrap_servers=server, **ROOM) as producer:
            watch = Stopwatch()
            for _ in range(records):
                producer.send("produced", value)
                await producer.drain()
            await producer.flush(WAIT_SECONDS_MAX)
            spent = watch.read()
            _check(producer.metrics().records_failed == 0, "some records failed")
        return spent

    return asyncio.run(produce())


# Consuming.


def consume_bare(server: str, records: int) -> Spent:
    """Lists of 500, with a look at every value."""
    settings = penstock.ConsumerConfig(bootstrap_servers=server, group_id="bare", **PATIENCE).librdkafka()
    consumer = confluent_kafka.Consumer(settings)
    watch = Stopwatch()
    consumer.assign([confluent_kafka.TopicPartition(FILLED, number, 0) for number in range(PARTITIONS)])
    found = size = 0
    while found < records:
        for message in consumer.consume(500, 0.1):
            if message.error() is None:
                size += len(message.value())
                found += 1
    spent = watch.read()
    consumer.close()
    _check(size == records * RECORD_BYTES, f"{size} bytes were read")
    return spent


def consume_polling(server: str, records: int) -> Spent:
    """Lists of 500, with a look at every value."""
    with penstock.Consumer(bootstrap_servers=server, group_id="polling", **PATIENCE) as consumer:
        watch = Stopwatch()
        consumer.assign({(FILLED, number): 0 for number in range(PARTITIONS)})
        found = size = 0
        while found < records:
            for message in consumer.poll():
                size += len(message.value)
                found += 1
        spent = watch.read()
    _check(size == records * RECORD_BYTES, f"{size} bytes were read")
    return spent


def consume_iterating(server: str, records: int) -> Spent:
    """One after the other."""
    with penstock.Consumer(bootstrap_servers=server, group_id="iterating", **PATIENCE) as consumer:
        watch = Stopwatch()
        consumer.assign({(FILLED, number): 0 for number in range(PARTITIONS)})
        size = 0
        for found, message in enumerate(consumer, 1):
            size += len(message.value)
            if found == records:
                break
        spent = watch.read()
    _check(size == records * RECORD_BYTES, f"{size} bytes were read")
    return spent


def consume_async(server: str, records: int) -> Spent:
    """One after the other in a loop."""

    async def consume() -> Spent:
        async with penstock.AsyncConsumer(bootstrap_servers=server, group_id="async", **PATIENCE) as consumer:
            watch = Stopwatch()
            await consumer.assign({(FILLED, number): 0 for number in range(PARTITIONS)})
            found = size = 0
            async for message in consumer:
                size += len(message.value)
                found += 1
                if found == records:
                    break
            spent = watch.read()
        _check(size == records * RECORD_BYTES, f"{size} bytes were read")
        return spent

    return asyncio.run(consume())


def consume_hearing(server: str, records: int) -> Spent:
    """The same as a member of a group that hears of its rebalances, from its assignment on.

    It says where to begin, as others do: librdkafka waits for 0.1 s before it asks where a new group does.
    """

    async def consume() -> Spent:
        watch = Stopwatch()

        async def on_assigned(partitions: Sequence[penstock.TopicPartition]) -> None:
            nonlocal watch
            watch = Stopwatch()
            for partition in partitions:
                await consumer.seek(partition, 0)

        group = f"hearing-{time.monotonic_ns()}"
        async with penstock.AsyncConsumer(
            bootstrap_servers=server, group_id=group, auto_offset_reset="earliest", **PATIENCE
        ) as consumer:
            await consumer.subscribe(FILLED, on_assigned=on_assigned)
            found = size = 0
            async for message in consumer:
                size += len(message.value)
                found += 1
                if found == records:
                    break
            spent = watch.read()
        _check(size == records * RECORD_BYTES, f"{size} bytes were read")
        return spent

    return asyncio.run(consume())


PARTS: dict[str, dict[str, Measure]] = {
    "produce": {
        "confluent-kafka, a callback each": produce_bare,
        "confluent-kafka, nobody asks": produce_unasked,
        "penstock.Producer": produce_futures,
        "penstock.AsyncProducer": produce_async,
    },
    "consume": {
        "confluent-kafka, lists of 500": consume_bare,
        "penstock.Consumer, poll": consume_polling,
        "penstock.Consumer, for": consume_iterating,
        "penstock.AsyncConsumer, async for": consume_async,
        "penstock.AsyncConsumer, async for, on_assigned": consume_hearing,
    },
}


def _check(is_right: bool, problem: str) -> None:
    if not is_right:
        raise SystemExit(f"The benchmark means nothing: {problem}.")


if __name__ == "__main__":
    main()
