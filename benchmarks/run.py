"""The benchmark table of docs/benchmarks.md: ``make bench``.

Penstock is started in a temporary directory, once flushing before every acknowledgement, as it does by
default, and once with Kafka's durability (page cache only). Every row is measured on all subjects one after
another, so that a noisy minute of a shared machine hits them alike. Nothing is asserted: figures of a shared
machine are to be read, not to be failed on.

    python benchmarks/run.py --seconds 5 --peer kafka=127.0.0.1:19092 --json bench.json --markdown bench.md
"""

import argparse
import os
import signal
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from baselines import dd_megabytes_per_second, sink
from report import new_parser, report
from subjects import NO_FLUSH, PenstockProcess, Subject
from table import Line

from penstock.bench.connection import parse_address
from penstock.bench.disk import measure_flushes
from penstock.bench.measurement import Measurement
from penstock.bench.progress import silent
from penstock.bench.suite import ROWS, Bench, Figure, Row
from penstock.bench.topics import create_topic

FLUSHING = "penstock"
NOT_FLUSHING = "penstock, no flush"
SINK_ROWS = ("produce-16k", "produce-108k", "produce-1m", "produce-single")
STARTS = 5
PARTITIONS_TO_OPEN = 1_000
DD_SHARE_ASKED = 0.8
NO_FLUSH_MEGABYTES_ASKED = 400.0


def main() -> None:
    """Measure, print, and write what was asked for."""
    report(_all_lines, _options())


def _options() -> argparse.Namespace:
    parser = new_parser(__doc__)
    add = parser.add_argument
    add("--seconds", type=float, default=5.0, help="how long each row is measured (default: 5)")
    add("--warm-up", type=float, default=1.0, help="seconds before that, which do not count (default: 1)")
    add("--peer", action="append", default=[], metavar="NAME=HOST:PORT", help="a broker to put beside")
    add("--rows", nargs="*", metavar="KEY", help=f"only these of: {' '.join(row.key for row in ROWS)}")
    add("--dd-megabytes", type=int, default=1024, help="how much dd writes (default: 1024)")
    return parser.parse_args()


def _all_lines(directory: Path, options: argparse.Namespace) -> Iterator[Line]:
    if not options.rows:
        yield from _process_lines(directory)
    yield from _disk_lines(directory)
    with _subjects(directory, options.peer) as subjects:
        for row in ROWS:
            if not options.rows or row.key in options.rows:
                yield from _row_lines(row, subjects, directory, options)
    if not options.rows:
        yield from _ceiling_lines(options)


@contextmanager
def _subjects(directory: Path, peers: Sequence[str]) -> Iterator[list[Subject]]:
    with ExitStack() as stack:
        found = []
        for name, settings in ((FLUSHING, {}), (NOT_FLUSHING, NO_FLUSH)):
            process = stack.enter_context(PenstockProcess(directory / name.replace(", ", "-"), settings))
            found.append(Subject(name, process.bootstrap_server, process.data_directory))
        for peer in peers:
            name, _, address = peer.partition("=")
            found.append(Subject(name, address, None))
        yield found


