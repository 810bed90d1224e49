"""Searching the JSON files of brokers that may not be up."""

import os
from collections.abc import Iterator
from pathlib import Path

from penstock.client.logs.entry import parse_entry
from penstock.client.logs.newest import Newest
from penstock.client.logs.query import LogFilter, LogQuery
from penstock.model.errors import UsageError

LINE_BYTES_MAX = 1024 * 1024
FILES_PATTERN = "penstock*.jsonl"
PLACES = (".", "logs", "*/logs", "*")
"""In a directory of log files, a broker's data directory, or one that holds those of several brokers."""


def search_files(directory: Path, query: LogQuery) -> Newest:
    """What the log files in a directory have to say; ``UsageError`` where there are none."""
    wanted = LogFilter(query)
    found = Newest(query.limit)
    for path in log_files(directory):
        if query.since_ms is not None and os.stat(path).st_mtime * 1000 < query.since_ms:
            continue
        for line in _lines(path):
            entry = parse_entry(line)
            if entry is not None and wanted.admits(entry):
                found.add(entry)
    return found


def log_files(directory: Path) -> list[Path]:
    """The log files of one or several brokers below a directory."""
    paths = {path for place in PLACES for path in directory.glob(f"{place}/{FILES_PATTERN}")}
    if not paths:
        raise UsageError(
            f"{directory} holds no log files; name a data directory, or what server.log.dir names."
        )
    return sorted(paths)


def _lines(path: Path) -> Iterator[bytes]:
    """Whole lines; what is longer than any entry is passed over in pieces that are none."""
    with path.open("rb") as file:
        while line := file.readline(LINE_BYTES_MAX):
            yield line
