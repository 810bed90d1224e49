"""The thread that writes: soon, whole lines, and without a word when it cannot."""

import json
from pathlib import Path

from tests.broker.logging.logged import SetClock, entry
from tests.broker_process import wait_until

from penstock.broker.logging.bounded_queue import BoundedQueue
from penstock.broker.logging.file_writer import FileWriter
from penstock.broker.logging.log_files import CURRENT, FileLimits, LogFiles

LIMITS = FileLimits(file_bytes_max=1_000_000, age_ms_max=1_000, files_max=2)


def writer_in(directory: Path, queue: BoundedQueue) -> FileWriter:
    files = LogFiles(str(directory), LIMITS, SetClock())
    return FileWriter(queue, files, node_id=3, on_tick=lambda: None)


def events(directory: Path) -> list[str]:
    lines = (directory / CURRENT).read_text().splitlines()
    return [f"{document['node']}: {document['event']}" for document in map(json.loads, lines)]


def test_flush_returns_when_everything_is_written(tmp_path: Path) -> None:
    queue = BoundedQueue()
    writer = writer_in(tmp_path, queue)
    writer.start()
    for number in range(50):
        queue.put(entry(f"event {number}"))
    assert writer.flush(10.0)

    assert events(tmp_path) == [f"3: event {number}" for number in range(50)]
    writer.stop(10.0)


def test_what_came_before_the_start_and_the_stop_is_written(tmp_path: Path) -> None:
    queue = BoundedQueue()
    queue.put(entry("first"))
    writer = writer_in(tmp_path, queue)
    writer.start()
    queue.put(entry("last"))
    writer.stop(10.0)

    assert events(tmp_path) == ["3: first", "3: last"]


def test_entries_that_cannot_be_written_are_counted_and_later_ones_are_written(tmp_path: Path) -> None:
    place = tmp_path / "logs"
    place.write_text("a file where the directory should be")
    queue = BoundedQueue()
    writer = writer_in(place, queue)
    writer.start()
    queue.put(entry("lost"))
    wait_until(lambda: writer.trouble, what="the failure is noticed")
    assert queue.take_dropped() == {"info": 1}

    place.unlink()
    queue.put(entry("found"))
    writer.stop(10.0)
    assert events(place) == ["3: found"]
    assert writer.trouble == ""
