"""Families of samples as text, in Prometheus' text format 0.0.4 or in OpenMetrics 1.0.

The two differ in three things here: how counters are announced, what the page is called, and its last line.
"""

from collections.abc import AsyncIterator, Iterable
from enum import Enum

from penstock.broker.metrics.metric import Family, Metric, MetricKind, Sample
from penstock.broker.metrics.pace import ITEMS_BETWEEN_LOOKS, Pace

OPEN_METRICS_TYPE = "application/openmetrics-text"
_TOTAL = "_total"


class Exposition(Enum):
    """The formats, and what they are called."""

    TEXT = "text/plain; version=0.0.4; charset=utf-8"
    OPEN_METRICS = f"{OPEN_METRICS_TYPE}; version=1.0.0; charset=utf-8"


def exposition_for(accept: str) -> Exposition:
    """OpenMetrics for those who name it, as Prometheus does; text for everybody else."""
    return Exposition.OPEN_METRICS if OPEN_METRICS_TYPE in accept else Exposition.TEXT


async def write_page(families: AsyncIterator[Family], exposition: Exposition, pace: Pace) -> list[bytes]:
    """The page in pieces, each of which took a turn of the loop to make."""
    pieces: list[bytes] = []
    lines: list[str] = []
    looked_at = 0
    async for metric, samples, written in families:
        name = metric.name
        head = _head(metric, exposition)
        if written:
            lines.append(head)
            pieces += [_encoded(lines), written]
            head, lines, looked_at = "", [], 0
        for series, value in samples:
            if head:
                lines.append(head)
                head = ""
            lines.append(f"{name}{series} {value}\n")
            if len(lines) - looked_at >= ITEMS_BETWEEN_LOOKS:
                looked_at = len(lines)
                if pace.is_over:
                    pieces.append(_encoded(lines))
                    lines, looked_at = [], 0
                    await pace.rest()
    if exposition is Exposition.OPEN_METRICS:
        lines.append("# EOF\n")
    pieces.append(_encoded(lines))
    return pieces


def write_lines(metric: Metric, samples: Iterable[Sample]) -> bytes:
    """Samples of a metric as lines, for a family that will be told again and again."""
    return _encoded([f"{metric.name}{series} {value}\n" for series, value in samples])


def _head(metric: Metric, exposition: Exposition) -> str:
    """A metric without samples has none."""
    name = metric.name
    if exposition is Exposition.OPEN_METRICS and metric.kind is MetricKind.COUNTER:
        name = name.removesuffix(_TOTAL)
    return f"# HELP {name} {_escaped_help(metric.help)}\n# TYPE {name} {metric.kind}\n"


def _escaped_help(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _encoded(lines: list[str]) -> bytes:
    # Names of groups are whatever clients sent; half of a pair of surrogates has no bytes in UTF-8.
    return "".join(lines).encode("utf-8", "backslashreplace")
