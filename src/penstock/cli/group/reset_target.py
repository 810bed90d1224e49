"""The options of ``penstock group reset-offsets`` that say where a group is moved to: exactly one of them."""

from collections.abc import Mapping

from penstock.cli.durations import before, parse_duration, parse_instant
from penstock.model.errors import UsageError
from penstock.wire_client.groups.reset_target import Reference, Target

CHOICES = (
    "--to-earliest",
    "--to-latest",
    "--to-current",
    "--to-datetime",
    "--by-duration",
    "--shift-by",
    "--to-offset",
)
"""Exactly one of these is given."""


def parse_target(given: Mapping[str, str | int | bool | None], *, now_ms: int) -> Target:
    """The one target among the options, each of which is false or None when it was not given."""
    # By identity: zero, as an offset or a shift, is an answer too, and equals false.
    named = [name for name in CHOICES if given.get(name) is not None and given.get(name) is not False]
    if len(named) != 1:
        problem = f"{' and '.join(named)} exclude each other; give" if named else "Give"
        raise UsageError(f"{problem} exactly one of {', '.join(CHOICES)}.")
    (name,) = named
    value = given[name]
    match name:
        case "--to-earliest":
            return Target(Reference.EARLIEST)
        case "--to-latest":
            return Target(Reference.LATEST)
        case "--to-current":
            return Target(Reference.CURRENT)
        case "--to-datetime":
            return Target(Reference.TIMESTAMP, parse_instant(str(value), option=name))
        case "--by-duration":
            return Target(Reference.TIMESTAMP, before(now_ms, parse_duration(str(value), option=name)))
        case "--shift-by":
            return Target(Reference.SHIFT, int(str(value)))
        case _:
            return Target(Reference.OFFSET, int(str(value)))
