"""What clients said last, on a page that Prometheus takes, within bounds."""

from collections.abc import Iterable

import pytest
from tests.broker.metrics.scraping import Page, parse, parse_open

from penstock.broker.metrics.exposition import Exposition, write_lines
from penstock.broker.metrics.metric import MetricKind
from penstock.broker.telemetry.client import TelemetryClient, facts_of
from penstock.broker.telemetry.client_series import ClientSeries
from penstock.broker.telemetry.otlp import Change, Point
from penstock.model.limits import (
    TELEMETRY_LABEL_LENGTH_MAX,
    TELEMETRY_SERIES_LENGTH_MAX,
    TELEMETRY_SERIES_MAX,
    TELEMETRY_SERIES_PER_CLIENT_MAX,
)
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import RequestHeader


def make_client(number: int = 1, client_id: str = "me") -> TelemetryClient:
    id = number.to_bytes(16, "big")
    return TelemetryClient(id, facts_of(id, RequestHeader(ApiKey.PUSH_TELEMETRY, 0, 1, client_id, 0)))


def page(series: ClientSeries, exposition: Exposition = Exposition.TEXT) -> Page:
    is_open = exposition is Exposition.OPEN_METRICS
    text = ""
    for family in series.families():
        name = family.metric.name
        if is_open and family.metric.kind is MetricKind.COUNTER:
            name = name.removesuffix("_total")
        text += f"# HELP {name} x\n# TYPE {name} {family.metric.kind}\n"
        text += write_lines(family.metric, family.samples).decode()
    return parse_open(f"{text}# EOF\n") if is_open else parse(text)


def counter(name: str, value: float, *, change: Change = Change.ADDS, **labels: str) -> Point:
    return Point(name=name, value=value, attributes=labels, is_counter=True, change=change)


def kept(series: ClientSeries) -> set[str]:
    return page(series).names() - {"penstock_client_info"}


def take(*points: Point) -> ClientSeries:
    series = ClientSeries()
    series.take(make_client(), points)
    return series


def test_series_have_names_that_prometheus_takes_and_say_whose_they_are() -> None:
    series = take(
        Point(name="org.apache.kafka.producer.request.latency.avg", value=1.5, attributes={"node.id": "3"})
    )
    (labels,) = page(series).labels_of("penstock_client_producer_request_latency_avg", client_id="me")
    assert ("node_id", "3") in labels
    (info,) = page(series).labels_of("penstock_client_info", client_id="me")
    assert {name for name, _ in labels & info} == {"client_id", "client_instance_id"}


def test_deltas_add_up_and_totals_replace() -> None:
    series, client = ClientSeries(), make_client()
    series.take(client, [counter("a", 3), counter("b", 3, change=Change.REPLACES)])
    series.take(client, [counter("a", 4), counter("b", 4, change=Change.REPLACES)])
    assert page(series).sum("penstock_client_a_total") == 7
    assert page(series).sum("penstock_client_b_total") == 4


def test_number_that_is_none_ends_its_series() -> None:
    series, client = ClientSeries(), make_client()
    series.take(client, [Point(name="average", value=2.0)])
    assert kept(series) == {"penstock_client_average"}
    series.take(client, [Point(name="average", value=float("nan"))])
    assert kept(series) == set()
    assert series.dropped_count == 0


def test_sum_that_grows_beyond_numbers_is_dropped() -> None:
    series, client = ClientSeries(), make_client()
    for _ in range(2):
        series.take(client, [counter("a", 1e308)])
    assert (kept(series), series.dropped_count) == (set(), 1)


@pytest.mark.parametrize(
    "points",
    [
        pytest.param([counter("a", 1), Point(name="a", value=1)], id="gauge named as a counter is announced"),
        pytest.param([Point(name="a", value=1), counter("a", 1)], id="counter announced as a gauge is named"),
        pytest.param([counter("a", 1), Point(name="a_created", value=1)], id="when a counter was made"),
        pytest.param([Point(name="x", value=1), Point(name="info", value=1)], id="who clients are"),
        pytest.param([Point(name="a.b", value=1), Point(name="a-b", value=2)], id="the same after all"),
        pytest.param([Point(name="x", value=1), Point(name="", value=2)], id="none"),
    ],
)
def test_names_in_the_way_of_others_are_not_taken(points: Iterable[Point]) -> None:
    series = take(*points)
    assert page(series, Exposition.OPEN_METRICS).samples
    if series.dropped_count == 0:
        assert page(series).sum("penstock_client_a_b") == 2, "the later number of one series counts"
    else:
        assert (len(kept(series)), series.dropped_count) == (1, 1)


def test_labels_of_strangers_cannot_be_those_of_the_page() -> None:
    wild = {"client_id": "you", "__name__": "x", "le": "1", "9": "nine", "": "no", 'a"}\n': 'b"}\n# \\'}
    series = take(Point(name="gauge\n# x", value=1, attributes=wild))
    (labels,) = page(series, Exposition.OPEN_METRICS).labels_of("penstock_client_gauge___x", client_id="me")
    assert dict(labels)["attribute_client_id"] == "you"
    assert dict(labels)["attribute_9"] == "nine"
    assert 'b"}\n# \\' in dict(labels).values()
    assert "le" not in dict(labels)


def test_client_has_a_bound_on_its_series() -> None:
    series = take(*(Point(name=f"g{n}", value=n) for n in range(TELEMETRY_SERIES_PER_CLIENT_MAX + 5)))
    assert (len(kept(series)), series.dropped_count) == (TELEMETRY_SERIES_PER_CLIENT_MAX, 5)


def test_all_clients_together_have_a_bound_that_ends_with_them() -> None:
    series = ClientSeries()
    points = [Point(name=f"g{n}", value=n) for n in range(TELEMETRY_SERIES_PER_CLIENT_MAX)]
    clients = [make_client(n + 1) for n in range(TELEMETRY_SERIES_MAX // TELEMETRY_SERIES_PER_CLIENT_MAX)]
    for client in clients:
        series.take(client, points)
    assert series.dropped_count == 0
    late = make_client(9_999)
    series.take(late, points[:3])
    assert series.dropped_count == 3
    series.forget(clients[0])
    series.take(late, points[:3])
    assert series.dropped_count == 3


def test_series_that_is_too_long_is_not_taken() -> None:
    series = take(Point(name="g", value=1, attributes={"a": "x" * TELEMETRY_SERIES_LENGTH_MAX}))
    assert (kept(series), series.dropped_count) == (set(), 1)


def test_client_id_that_is_too_long_is_cut() -> None:
    series = ClientSeries()
    series.take(make_client(client_id="i" * 30_000), [Point(name="g", value=1)])
    ((_, labels),) = [key for key in page(series).samples if key[0] == "penstock_client_g"]
    assert dict(labels)["client_id"] == "i" * TELEMETRY_LABEL_LENGTH_MAX


def test_client_that_has_gone_leaves_nothing() -> None:
    series, one, other = ClientSeries(), make_client(1), make_client(2)
    series.take(one, [counter("a", 1), Point(name="b", value=1)])
    series.take(other, [counter("a", 1)])
    series.forget(one)
    assert kept(series) == {"penstock_client_a_total"}
    series.forget(other)
    assert page(series).samples == {}
    series.take(one, [Point(name="a", value=1)])
    assert kept(series) == {"penstock_client_a"}, "the name is free again"
