"""What ``--offset`` may say."""

import pytest

from penstock.cli.consume.start_offset import Reference, Start, parse_start
from penstock.model.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", Start(Reference.OFFSET, 0)),
        ("17", Start(Reference.OFFSET, 17)),
        ("-5", Start(Reference.END, 5)),
        ("@1700000000000", Start(Reference.TIMESTAMP, 1_700_000_000_000)),
        ("beginning", Start(Reference.BEGINNING)),
        ("end", Start(Reference.END)),
    ],
)
def test_parse_start_each_form_is_understood(text: str, expected: Start) -> None:
    assert parse_start(text, from_beginning=False) == expected


def test_parse_start_without_offset_flag_decides_which_end() -> None:
    assert parse_start(None, from_beginning=True) == Start(Reference.BEGINNING)
    assert parse_start(None, from_beginning=False) == Start(Reference.END)


@pytest.mark.parametrize("text", ["", "x", "1.5", "@", "stored"])
def test_parse_start_nonsense_is_refused_with_the_choices(text: str) -> None:
    with pytest.raises(UsageError, match="'beginning', 'end'"):
        parse_start(text, from_beginning=False)


def test_parse_start_both_flags_are_refused() -> None:
    with pytest.raises(UsageError, match="exclude each other"):
        parse_start("5", from_beginning=True)
