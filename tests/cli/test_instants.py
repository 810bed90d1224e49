"""Times as people read them."""

import pytest

from penstock.cli.instants import format_instant


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [
        (None, "-"),
        (-1, "-"),
        (0, "1970-01-01 00:00:00"),
        (1_700_000_000_999, "2023-11-14 22:13:20"),
        (2**62, str(2**62)),
    ],
)
def test_format_instant_is_utc_or_the_number_itself(milliseconds: int | None, shown: str) -> None:
    assert format_instant(milliseconds) == shown
