"""Dashboards and alerts ask only for what brokers tell."""

import re

import pytest
from tests.deploy.client_metrics import CLIENT_METRICS
from tests.deploy.expressions import alert_expressions, alerts, panel_expressions, variable_series
from tests.deploy.promql import spoken_of

from penstock.broker.metrics.metric import Metric, MetricKind
from penstock.broker.metrics.table import METRICS

ADDED_BY_PROMETHEUS = frozenset({"job", "instance"})
OF_PROMETHEUS = frozenset({"up"})
HISTOGRAM_SUFFIXES = ("_bucket", "_sum", "_count")
TOLD = {**METRICS, **CLIENT_METRICS}
"""By brokers, of themselves and of clients."""


def metric_of(series: str) -> Metric | None:
    """The line of the table to which a series belongs."""
    if series in TOLD:
        return TOLD[series] if TOLD[series].kind is not MetricKind.HISTOGRAM else None
    for suffix in HISTOGRAM_SUFFIXES:
        metric = METRICS.get(series.removesuffix(suffix))
        if series.endswith(suffix) and metric is not None and metric.kind is MetricKind.HISTOGRAM:
            return metric
    return None


def labels_of(series: str) -> frozenset[str]:
    """The labels that a series has; ``KeyError`` when brokers do not tell it."""
    if series in OF_PROMETHEUS:
        return ADDED_BY_PROMETHEUS
    metric = metric_of(series)
    if metric is None:
        raise KeyError(series)
    more = {"le"} if series.endswith("_bucket") else set()
    return ADDED_BY_PROMETHEUS | frozenset(metric.labels) | more


def complaints(expression: str) -> list[str]:
    """What an expression asks for that is not there."""
    spoken = spoken_of(expression)
    unknown = [name for name in spoken.metrics if name not in OF_PROMETHEUS and metric_of(name) is None]
    if unknown or not spoken.metrics:
        return unknown or ["it names no metric"]
    wrong = [
        f"{name} has no label {label}"
        for name, labels in spoken.metrics.items()
        for label in labels - labels_of(name)
    ]
    known = frozenset[str]().union(*map(labels_of, spoken.metrics))
    return wrong + [f"nothing in it has the label {label}" for label in spoken.groupings - known]


EXPRESSIONS = {**panel_expressions(), **alert_expressions()}


@pytest.mark.parametrize("place", EXPRESSIONS)
def test_every_expression_uses_only_metrics_and_labels_that_brokers_tell(place: str) -> None:
    assert not complaints(EXPRESSIONS[place])


@pytest.mark.parametrize("place", variable_series())
def test_every_choice_is_among_values_of_a_label_that_is_told(place: str) -> None:
    series, label = variable_series()[place]
    (name,) = spoken_of(series).metrics
    assert not complaints(series)
    assert label in labels_of(name)


@pytest.mark.parametrize("place", EXPRESSIONS)
def test_counters_are_asked_for_their_growth_only(place: str) -> None:
    expression = EXPRESSIONS[place]
    for name in spoken_of(expression).metrics:
        metric = metric_of(name)
        if metric is not None and metric.kind is not MetricKind.GAUGE:
            assert re.search(rf"\b(?:rate|increase)\({name}\b", expression)


def test_alerts_name_only_labels_that_their_results_have() -> None:
    for name, rule in alerts().items():
        told = " ".join(rule["annotations"].values())
        spoken = spoken_of(rule["expr"])
        known = spoken.groupings or frozenset[str]().union(*map(labels_of, spoken.metrics))
        assert set(re.findall(r"\$labels\.(\w+)", told)) <= known, name
        assert rule["labels"]["severity"] in ("critical", "warning", "info")


@pytest.mark.parametrize(
    ("expression", "is_wrong"),
    [
        ('sum by (api) (rate(penstock_errors_total{job=~"x"}[5m]))', False),
        ("penstock_nonsense", True),
        ("penstock_request_duration_seconds", True),
        ("penstock_request_duration_seconds_bucket", False),
        ("penstock_ready_bucket", True),
        ('kafka_brokers{topic="x"}', True),
        ("sum by (topic) (kafka_brokers)", True),
        ("max by (client_id) (penstock_client_producer_record_queue_time_max)", False),
        ("max by (topic) (penstock_client_producer_record_queue_time_max)", True),
        ("penstock_client_producer_moods", True),
        ("1 > 0", True),
    ],
)
def test_wrong_expressions_are_noticed(expression: str, is_wrong: bool) -> None:
    assert bool(complaints(expression)) is is_wrong


def test_unknown_functions_are_not_overlooked() -> None:
    with pytest.raises(ValueError, match="unknown function nonsense"):
        spoken_of("nonsense(penstock_ready)")
