"""The whole table: what is measured of a broker, and what is asked of it.

Each row makes its own topic, so that rows do not disturb each other, and deletes it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from penstock.bench.end_to_end import EndToEndLoad, measure_end_to_end
from penstock.bench.librdkafka import ClientLoad, measure_client_consume, measure_client_produce
from penstock.bench.measurement import Measurement
from penstock.bench.progress import Progress
from penstock.bench.raw_consume import ConsumeLoad, measure_consume
from penstock.bench.raw_produce import ProduceLoad, fill, measure_produce
from penstock.bench.round_trips import RoundTripLoad, measure_round_trips
from penstock.bench.topics import bench_topic

PARTITIONS = 4
LARGE_BATCH_BYTES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The broker to measure, and how long to take over it."""

    bootstrap_server: str
    seconds: float = 5.0
    warm_up_seconds: float = 1.0
    #: Where the broker keeps its data, if that is on this machine: for the comparison with the bare disk.
    data_directory: Path | None = None
    #: How much there is to read back.
    read_bytes: int = 512 * 1024 * 1024
    #: How many records go through librdkafka.
    client_records: int = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """What is read off a row, and what it should reach (or stay below) if anything is asked of it."""

    attribute: str
    unit: str
    bound: float | None = None
    is_ceiling: bool = False

    def value(self, measurement: Measurement) -> float:
        """The figure itself."""
        holder = measurement.latency if self.attribute.endswith("_ms") else measurement
        return float(getattr(holder, self.attribute))

    def times_better(self, value: float, other: float) -> float:
        """How often ``value`` is as good as ``other``: 2 is twice as good, 0.5 is half as good."""
        return other / value if self.is_ceiling else value / other

    def __str__(self) -> str:
        if self.bound is None:
            return ""
        return f"{'under' if self.is_ceiling else 'at least'} {self.bound:,.10g} {self.unit}"


Run = Callable[[Bench, str, Progress], Measurement]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One benchmark of the table: how to measure it and what to read off."""

    key: str
    title: str
    run: Run
    figures: tuple[Figure, ...]

    def measure(self, bench: Bench, progress: Progress) -> Measurement:
        """Do it."""
        return self.run(bench, self.title, progress)


def _producing(load: ProduceLoad) -> Run:
    def run(bench: Bench, title: str, progress: Progress) -> Measurement:
        wanted = replace(load, name=title, seconds=bench.seconds, warm_up_seconds=bench.warm_up_seconds)
        with bench_topic(bench.bootstrap_server, partitions=PARTITIONS) as partitions:
            return measure_produce(partitions, wanted, progress)

    return run


def _reading(bench: Bench, title: str, progress: Progress) -> Measurement:
    """Several passes, so that the first one's page faults and slow start do not decide."""
    with bench_topic(bench.bootstrap_server, partitions=PARTITIONS) as partitions:
        fill(partitions, ProduceLoad(batch_bytes=LARGE_BATCH_BYTES), total_bytes=bench.read_bytes)
        return measure_consume(partitions, ConsumeLoad(name=title, passes=4), progress)


def _client_producing(bench: Bench, title: str, progress: Progress) -> Measurement:
    load = ClientLoad(name=title, bootstrap_server=bench.bootstrap_server, records=bench.client_records)
    with bench_topic(bench.bootstrap_server, partitions=PARTITIONS) as partitions:
        return measure_client_produce(partitions, load, progress)


def _client_reading(bench: Bench, title: str, progress: Progress) -> Measurement:
    load = ClientLoad(name=title, bootstrap_server=bench.bootstrap_server)
    with bench_topic(bench.bootstrap_server, partitions=PARTITIONS) as partitions:
        fill(partitions, ProduceLoad(), total_bytes=bench.client_records * load.record_bytes)
        return measure_client_consume(partitions, load, progress)


def _end_to_end(bench: Bench, title: str, progress: Progress) -> Measurement:
    load = EndToEndLoad(name=title, seconds=bench.seconds, warm_up_seconds=bench.warm_up_seconds)
    with bench_topic(bench.bootstrap_server, partitions=1) as (partition, *_):
        return measure_end_to_end(partition, load, progress)


def _one_at_a_time(bench: Bench, title: str, progress: Progress) -> Measurement:
    load = RoundTripLoad(
        name=title,
        seconds=bench.seconds,
        warm_up_seconds=bench.warm_up_seconds,
        data_directory=bench.data_directory,
    )
    with bench_topic(bench.bootstrap_server, partitions=1) as (partition, *_):
        return measure_round_trips(partition, load, progress)


_MESSAGES = Figure(attribute="records_per_second", unit="messages/s")
_MEGABYTES = Figure(attribute="megabytes_per_second", unit="MB/s")
_REQUESTS = Figure(attribute="requests_per_second", unit="requests/s")
_P50 = Figure(attribute="p50_ms", unit="ms at p50", is_ceiling=True)
_P99 = Figure(attribute="p99_ms", unit="ms at p99", is_ceiling=True)

ROWS = (
    Row(
        key="produce-16k",
        title="produce 100 B records in 16 KB batches, acks=all",
        run=_producing(ProduceLoad()),
        figures=(replace(_MESSAGES, bound=500_000),),
    ),
    Row(
        key="produce-108k",
        title="produce 100 B records in 108 KB batches, acks=all",
        run=_producing(ProduceLoad(batch_bytes=108_000)),
        figures=(_MESSAGES,),
    ),
    Row(
        key="produce-1m",
        title="produce 1 MB batches, acks=all",
        run=_producing(ProduceLoad(batch_bytes=LARGE_BATCH_BYTES)),
        figures=(_MEGABYTES,),
    ),
    Row(
        key="produce-single",
        title="produce single records on 10 connections, acks=all",
        run=_producing(ProduceLoad(batch_bytes=0, connections=10)),
        figures=(replace(_REQUESTS, bound=10_000),),
    ),
    Row(
        key="consume",
        title="read back with fetches of 1 MiB",
        run=_reading,
        figures=(replace(_MEGABYTES, bound=1_000),),
    ),
    Row(
        key="client-produce",
        title="produce 100 B records with librdkafka",
        run=_client_producing,
        figures=(_MESSAGES,),
    ),
    Row(
        key="client-consume",
        title="read back 100 B records with librdkafka",
        run=_client_reading,
        figures=(replace(_MESSAGES, bound=1_000_000),),
    ),
    Row(
        key="end-to-end",
        title="end to end at 10,000 messages/s",
        run=_end_to_end,
        figures=(replace(_P50, bound=2), replace(_P99, bound=10)),
    ),
    Row(
        key="one-at-a-time",
        title="one acknowledged record at a time",
        run=_one_at_a_time,
        figures=(replace(_P50, bound=1),),
    ),
)
