from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from penstock.broker.metrics.metric import Metric, MetricKind

METRIC = Metric(name="things", kind=MetricKind.GAUGE, help="Of things.", labels=("kind", "group"))


def test_series_names_every_label() -> None:
    assert METRIC.series("a", 3) == '{kind="a",group="3"}'
    assert Metric(name="one", kind=MetricKind.GAUGE, help="").series() == ""


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_label_is_read_back_as_it_was(text: str) -> None:
    """Groups are named by clients, with whatever characters they like."""
    (family,) = text_string_to_metric_families(f"things{METRIC.series('k', text)} 1\n")
    assert family.samples[0].labels == {"kind": "k", "group": text}
