"""What a broker in a thread logs, kept for its test and kept out of everybody else's log.

The loggers are those of the whole process. While a broker runs here, its records go to its own list, as if it
were a process with a log file; records of any other thread go where they went before.
"""

import logging
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.broker.logging.formatters import HumanFormatter

LINES_KEPT_MAX = 2_000
TAIL_LINES = 60

PREFIX = "penstock.broker."
LEVEL = logging.INFO

_FORMATTER = HumanFormatter()


class BrokerLog:
    """The last lines of one broker's log, over all its lives."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=LINES_KEPT_MAX)

    def add(self, line: str) -> None:
        """Note a line."""
        self._lines.append(line)

    def text(self) -> str:
        """Everything that is kept."""
        return "\n".join(self._lines)

    def tail(self) -> str:
        """The end of it."""
        return "\n".join(list(self._lines)[-TAIL_LINES:])

    @contextmanager
    def of_this_thread(self) -> Iterator[None]:
        """Keep what the calling thread logs within the block."""
        _SORTER.add(threading.get_ident(), self)
        try:
            yield
        finally:
            _SORTER.remove(threading.get_ident())


class _Sorter(logging.Filter):
    """Takes records of brokers' threads out of the process's log, before any handler sees them.

    It sits on every logger of the broker: a filter of a parent does not see its children's records, and a
    logger that does not propagate is no hiding place, since pytest looks at those as well.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._logs: dict[int, BrokerLog] = {}
        #: The loggers it sits on, with the levels they had.
        self._levels: dict[logging.Logger, int] = {}

    def add(self, thread: int, log: BrokerLog) -> None:
        with self._lock:
            self._logs[thread] = log
            for logger in _broker_loggers():
                if logger not in self._levels:
                    self._levels[logger] = logger.level
                    logger.addFilter(self)
                    logger.setLevel(min(logger.level or LEVEL, LEVEL))

    def remove(self, thread: int) -> None:
        with self._lock:
            self._logs.pop(thread, None)
            if not self._logs:
                for logger, level in self._levels.items():
                    logger.removeFilter(self)
                    logger.setLevel(level)
                self._levels.clear()

    def filter(self, record: logging.LogRecord) -> bool:
        log = self._logs.get(record.thread or 0)
        if log is not None:
            log.add(_FORMATTER.format(record))
            return False
        return record.levelno >= self._level_of_others(record.name)

    def _level_of_others(self, name: str) -> int:
        """From where on records of other threads count, as if nobody had touched the logger."""
        logger = logging.getLogger(name)
        own = self._levels.get(logger, logger.level)
        if own or logger.parent is None:
            return own
        return self._level_of_others(logger.parent.name) if logger.parent.parent else logger.parent.level


def _broker_loggers() -> list[logging.Logger]:
    known = logging.Logger.manager.loggerDict
    return [
        logger
        for name, logger in list(known.items())
        if f"{name}.".startswith(PREFIX) and isinstance(logger, logging.Logger)
    ]


_SORTER = _Sorter()
