"""The thread that writes entries to files, so that a slow disk holds up nobody but itself.

It lives from the moment a process has its data directory until the process ends. It never logs: what it
cannot write is dropped and counted, and the count is in the file once there is room again.
"""

import threading
from collections.abc import Callable, Sequence

from penstock.broker.logging.bounded_queue import BoundedQueue
from penstock.broker.logging.entry import LogEntry
from penstock.broker.logging.log_files import LogFiles

TICK_SECONDS = 1.0
BATCH_ENTRIES_MAX = 1_000
BATCH_BYTES_MAX = 1024 * 1024


class FileWriter:
    """Takes entries out of a queue and appends them, until it is told to end."""

    def __init__(
        self, queue: BoundedQueue, files: LogFiles, *, node_id: int, on_tick: Callable[[], None]
    ) -> None:
        self._queue = queue
        self._files = files
        self._node_id = node_id
        #: Called about once a second on the writer's thread.
        self._on_tick = on_tick
        self._is_stopping = False
        self._is_idle = threading.Event()
        #: Why nothing can be written at present; empty while it can.
        self.trouble = ""
        # A daemon: whatever becomes of the disk, the process must be able to end.
        self._thread = threading.Thread(target=self._run, name="penstock-log-files", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def flush(self, seconds_max: float) -> bool:
        """Wait until everything that was logged before is written, but not for long; whether it was."""
        # The first round may have begun before; the second has not.
        return all(self._finish_round(seconds_max / 2) for _ in range(2))

    def stop(self, seconds_max: float) -> None:
        """Write what is there and end, within that time."""
        self._is_stopping = True
        self._queue.wake()
        self._thread.join(seconds_max)

    def _finish_round(self, seconds_max: float) -> bool:
        self._is_idle.clear()
        self._queue.wake()
        return self._is_idle.wait(seconds_max)

    def _run(self) -> None:
        while not self._is_stopping:
            self._queue.wait(TICK_SECONDS)
            self._on_tick()
            self._write_all()
            self._is_idle.set()
        self._write_all()
        self._files.close()

    def _write_all(self) -> None:
        while entries := self._queue.take(count_max=BATCH_ENTRIES_MAX, bytes_max=BATCH_BYTES_MAX):
            self._write(entries)

    def _write(self, entries: Sequence[LogEntry]) -> None:
        lines = b"".join(entry.line(self._node_id) + b"\n" for entry in entries)
        try:
            self._files.write(lines)
        except OSError as error:
            self._files.close()
            self.trouble = error.strerror or str(error)
            self._queue.count_dropped(entries)
        else:
            self.trouble = ""
