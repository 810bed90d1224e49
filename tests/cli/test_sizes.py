"""Amounts of bytes."""

import pytest

from penstock.cli.sizes import format_bytes, parse_rate, parse_size
from penstock.model.errors import UsageError


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("1048576", 1048576),
        ("512b", 512),
        ("50MB", 50_000_000),
        ("50 mb/s", 50_000_000),
        ("10MiB/s", 10 * 1024**2),
        ("1.5KiB", 1536),
        ("2gib", 2 * 1024**3),
    ],
)
def test_rate_is_read_with_its_unit(text: str, rate: int) -> None:
    assert parse_rate(text, option="--throttle") == rate


@pytest.mark.parametrize("text", ["", "fast", "-1", "0", "0.1", "10 miles", "1e6"])
def test_rate_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"--throttle .* is no rate like"):
        parse_rate(text, option="--throttle")


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (230 * 1024**3, "230 GiB"),
        (5 * 1024**6, "5120 PiB"),
    ],
)
def test_bytes_are_shown_in_the_largest_unit_that_fits(count: int, text: str) -> None:
    assert format_bytes(count) == text


def test_size_is_read_with_its_unit() -> None:
    assert parse_size("128MiB", option="--small") == 128 * 1024**2


@pytest.mark.parametrize("text", ["", "large", "0", "5MB/s"])
def test_size_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"--small .* is no size like"):
        parse_size(text, option="--small")
