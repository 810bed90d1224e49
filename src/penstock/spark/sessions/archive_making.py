"""Making an archive of class data, once for each pair of a Java and a Spark.

The archive holds the classes that were loaded when a Java ended, so a Spark is started for the purpose and
given some of the work that pipelines do. That costs half a minute of a core and half a gigabyte of memory:
it happens in the background, with the lowest priority, only one at a time, not on machines that are short of
memory or disk or that are thrown away afterwards (``CI``), and after a failure not again for a day.

Run as a program, ``python -m penstock.spark.sessions.archive_making`` makes the one that fits its
environment; that is what goes on in the background.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from penstock.spark.sessions.archive import Archive, archives_in
from penstock.spark.sessions.errors import SparkStartError
from penstock.spark.sessions.java import find_java
from penstock.spark.sessions.jvm import fitting_archive
from penstock.spark.sessions.surroundings import surroundings

OPTIONS_VARIABLE = "PENSTOCK_SPARK_TRAINING_OPTIONS"
"""How the training is told what to tell its Java."""

ARCHIVE_COUNT_MAX = 4
"""150 MB each; the least recently used go first."""

TRAINING_SECONDS_MAX = 600
RETRY_SECONDS = 24 * 3600
MEMORY_BYTES_MIN = 2 * 1024**3
DISK_BYTES_MIN = 1024**3
MEMORY_FACTS = Path("/proc/meminfo")


def make_archive() -> Path | None:
    """Make the archive that fits this environment now, and wait for it: half a minute, once.

    For images and machines that are prepared before they are used; otherwise it happens in the background
    after the first session. None if this Java or system cannot keep one, or another process is making it.
    """
    around = surroundings(os.environ)
    archive = fitting_archive(find_java(around.environment), around)
    if archive is None or archive.is_whole():
        return archive.path if archive is not None else None
    return archive.path if make(archive, around.environment) else None


def make(archive: Archive, environment: Mapping[str, str]) -> bool:
    """Make it and wait; False if another process is at it. Raises if it cannot be made."""
    with _alone(archive) as is_alone:
        if not is_alone:
            return False
        draft = archive.path.with_name(f"draft-{archive.path.name}")
        try:
            _train(archive, draft, environment)
            _accept(archive, draft)
        finally:
            for leftover in archive.path.parent.glob(f"{draft.name}*"):
                leftover.unlink()
        _forget_old(archive)
        return True


def make_in_background(archive: Archive, environment: Mapping[str, str]) -> bool:
    """See to it that it is made some time after now; False if this is no place or no time for that."""
    if "CI" in environment or _has_failed_lately(archive) or not _is_roomy(archive.path.parent):
        return False
    # The shell ends at once and leaves an orphan behind: no child of ours that somebody would have to await.
    command = 'exec nice -n 19 "$@" >/dev/null 2>&1 </dev/null &'
    program = [sys.executable, "-m", "penstock.spark.sessions.archive_making"]
    subprocess.run(
        ["/bin/sh", "-c", command, "sh", *program],
        env=dict(environment),
        check=True,
        start_new_session=True,
        timeout=10,
    )
    return True


@contextmanager
def _alone(archive: Archive) -> Iterator[bool]:
    with open(archive.path.with_name(f"{archive.path.name}.lock"), "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def _train(archive: Archive, draft: Path, environment: Mapping[str, str]) -> None:
    options = " ".join(archive.making_options(draft))
    with open(archive.log_path, "wb") as log:
        done = subprocess.run(
            [sys.executable, "-m", "penstock.spark.sessions.training"],
            env={**environment, OPTIONS_VARIABLE: options},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            timeout=TRAINING_SECONDS_MAX,
            check=False,
        )
    if done.returncode != 0 or not draft.exists():
        raise SparkStartError(
            f"No archive of class data could be made; Spark starts without. See {archive.log_path}."
        )


def _accept(archive: Archive, draft: Path) -> None:
    """From here on it is used: every byte is on disk before its size says that it is whole."""
    with open(draft, "rb") as file:
        os.fsync(file.fileno())
    archive.size_path.unlink(missing_ok=True)
    draft.replace(archive.path)
    archive.size_path.write_text(str(archive.path.stat().st_size))
    archive.log_path.unlink()


def _forget_old(archive: Archive) -> None:
    for path in archives_in(archive.path.parent)[ARCHIVE_COUNT_MAX:]:
        for part in path.parent.glob(f"{path.name}*"):
            part.unlink()


def _has_failed_lately(archive: Archive) -> bool:
    """The log is only kept of what failed, or is under way."""
    try:
        return time.time() - archive.log_path.stat().st_mtime < RETRY_SECONDS
    except FileNotFoundError:
        return False


def _is_roomy(directory: Path, facts: Path = MEMORY_FACTS) -> bool:
    if shutil.disk_usage(directory).free < DISK_BYTES_MIN:
        return False
    try:
        table = dict(line.split(":", 1) for line in facts.read_text().splitlines())
        return int(table["MemAvailable"].split()[0]) * 1024 >= MEMORY_BYTES_MIN
    except (OSError, ValueError, KeyError):
        return True


if __name__ == "__main__":
    make_archive()
