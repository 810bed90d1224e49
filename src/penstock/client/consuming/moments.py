"""A moment, as callers give it and as brokers want it."""

from datetime import datetime

from penstock.client.errors import ConfigurationError


def milliseconds(when: datetime | int) -> int:
    """Milliseconds since 1970; a datetime must say of which time zone it is."""
    if isinstance(when, datetime):
        if when.tzinfo is None:
            raise ConfigurationError(f"{when!r} has no time zone: say datetime(..., tzinfo=UTC)")
        return int(when.timestamp() * 1000)
    if isinstance(when, bool) or not isinstance(when, int) or when < 0:
        raise ConfigurationError(f"{when!r} is no moment: give a datetime or milliseconds since 1970")
    return when
