"""Stretches of time in Spark's words."""

import pytest

from penstock.spark.pipelines.durations import duration_ms


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("10 seconds", 10_000),
        ("1 minute", 60_000),
        ("1 hour 30 minutes", 5_400_000),
        ("INTERVAL 2 DAYS", 172_800_000),
        ("500 milliseconds", 500),
        ("0 seconds", 0),
        ("1 month", None),
        ("10", None),
        ("seconds", None),
        ("", None),
        ("10 seconds and more", None),
    ],
)
def test_duration_ms_reads_what_spark_reads(text: str, milliseconds: int | None) -> None:
    assert duration_ms(text) == milliseconds
