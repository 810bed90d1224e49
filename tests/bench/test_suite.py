"""The table's own arithmetic."""

import pytest

from penstock.bench.measurement import Measurement, Percentiles
from penstock.bench.suite import ROWS, Figure

MEASURED = Measurement(
    name="x",
    client="raw",
    records=1_000,
    bytes=5_000_000,
    seconds=2.0,
    requests=100,
    latency=Percentiles(p50_ms=0.5, p99_ms=4.0, p999_ms=8.0, max_ms=9.0, count=100),
)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [("records_per_second", 500), ("megabytes_per_second", 2.5), ("requests_per_second", 50), ("p99_ms", 4)],
)
def test_figure_value_is_read_from_rates_and_from_percentiles(attribute: str, value: float) -> None:
    assert Figure(attribute=attribute, unit="").value(MEASURED) == value


def test_figure_times_better_more_is_better_unless_it_is_a_ceiling() -> None:
    assert Figure(attribute="records_per_second", unit="").times_better(300, 100) == 3
    assert Figure(attribute="p50_ms", unit="", is_ceiling=True).times_better(300, 100) == pytest.approx(1 / 3)


def test_figure_text_says_what_is_asked() -> None:
    assert str(Figure(attribute="x", unit="messages/s", bound=500_000)) == "at least 500,000 messages/s"
    assert str(Figure(attribute="x", unit="ms at p50", bound=2, is_ceiling=True)) == "under 2 ms at p50"
    assert str(Figure(attribute="x", unit="MB/s")) == ""


def test_rows_keys_are_unique() -> None:
    assert len({row.key for row in ROWS}) == len(ROWS)
