"""What clients said last, as series of the page: names and labels made fit for it, and bounded.

A stranger chooses names, labels and numbers. None of them can make a page that Prometheus refuses: names that
would stand in each other's way are not taken, nor numbers that are none.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isfinite

from penstock.broker.metrics.metric import Family, Metric, MetricKind, escaped
from penstock.broker.telemetry.client import TelemetryClient
from penstock.broker.telemetry.otlp import Change, Point
from penstock.model.limits import (
    TELEMETRY_SERIES_LENGTH_MAX,
    TELEMETRY_SERIES_MAX,
    TELEMETRY_SERIES_PER_CLIENT_MAX,
)

PREFIX = "penstock_client_"
KAFKA_PREFIX = "org.apache.kafka."
INFO = Metric(
    name=f"{PREFIX}info",
    kind=MetricKind.GAUGE,
    help="1 for each client that has pushed metrics, with who it is.",
)

_UNFIT = re.compile(r"[^a-zA-Z0-9_]")
_TOTAL = "_total"
_TAKEN_LABELS = frozenset({"", "client_id", "client_instance_id", "le", "quantile"})
_UNFIT_BEGINNINGS = ("__", *"0123456789")


@dataclass(frozen=True, slots=True)
class _Series:
    """Where a number is kept: its family, and its labels as text."""

    family: str
    labels: str


class ClientSeries:
    """Of all clients of one broker."""

    def __init__(self) -> None:
        self._metrics: dict[str, Metric] = {}
        self._values: dict[str, dict[str, float]] = {}
        self._names = {INFO.name: INFO.name}
        self._of_client: dict[TelemetryClient, dict[_Series, None]] = {}
        self._series_count = 0
        #: Numbers that a bound or a clash has kept out.
        self.dropped_count = 0

    def take(self, client: TelemetryClient, points: Iterable[Point]) -> None:
        """Keep what a client has pushed."""
        its = self._of_client.setdefault(client, {})
        for point in points:
            if not self._take(client, its, point):
                self.dropped_count += 1

    def forget(self, client: TelemetryClient) -> None:
        """A client has gone."""
        for each in self._of_client.pop(client, ()):
            self._remove(each)

    def families(self) -> Iterator[Family]:
        """What is known now; a page is written in several turns, so every family is copied when it is due."""
        yield Family(INFO, [(client.info, 1) for client in self._of_client])
        for name in list(self._metrics):
            if name in self._metrics:
                yield Family(self._metrics[name], list(self._values[name].items()))

    def _take(self, client: TelemetryClient, its: dict[_Series, None], point: Point) -> bool:
        found = _Series(_name(point), _labels(client, point))
        value = point.value
        if found in its and point.change is Change.ADDS:
            value += self._values[found.family][found.labels]
        if not isfinite(value):
            if found in its:
                del its[found]
                self._remove(found)
            return point.change is Change.REPLACES  # clients say so when an average is one of nothing
        if found not in its and not self._may_add(its, found, point):
            return False
        self._values[found.family][found.labels] = value
        its[found] = None
        return True

    def _may_add(self, its: dict[_Series, None], found: _Series, point: Point) -> bool:
        """Make room for a new series, if there may be one."""
        length = len(found.family) + sum(len(key) + len(value) for key, value in point.attributes.items())
        if (
            not point.name
            or length > TELEMETRY_SERIES_LENGTH_MAX
            or len(its) >= TELEMETRY_SERIES_PER_CLIENT_MAX
            or self._series_count >= TELEMETRY_SERIES_MAX
            or not self._has_family(found.family, point)
            or found.labels in self._values[found.family]
        ):
            return False
        self._series_count += 1
        return True

    def _has_family(self, name: str, point: Point) -> bool:
        if name in self._metrics:
            return True
        names = _reserved(name)
        if any(each in self._names for each in names):
            return False
        kind = MetricKind.COUNTER if point.is_counter else MetricKind.GAUGE
        self._metrics[name] = Metric(name=name, kind=kind, help=f"{point.name}, as clients have pushed it.")
        self._values[name] = {}
        self._names |= dict.fromkeys(names, name)
        return True

    def _remove(self, gone: _Series) -> None:
        values = self._values[gone.family]
        del values[gone.labels]
        self._series_count -= 1
        if not values:
            del self._metrics[gone.family], self._values[gone.family]
            for name in _reserved(gone.family):
                del self._names[name]


def _name(point: Point) -> str:
    """A name that Prometheus takes, and that says whether it is a counter."""
    name = PREFIX + _UNFIT.sub("_", point.name.removeprefix(KAFKA_PREFIX))
    if point.is_counter:
        return name if name.endswith(_TOTAL) else name + _TOTAL
    return f"{name}_value" if name.endswith(_TOTAL) else name


def _reserved(name: str) -> tuple[str, ...]:
    """The names that a family takes on a page; in OpenMetrics a counter has its bare name as well."""
    if not name.endswith(_TOTAL):
        return (name,)
    base = name.removesuffix(_TOTAL)
    return name, base, f"{base}_created"


def _labels(client: TelemetryClient, point: Point) -> str:
    pairs = dict(client.labels)
    for key, value in sorted(point.attributes.items()):
        pairs.setdefault(_label(key), value)
    return "{" + ",".join(f'{name}="{escaped(value)}"' for name, value in pairs.items()) + "}"


def _label(key: str) -> str:
    name = _UNFIT.sub("_", key)
    is_fit = name not in _TAKEN_LABELS and not name.startswith(_UNFIT_BEGINNINGS)
    return name if is_fit else f"attribute_{name}"
