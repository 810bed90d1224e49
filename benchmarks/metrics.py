"""What watching costs: ``python benchmarks/metrics.py``.

Two brokers take turns at the same number of prebuilt batches: one has no port for metrics, the other is
scraped every second. What is compared is the processor time each of them used for a message, since others may
use the machine meanwhile: the median over all turns of how much more the one used than the other. Then pages
of a small and of a large broker are read one after the other, to see what one takes.
"""

import argparse
import http.client
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from report import new_parser, report
from subjects import NO_FLUSH, PenstockProcess
from table import Line

from penstock.bench.connection import parse_address
from penstock.bench.raw_produce import ProduceLoad, fill
from penstock.bench.topics import BenchPartition, create_topic, find_partitions
from penstock.broker.metrics.address_file import read_address

WATCHED = {**NO_FLUSH, "server.log.topic.enable": "false", "log.retention.check.interval.ms": "1000"}
UNWATCHED = {**WATCHED, "metrics.listener": "off"}
COST_ASKED = 0.01
SCRAPE_SECONDS = 1.0
TOPIC = "watched"
PARTITIONS = 4
PAGES = 100
WARM_UP_BYTES = 50_000_000


def main() -> None:
    """Measure, print, and write what was asked for."""
    report(_all_lines, _options())


def _options() -> argparse.Namespace:
    parser = new_parser(__doc__)
    add = parser.add_argument
    add("--turns", type=int, default=10, help="of each broker (default: 10)")
    add("--megabytes", type=int, default=600, help="produced in a turn (default: 600)")
    add("--batch-bytes", type=int, default=16_384, help="of a batch (default: 16,384)")
    add("--partitions", type=int, default=3_000, help="of the broker whose page is large (default: 3,000)")
    return parser.parse_args()


class Used(NamedTuple):
    """By one turn."""

    cpu_seconds: float
    records: int
    seconds: float

    @property
    def cpu_seconds_per_record(self) -> float:
        return self.cpu_seconds / self.records


class Scraper:
    """Reads the page every second, as Prometheus does, while the block lasts."""

    def __init__(self, address: str) -> None:
        self._connection = http.client.HTTPConnection(address, timeout=30)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="scrape", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over.set()
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        while not self._is_over.is_set():
            page(self._connection)
            self._is_over.wait(SCRAPE_SECONDS)


def page(connection: http.client.HTTPConnection) -> bytes:
    """The page of metrics, as it is now."""
    connection.request("GET", "/metrics")
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise SystemExit(f"the page of metrics is answered with {answer.status}: {body[:200]!r}")
    return body


def _all_lines(directory: Path, options: argparse.Namespace) -> Iterator[Line]:
    yield from _comparison(directory, options)
    yield from _page_lines(directory, PARTITIONS)
    yield from _page_lines(directory, options.partitions)


def _comparison(directory: Path, options: argparse.Namespace) -> Iterator[Line]:
    without: list[Used] = []
    watched: list[Used] = []
    for turn in range(options.turns):
        _say(f"turn {turn + 1} of {options.turns}")
        # Two processes of one program differ by a few percent, so every turn has its own.
        with (
            PenstockProcess(directory / f"unwatched-{turn}", UNWATCHED) as plain,
            PenstockProcess(directory / f"watched-{turn}", WATCHED) as scraped,
        ):
            first, second = (plain, scraped) if turn % 2 else (scraped, plain)
            used = {process: _use(process, options) for process in (first, second)}
        without.append(used[plain])
        watched.append(used[scraped])
    cost = statistics.median(_costs(without, watched))
    yield _cpu_line("without a port for metrics", without)
    yield _cpu_line("scraped every second", watched)
    yield Line(
        key="metrics-cost",
        title="processor time for a batch, more when scraped every second",
        subject="penstock",
        value=cost * 100,
        unit="%",
        target=f"< {COST_ASKED:.0%}",
        details={"by turn": _costs(without, watched)},
    )


def _topic(process: PenstockProcess) -> list[BenchPartition]:
    """Old segments go, or the disk would fill."""
    address = parse_address(process.bootstrap_server)
    configs = {"retention.bytes": str(256 * 1024**2), "segment.bytes": str(64 * 1024**2)}
    create_topic(address, TOPIC, partitions=PARTITIONS, configs=configs)
    return find_partitions(address, TOPIC, is_new=True)


def _use(process: PenstockProcess, options: argparse.Namespace) -> Used:
    """What a turn takes after a warm-up; scraped if there is a page."""
    partitions = _topic(process)
    load = ProduceLoad(batch_bytes=options.batch_bytes)
    fill(partitions, load, total_bytes=WARM_UP_BYTES)
    address = read_address(str(process.data_directory))
    with nullcontext() if address is None else Scraper(address):
        before, began = process.cpu_seconds(), time.monotonic()
        records = fill(partitions, load, total_bytes=options.megabytes * 1_000_000)
        return Used(process.cpu_seconds() - before, records, time.monotonic() - began)


def _costs(without: list[Used], watched: list[Used]) -> list[float]:
    """By how much more the one used than the other, turn by turn."""
    pairs = zip(without, watched, strict=True)
    return [round(other.cpu_seconds_per_record / one.cpu_seconds_per_record - 1, 4) for one, other in pairs]


def _cpu_line(subject: str, used: list[Used]) -> Line:
    return Line(
        key=f"metrics-{subject.split()[0]}",
        title="processor time for a million messages of 100 bytes, acks=all, not flushed",
        subject=subject,
        value=statistics.median(one.cpu_seconds_per_record for one in used) * 1e6,
        unit="s",
        details={"seconds of a turn, median": statistics.median(one.seconds for one in used)},
    )


def _page_lines(directory: Path, partitions: int) -> Iterator[Line]:
    with PenstockProcess(directory / f"pages-{partitions}", WATCHED) as process:
        _say(f"a broker with {partitions} partitions")
        create_topic(parse_address(process.bootstrap_server), TOPIC, partitions=partitions, configs={})
        connection = http.client.HTTPConnection(_address_of(process), timeout=30)
        # The topic is made before all its partitions are open.
        while f"\npenstock_led_partitions {partitions}\n".encode() not in (body := page(connection)):
            time.sleep(0.1)
        before = process.cpu_seconds()
        seconds = []
        for _ in range(PAGES):
            began = time.monotonic()
            page(connection)
            seconds.append(time.monotonic() - began)
        cpu_seconds = (process.cpu_seconds() - before) / PAGES
        connection.close()
    title = f"page of a broker with {partitions:,} partitions, {len(body) / 1e3:,.0f} KB"
    yield _page_line("page-cpu", title, "processor time", cpu_seconds * 1e3)
    yield _page_line(
        "page-seconds", title, "median of its making and sending", statistics.median(seconds) * 1e3
    )


def _page_line(key: str, title: str, subject: str, milliseconds: float) -> Line:
    return Line(key=key, title=title, subject=subject, value=milliseconds, unit="ms")


def _address_of(process: PenstockProcess) -> str:
    address = read_address(str(process.data_directory))
    if address is None:
        raise SystemExit(f"{process.data_directory} does not say where metrics are")
    return address


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
