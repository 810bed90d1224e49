"""Entries and clocks for tests of the log."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.broker.logging.entry import LogEntry, make_entry
from penstock.model.ids import Millis

DAY_MS = 24 * 60 * 60 * 1000
NOON_MS = 20_000 * DAY_MS + DAY_MS // 2


class SetClock:
    """A clock that stands where it was put."""

    def __init__(self) -> None:
        self.now_ms = NOON_MS

    def wall_ms(self) -> Millis:
        return Millis(self.now_ms)

    def monotonic(self) -> float:
        return self.now_ms / 1000


def record(event: str, *, level: int = logging.INFO, **fields: object) -> logging.LogRecord:
    own = {
        "name": "penstock.broker.quorum",
        "msg": event,
        "levelno": level,
        "levelname": logging.getLevelName(level),
    }
    return logging.makeLogRecord({**own, "created": NOON_MS / 1000, **fields})


def entry(event: str = "started", *, level: int = logging.INFO, **fields: object) -> LogEntry:
    return make_entry(record(event, level=level, **fields))


@contextmanager
def listening(handler: logging.Handler) -> Iterator[logging.Logger]:
    """A logger that nobody else listens to."""
    logger = logging.Logger("penstock.broker.quorum", logging.DEBUG)
    logger.addHandler(handler)
    try:
        yield logger
    finally:
        logger.removeHandler(handler)
        handler.close()
