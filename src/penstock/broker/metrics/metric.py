"""What a metric is, and what a source of them hands over."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias


class MetricKind(StrEnum):
    """How values of a metric are to be read, in Prometheus' words."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Teller(StrEnum):
    """Which broker tells a metric; so a sum over all brokers counts nothing twice."""

    EVERY = "every broker, of itself"
    LEADER = "the leader of the partition; the controller where nobody leads"
    COORDINATOR = "the coordinator of the group"
    CONTROLLER = "the active controller"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One line of the table of metrics."""

    name: str
    kind: MetricKind
    help: str
    labels: tuple[str, ...] = ()
    teller: Teller = Teller.EVERY

    def series(self, *values: object) -> str:
        """The label part of a sample: ``{topic="orders",partition="3"}``; nothing without labels."""
        return series(self.labels, values)


Sample: TypeAlias = tuple[str, float]
"""The label part of a series, for histograms behind its suffix, and the value."""


class Family(NamedTuple):
    """A metric and its samples. They may be made while they are written, so they must bear to be interrupted:
    between two of them the loop may have turned."""

    metric: Metric
    samples: Iterable[Sample] = ()
    #: Lines that were written for an earlier page and are still true.
    written: bytes = b""


Source: TypeAlias = Callable[[], Iterable[Family]]
"""Who has something for the page: called for each page on the loop, and asked for one sample at a time."""


def series(labels: Iterable[str], values: Iterable[object]) -> str:
    """The label part of a sample."""
    pairs = ",".join([f'{name}="{escaped(str(value))}"' for name, value in zip(labels, values, strict=True)])
    return f"{{{pairs}}}" if pairs else ""


def escaped(text: str) -> str:
    """A label's value as the text format wants it."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
