"""The lines of standard input or of files, each with where it stands, so that a complaint can say so."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from penstock.cli.failure import CommandFailed

LINE_BYTES_MAX = 64 * 1024 * 1024
"""More than any broker takes as one record; a file without ends of lines must not fill the memory."""

_NO_FILE = "What follows the topic are files; to send text itself, `echo TEXT | penstock produce TOPIC`."
_PROGRESS_STEP_BYTES = 64 * 1024


class Line(NamedTuple):
    """One line without its end."""

    origin: str
    number: int
    text: bytes

    def __str__(self) -> str:
        return f"{self.origin}, line {self.number}"


def total_size(paths: Sequence[Path]) -> int:
    """Bytes of all files; one that cannot be read fails the command before anything is sent."""
    total = 0
    for path in paths:
        try:
            with path.open("rb") as file:
                total += os.fstat(file.fileno()).st_size
        except OSError as error:
            raise _unreadable(path, error) from error
    return total


def input_lines(paths: Sequence[Path], *, progress: Callable[[int], None]) -> Iterator[Line]:
    """Every line of the files in their order, or of standard input if there are none."""
    if not paths:
        yield from _lines(sys.stdin.buffer, "standard input", progress)
    for path in paths:
        try:
            with path.open("rb") as file:
                yield from _lines(file, str(path), progress)
        except OSError as error:
            raise _unreadable(path, error) from error


def _lines(stream: BinaryIO, origin: str, progress: Callable[[int], None]) -> Iterator[Line]:
    number = read = 0
    while text := stream.readline(LINE_BYTES_MAX + 1):
        number += 1
        if len(text) > LINE_BYTES_MAX:
            raise CommandFailed(f"{origin}, line {number} is longer than {LINE_BYTES_MAX} bytes.")
        yield Line(origin, number, text.removesuffix(b"\n"))
        read += len(text)
        if read >= _PROGRESS_STEP_BYTES:
            progress(read)
            read = 0
    progress(read)


def _unreadable(path: Path, error: OSError) -> CommandFailed:
    hint = _NO_FILE if isinstance(error, FileNotFoundError) else ""
    return CommandFailed(f"Cannot read {path}: {(error.strerror or str(error)).lower()}.", hint=hint)
