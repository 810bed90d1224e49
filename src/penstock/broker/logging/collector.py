"""Listens to the process's log and hands every event on to the files and to the topic.

Handing on is all that is done where an event is logged: no file, no socket, no waiting. What repeats itself
is counted instead (``repetitions``), and so is what finds a queue full; ``tick`` tells the counts.
"""

import logging
from collections.abc import Mapping

from penstock.broker.clock import Clock
from penstock.broker.logging.bounded_queue import BoundedQueue
from penstock.broker.logging.entry import LogEntry, make_entry
from penstock.broker.logging.formatters import component_of
from penstock.broker.logging.repetitions import Kind, LeftOut, Repetitions

COMPONENT = "penstock.broker.logging"
TOPIC_LEVEL = logging.INFO
"""Details stay in the files of whoever asked for them."""


class LogCollector(logging.Handler):
    """One for a process. The queues begin to fill at once; who empties them comes later, or never."""

    def __init__(self, clock: Clock, *, is_for_files: bool, is_for_topic: bool) -> None:
        super().__init__()
        self._clock = clock
        self.files = BoundedQueue() if is_for_files else None
        self.topic = BoundedQueue() if is_for_topic else None
        self._repetitions = Repetitions()

    def emit(self, record: logging.LogRecord) -> None:
        """An event was logged; the handler's lock is held."""
        kind = Kind(component_of(record), str(record.msg), record.levelno)
        if self._repetitions.admits(kind, self._now()):
            self._hand_on(make_entry(record))

    def tick(self) -> None:
        """Tell what was left out; to be called about once a second, from any one thread."""
        assert self.lock is not None
        with self.lock:
            left_out = self._repetitions.take_left_out(self._now())
        for each in left_out:
            self._hand_on(make_entry(_left_out_record(each, self._seconds())))
        for queue in (self.files, self.topic):
            if queue is not None and not queue.is_crowded:
                self._tell_dropped(queue)

    def _tell_dropped(self, queue: BoundedQueue) -> None:
        dropped = queue.take_dropped()
        if dropped:
            queue.put(make_entry(_dropped_record(dropped, self._seconds())))

    def _hand_on(self, entry: LogEntry) -> None:
        if self.files is not None:
            self.files.put(entry)
        if self.topic is not None and entry.level_number >= TOPIC_LEVEL and not entry.is_of_feed:
            self.topic.put(entry)

    def _now(self) -> int:
        return int(self._clock.monotonic() * 1000)

    def _seconds(self) -> float:
        return self._clock.wall_ms() / 1000


def _left_out_record(left_out: LeftOut, created: float) -> logging.LogRecord:
    fields = {
        "of_component": left_out.kind.component,
        "of_event": left_out.kind.event,
        "count": left_out.times,
    }
    return _record("repeated events were left out", fields, created)


def _dropped_record(dropped: Mapping[str, int], created: float) -> logging.LogRecord:
    return _record("entries were dropped", {"count": sum(dropped.values()), "by_level": dropped}, created)


def _record(event: str, fields: Mapping[str, object], created: float) -> logging.LogRecord:
    own = {"name": COMPONENT, "msg": event, "levelno": logging.WARNING, "levelname": "WARNING"}
    return logging.makeLogRecord({**own, "created": created, **fields})
