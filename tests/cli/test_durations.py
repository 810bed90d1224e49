"""How people write times and stretches of it."""

import pytest

from penstock.cli.durations import (
    format_duration,
    is_past_duration,
    parse_duration,
    parse_instant,
    parse_past,
)
from penstock.model.errors import UsageError


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("500ms", 500),
        ("30s", 30_000),
        ("10m", 600_000),
        ("1h30m", 5_400_000),
        ("7d", 604_800_000),
        ("2w", 1_209_600_000),
        ("0s", 0),
        ("PT10M", 600_000),
        ("pt1h30m", 5_400_000),
        ("P1DT2H", 93_600_000),
        ("P2W", 1_209_600_000),
        ("PT0.25S", 250),
    ],
)
def test_parse_duration_each_form_is_understood(text: str, milliseconds: int) -> None:
    assert parse_duration(text, option="--x") == milliseconds


@pytest.mark.parametrize("text", ["", "10", "m", "10x", "-10m", "1.5h", "P", "PT", "P1Y", "P1M", "10 m"])
def test_parse_duration_nonsense_is_refused_with_examples(text: str) -> None:
    with pytest.raises(UsageError, match=r"--x .* is no duration like 10m"):
        parse_duration(text, option="--x")


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("1970-01-01T00:00:01", 1_000),
        ("1970-01-01T00:00:01.250", 1_250),
        ("1970-01-01T01:00:01+01:00", 1_000),
        ("1970-01-01T00:00:01Z", 1_000),
        ("1970-01-02", 86_400_000),
        ("@1735689600000", 1_735_689_600_000),
        ("1969-12-31T23:59:59.998", 0),  # -2 would mean the earliest record, and -1 the end
    ],
)
def test_parse_instant_each_form_is_understood_and_is_utc_without_a_zone(
    text: str, milliseconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")

    assert parse_instant(text, option="--x") == milliseconds


@pytest.mark.parametrize(
    "text", ["", "noon", "@", "@-5", "@1.5", "@253402300800000", "2026-13-01", "1735689600000"]
)
def test_parse_instant_nonsense_is_refused_with_examples(text: str) -> None:
    with pytest.raises(UsageError, match="is no time like"):
        parse_instant(text, option="--x")


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (-5, "0ms"),
        (0, "0ms"),
        (999, "999ms"),
        (1_000, "1s"),
        (61_000, "1m1s"),
        (3_600_000, "1h"),
        (3_661_000, "1h1m"),
        (90_061_000, "1d1h"),
        (86_400_000 + 60_000, "1d"),
    ],
)
def test_format_duration_has_at_most_two_units(milliseconds: int, text: str) -> None:
    assert format_duration(milliseconds) == text


def test_parse_past_of_a_duration_is_so_long_ago_and_of_an_instant_that() -> None:
    assert parse_past("10m", option="--since", now_ms=1_000_000) == 400_000
    assert parse_past("PT1S", option="--since", now_ms=1_000_000) == 999_000
    assert parse_past("@5", option="--since", now_ms=1_000_000) == 5


def test_parse_past_of_neither_says_what_would_do() -> None:
    with pytest.raises(UsageError, match=r"--since 'soon' is no time .* no duration"):
        parse_past("soon", option="--since", now_ms=0)


@pytest.mark.parametrize(
    ("text", "moves"), [("2h", True), ("pt10m", True), ("2026-01-31", False), ("@1769846400000", False)]
)
def test_duration_is_told_from_a_fixed_time(text: str, moves: bool) -> None:
    assert is_past_duration(text) is moves