def _process_lines(directory: Path) -> Iterator[Line]:
    """Starting, idle memory, and opening many partitions."""
    _say("starting, idle memory, many partitions")
    seconds, megabytes = [], []
    for number in range(STARTS):
        with PenstockProcess(directory / f"start-{number}") as process:
            seconds.append(process.ready_seconds)
            megabytes.append(process.resident_megabytes())
    title = "from process start to ready, empty directory"
    yield _ceiling_line("ready", title, statistics.median(seconds), "s", bound=0.5)
    yield _ceiling_line("memory", "memory (RSS), idle", statistics.median(megabytes), "MB", bound=60)
    with PenstockProcess(directory / "many") as process:
        address = parse_address(process.bootstrap_server)
        for number in range(10):
            create_topic(address, f"many-{number}", partitions=PARTITIONS_TO_OPEN // 10, configs={})
        for how, number in (("a clean stop", signal.SIGTERM), ("kill -9", signal.SIGKILL)):
            process.stop(number)
            process.start()
            title = f"ready with {PARTITIONS_TO_OPEN:,} partitions, after {how}"
            key = f"reopen-{number.name.lower()}"
            yield _ceiling_line(key, title, process.ready_seconds, "s", bound=2)


def _ceiling_line(key: str, title: str, value: float, unit: str, *, bound: float) -> Line:
    return Line(
        key=key,
        title=title,
        subject=FLUSHING,
        value=value,
        unit=unit,
        target=f"under {bound:g} {unit}",
        ratio=bound / value,
    )


def _disk_lines(directory: Path) -> Iterator[Line]:
    _say("the bare disk")
    flushes = measure_flushes(directory, write_bytes=170, seconds=1.0)
    assert flushes.latency is not None
    yield Line(
        key="fdatasync",
        title="write and fdatasync of 170 B",
        subject="bare disk",
        value=flushes.latency.p50_ms,
        unit="ms at p50",
        details=flushes.as_json(),
    )


def _row_lines(
    row: Row, subjects: Sequence[Subject], directory: Path, options: argparse.Namespace
) -> Iterator[Line]:
    """A row on every subject; the row that is compared with ``dd`` has that measured around it."""
    dd = []
    if row.key == "produce-1m":
        dd.append(dd_megabytes_per_second(directory, megabytes=options.dd_megabytes))
    measured = [(subject, _measure(row, subject, options)) for subject in subjects]
    if dd:
        dd.append(dd_megabytes_per_second(directory, megabytes=options.dd_megabytes))
        title = f"dd bs=1M count={options.dd_megabytes} conv=fsync"
        yield Line(key="dd", title=title, subject="bare disk", value=statistics.mean(dd), unit="MB/s")
    for figure in row.figures:
        for subject, measurement in measured:
            yield _line(row, _asked(figure, subject, dd), subject, measurement)
        yield from _comparisons(row, figure, measured)


def _measure(row: Row, subject: Subject, options: argparse.Namespace) -> Measurement:
    _say(f"{row.title}: {subject.name}")
    # What the subject before left in the page cache must not be written at this one's cost.
    os.sync()
    bench = Bench(
        bootstrap_server=subject.bootstrap_server,
        seconds=options.seconds,
        warm_up_seconds=options.warm_up,
        data_directory=subject.data_directory,
    )
    return row.measure(bench, silent)


def _asked(figure: Figure, subject: Subject, dd: Sequence[float]) -> Figure:
    """What is asked of this subject: nothing of peers; large batches are held against the disk."""
    if subject.data_directory is None:
        return replace(figure, bound=None)
    if dd:
        flushing = subject.name == FLUSHING
        return replace(
            figure, bound=DD_SHARE_ASKED * statistics.mean(dd) if flushing else NO_FLUSH_MEGABYTES_ASKED
        )
    return figure


def _line(row: Row, figure: Figure, subject: Subject, measurement: Measurement) -> Line:
    value = figure.value(measurement)
    ratio = None if figure.bound is None else figure.times_better(value, figure.bound)
    target = "" if figure.bound is None else str(replace(figure, bound=round(figure.bound, 1)))
    return Line(
        key=row.key,
        title=row.title,
        subject=subject.name,
        value=value,
        unit=figure.unit,
        target=target,
        ratio=ratio,
        details=measurement.as_json(),
    )


def _comparisons(row: Row, figure: Figure, measured: Sequence[tuple[Subject, Measurement]]) -> Iterator[Line]:
    """How often Penstock is as good as each peer, at the peer's own durability; and as the bare disk."""
    ours = {subject.name: measurement for subject, measurement in measured}
    for subject, measurement in measured:
        if subject.data_directory is None:
            times = figure.times_better(figure.value(ours[NOT_FLUSHING]), figure.value(measurement))
            yield Line(
                key=f"{row.key}-times",
                title=row.title,
                subject=f"{NOT_FLUSHING} / {subject.name}",
                value=times,
                unit=f"times ({figure.unit})",
            )
    facts = ours[FLUSHING].facts or {}
    if isinstance(ratio := facts.get("ratio_to_fdatasync"), float):
        yield Line(
            key=f"{row.key}-fdatasync",
            title=row.title,
            subject=f"{FLUSHING} / bare fdatasync",
            value=ratio,
            unit=f"times as long ({figure.unit})",
        )


def _ceiling_lines(options: argparse.Namespace) -> Iterator[Line]:
    """What the load itself can reach, against a broker that does nothing."""
    with sink() as address:
        subject = Subject("a broker that does nothing", address, None)
        for row in ROWS:
            if row.key in SINK_ROWS:
                measurement = _measure(row, subject, options)
                for figure in row.figures:
                    line = _line(row, _asked(figure, subject, ()), subject, measurement)
                    yield replace(line, key=f"{row.key}-limit", title=f"limit of the load: {row.title}")


def _say(what: str) -> None:
    print(f"... {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
