"""A moment, as callers give it and as brokers want it."""

from datetime import UTC, datetime, timedelta

from penstock.client.errors import ConfigurationError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def milliseconds(when: datetime | int) -> int:
    """Milliseconds since 1970; a datetime must say of which time zone it is."""
    if isinstance(when, datetime):
        if when.tzinfo is None:
            raise ConfigurationError(f"{when!r} has no time zone: say datetime(..., tzinfo=UTC)")
        # In whole numbers, rounded up: nothing older. Below 0 is the brokers' name for something else.
        return max(0, -((_EPOCH - when) // _MILLISECOND))
    if isinstance(when, bool) or not isinstance(when, int) or when < 0:
        raise ConfigurationError(f"{when!r} is no moment: give a datetime or milliseconds since 1970")
    return when
