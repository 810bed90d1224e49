"""Moments, as callers give them."""

from datetime import UTC, datetime, timedelta

import pytest

from penstock.client.consuming.moments import milliseconds
from penstock.client.errors import ConfigurationError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("moment_ms", [0, 1, 136_651_916_612, 1_700_000_000_001, 2_152_393_477_588])
def test_a_message_s_own_time_is_found_to_the_millisecond(moment_ms: int) -> None:
    assert milliseconds(EPOCH + timedelta(milliseconds=moment_ms)) == moment_ms


def test_what_is_between_two_milliseconds_finds_nothing_older() -> None:
    assert milliseconds(EPOCH + timedelta(microseconds=1)) == 1
    assert milliseconds(EPOCH + timedelta(microseconds=1_000)) == 1
    assert milliseconds(EPOCH + timedelta(microseconds=1_001)) == 2


def test_before_1970_is_the_beginning() -> None:
    assert milliseconds(EPOCH - timedelta(milliseconds=1)) == 0
    assert milliseconds(datetime(1901, 1, 1, tzinfo=UTC)) == 0


@pytest.mark.parametrize("when", [datetime(2030, 1, 1), -1, True, "now"])  # noqa: DTZ001
def test_what_is_no_moment_is_refused(when: object) -> None:
    with pytest.raises(ConfigurationError):
        milliseconds(when)  # type: ignore[arg-type]
