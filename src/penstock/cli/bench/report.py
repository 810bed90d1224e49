"""How benchmarks appear on a terminal: a bar while they run, a table when they are done."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from penstock.cli.output import print_json, print_table

if TYPE_CHECKING:
    from penstock.bench.measurement import Measurement
    from penstock.bench.progress import Progress

_COLUMNS = ("BENCHMARK", "CLIENT", "MESSAGES/S", "MB/S", "REQUESTS/S", "P50 MS", "P99 MS", "P99.9 MS", "")


def run_with_progress(title: str, measure: "Callable[[Progress], Measurement]") -> "Measurement":
    """Run one benchmark under a bar on standard error, which only a terminal shows."""
    if not sys.stderr.isatty():
        return measure(lambda share: None)
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(title, total=1.0)
        return measure(lambda share: bars.update(bar, completed=share))


def print_measurements(measurements: "Sequence[Measurement]", *, as_json: bool) -> None:
    """All results: as a list of objects, or as a table."""
    if as_json:
        print_json([measurement.as_json() for measurement in measurements])
    else:
        print_table(_COLUMNS, [_cells(measurement) for measurement in measurements], numbers=range(2, 8))


def _cells(measurement: "Measurement") -> tuple[str, ...]:
    latency = measurement.latency
    requests = measurement.requests_per_second
    facts = measurement.facts or {}
    return (
        measurement.name,
        measurement.client,
        f"{measurement.records_per_second:,.0f}",
        f"{measurement.megabytes_per_second:,.1f}",
        "" if requests is None else f"{requests:,.0f}",
        "" if latency is None else f"{latency.p50_ms:,.3f}",
        "" if latency is None else f"{latency.p99_ms:,.3f}",
        "" if latency is None else f"{latency.p999_ms:,.3f}",
        ", ".join(f"{name} {value}" for name, value in facts.items()),
    )
