"""What a run shows: a table that changes on a terminal, lines into a pipe, JSON lines for programs.

Colour says nothing that words do not say.
"""

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, Self

from penstock.cli.output import print_json_line
from penstock.cli.sizes import format_bytes
from penstock.cli.words import counted
from penstock.spark.pipelines.reporting.progress import FlowProgress
from penstock.spark.pipelines.running.events import (
    Event,
    FlowEnded,
    FlowFailed,
    FlowProgressed,
    FlowStarted,
    RecordsLeft,
)

COLUMNS = ("FLOW", "STATE", "BATCH", "ROWS", "ROWS/S", "LAG", "WATERMARK", "KEPT", "LATE", "ASIDE")
NUMBERS = (2, 3, 4, 5, 8, 9)


@dataclass(slots=True)
class FlowLine:
    """What is known of a flow, as a line of the table."""

    flow: str
    state: str = "waiting"
    rows: int = 0
    rows_per_second: float = 0.0
    """Of the last micro-batch that had any."""
    late: int = 0
    aside: int = 0
    last: FlowProgress | None = None

    def take(self, event: Event) -> None:
        """Take an event of this flow into account."""
        match event:
            case FlowStarted():
                self.state = "running"
            case FlowProgressed(progress):
                self.last = progress
                self.rows += progress.rows
                self.rows_per_second = progress.rows_per_second if progress.rows else self.rows_per_second
                self.late += progress.late_rows
            case RecordsLeft(_, _, count):
                self.aside += count
            case FlowEnded():
                self.state = "ended"
            case FlowFailed():
                self.state = "failed"

    def cells(self) -> tuple[str, ...]:
        """The line's texts, in the order of ``COLUMNS``."""
        last = self.last
        if last is None:
            return (self.flow, self.state, *("-" for _ in COLUMNS[2:]))
        return (
            self.flow,
            self.state,
            str(last.batch),
            f"{self.rows:,}",
            f"{self.rows_per_second:,.0f}",
            "-" if last.lag is None else f"{last.lag:,}",
            shown_watermark(last),
            shown_state(last),
            f"{self.late:,}",
            f"{self.aside:,}",
        )


def shown_watermark(progress: FlowProgress) -> str:
    """Without the fractions of seconds that nobody reads."""
    return "-" if progress.watermark is None else progress.watermark[:19].replace("T", " ")


def shown_state(progress: FlowProgress) -> str:
    """Rows and bytes of state."""
    if not progress.state_rows and not progress.state_bytes:
        return "-"
    return f"{counted(progress.state_rows, 'row')}, {format_bytes(progress.state_bytes)}"


def event_json(event: Event) -> dict[str, Any]:
    """An event as one document."""
    match event:
        case FlowStarted(flow):
            return {"event": "started", "flow": flow}
        case FlowProgressed(progress):
            return {"event": "progress", **progress.as_json()}
        case RecordsLeft(flow, topic, count):
            return {"event": "side_records", "flow": flow, "topic": topic, "count": count}
        case FlowEnded(flow):
            return {"event": "ended", "flow": flow}
        case FlowFailed(failure):
            return {"event": "failed", **asdict(failure)}


def event_line(event: Event) -> str:
    """An event as a line of text; empty if it says nothing new."""
    match event:
        case FlowStarted(flow):
            return f"{flow}  started"
        case FlowProgressed(progress):
            return "" if progress.is_idle else _progress_line(progress)
        case RecordsLeft(flow, topic, count):
            return f"{flow}  {counted(count, 'record')} to {topic}"
        case FlowEnded(flow):
            return f"{flow}  ended"
        case FlowFailed(failure):
            return f"{failure.flow}  failed"


def _progress_line(progress: FlowProgress) -> str:
    parts = [
        progress.flow,
        f"batch {progress.batch}",
        counted(progress.rows, "row"),
        f"{progress.rows_per_second:,.0f} rows/s",
        f"{progress.duration_ms / 1000:.1f} s",
    ]
    if progress.lag is not None:
        parts.append(f"lag {progress.lag:,}")
    if progress.watermark is not None:
        parts.append(f"watermark {shown_watermark(progress)}")
    if progress.state_rows:
        parts.append(f"kept {shown_state(progress)}")
    if progress.late_rows:
        parts.append(f"late {progress.late_rows:,}")
    return "  ".join(parts)


class LineScreen:
    """One line for each event, of text or of JSON."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.stdout.flush()

    def __call__(self, event: Event) -> None:
        """Print it at once: whoever reads the pipe wants to know now."""
        if self._as_json:
            print_json_line(event_json(event))
        elif line := event_line(event):
            print(line)
        sys.stdout.flush()


class TableScreen:
    """A table on a terminal that shows the last of every flow."""

    def __init__(self, flows: Sequence[str]) -> None:
        from rich.console import Console
        from rich.live import Live

        self._lines = {flow: FlowLine(flow) for flow in flows}
        console = Console(highlight=False, markup=False, emoji=False)
        self._live = Live(self._table(), console=console, auto_refresh=False)

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def __call__(self, event: Event) -> None:
        """Draw the table anew."""
        self._lines[_flow_of(event)].take(event)
        self._live.update(self._table(), refresh=True)

    def _table(self) -> Any:
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for position, column in enumerate(COLUMNS):
            table.add_column(column, justify="right" if position in NUMBERS else "left", overflow="fold")
        for line in self._lines.values():
            table.add_row(*line.cells())
        return table


def screen_for(flows: Sequence[str], *, as_json: bool) -> "LineScreen | TableScreen":
    """A table where standard output is a terminal, else lines."""
    if as_json or not sys.stdout.isatty():
        return LineScreen(as_json=as_json)
    return TableScreen(flows)


def _flow_of(event: Event) -> str:
    match event:
        case FlowProgressed(progress):
            return progress.flow
        case FlowFailed(failure):
            return failure.flow
        case FlowStarted(flow) | FlowEnded(flow) | RecordsLeft(flow, _, _):
            return flow
