"""The options that say where a reset moves a group to: exactly one of them."""

import pytest

from penstock.cli.group.reset_target import CHOICES, parse_target
from penstock.model.errors import UsageError
from penstock.wire_client.groups.reset_target import Reference, Target


@pytest.mark.parametrize(
    ("given_options", "expected"),
    [
        ({"--to-earliest": True}, Target(Reference.EARLIEST)),
        ({"--to-latest": True}, Target(Reference.LATEST)),
        ({"--to-current": True}, Target(Reference.CURRENT)),
        ({"--to-datetime": "1970-01-01T00:00:01"}, Target(Reference.TIMESTAMP, 1_000)),
        ({"--by-duration": "10s"}, Target(Reference.TIMESTAMP, 90_000)),
        ({"--by-duration": "1d"}, Target(Reference.TIMESTAMP, 0)),  # nothing was written before 1970
        ({"--shift-by": -5}, Target(Reference.SHIFT, -5)),
        ({"--shift-by": 0}, Target(Reference.SHIFT, 0)),
        ({"--to-offset": 0}, Target(Reference.OFFSET, 0)),
    ],
)
def test_parse_target_each_option_is_understood(
    given_options: dict[str, str | int | bool | None], expected: Target
) -> None:
    everything = dict.fromkeys(CHOICES) | {"--to-earliest": False} | given_options

    assert parse_target(everything, now_ms=100_000) == expected


def test_parse_target_without_any_names_all() -> None:
    with pytest.raises(UsageError) as refused:
        parse_target({}, now_ms=0)
    assert all(choice in str(refused.value) for choice in CHOICES)


def test_parse_target_with_two_names_both() -> None:
    with pytest.raises(UsageError, match=r"^--to-latest and --shift-by exclude each other"):
        parse_target({"--shift-by": 0, "--to-latest": True}, now_ms=0)
