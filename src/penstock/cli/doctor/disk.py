"""The disk under the data directory: room, rights, what kind it is, and how long a flush takes."""

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from penstock.cli.doctor.directory_lock import holder_of
from penstock.cli.doctor.filesystem_type import filesystem_type
from penstock.cli.doctor.finding import Finding, ok, problem, warning
from penstock.cli.nodes.several_brokers import several_brokers
from penstock.cli.sizes import format_bytes

ROOM_BYTES_MIN = 100 * 1024 * 1024
ROOM_BYTES_WANTED = 1024 * 1024 * 1024
ROOM_SHARE_WANTED = 0.05

FLUSH_COUNT = 40
FLUSH_SECONDS_MAX = 2.0
FLUSH_BYTES = 4096
SLOW_FLUSH_MS = 20.0
IMPLAUSIBLE_FLUSH_MS = 0.02

_CHECK = "disk"
_ELSEWHERE = "Choose a directory on a local disk with --data-dir."

_VOLATILE = frozenset({"tmpfs", "ramfs"})
_REMOTE = frozenset({"nfs", "nfs4", "cifs", "smb3", "9p", "afs", "ceph", "glusterfs", "virtiofs"})


def check_disk(directory: Path) -> Iterator[Finding]:
    """Everything about where the data will lie; leaves nothing behind."""
    place = _nearest(directory)
    if several := several_brokers(str(directory)):
        yield ok(_CHECK, several)
    elif holder := holder_of(directory):
        yield ok(_CHECK, f"{directory} is held by process {holder}, a broker that runs")
    else:
        yield ok(_CHECK, f"{directory} is {'there and free' if place == directory else 'to be made'}")
    if not os.access(place, os.W_OK | os.X_OK):
        yield problem(
            _CHECK, f"{place} cannot be written by this user.", "Change its owner, or use --data-dir."
        )
        return
    yield _room(place)
    yield _kind(place)
    yield _flushes(place)


def _nearest(directory: Path) -> Path:
    """The directory itself or, before the first start, what it will be made in."""
    return next(each for each in (directory, *directory.absolute().parents) if each.is_dir())


def _room(place: Path) -> Finding:
    facts = os.statvfs(place)
    total, free = facts.f_frsize * facts.f_blocks, facts.f_frsize * facts.f_bavail
    text = f"{format_bytes(free)} of {format_bytes(total)} are free"
    if free < ROOM_BYTES_MIN:
        return problem(_CHECK, f"Only {text}.", "Free some space; a broker refuses writes on a full disk.")
    if free < ROOM_BYTES_WANTED or free < total * ROOM_SHARE_WANTED:
        return warning(_CHECK, f"Only {text}.", "Free some space, or limit topics with retention.bytes.")
    return ok(_CHECK, text)


def _kind(place: Path) -> Finding:
    kind = filesystem_type(place)
    if kind is None:
        return ok(_CHECK, "the kind of file system is not known")
    if kind in _VOLATILE:
        return warning(_CHECK, f"{kind} is memory: a restart of the machine loses everything.", _ELSEWHERE)
    if kind in _REMOTE or kind.startswith("fuse"):
        return warning(_CHECK, f"{kind} may lose what was flushed, or lock badly.", _ELSEWHERE)
    if kind == "overlay":
        return warning(
            _CHECK, "overlay is a container's own layer: it goes when the container does.", "Mount a volume."
        )
    return ok(_CHECK, f"file system {kind}")


def _flushes(place: Path) -> Finding:
    try:
        waits_ms = sorted(_measure(place))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return problem(_CHECK, f"Flushing a file in {place} failed: {reason}.", "Look at the kernel's log.")
    median, slow = waits_ms[len(waits_ms) // 2], waits_ms[len(waits_ms) * 9 // 10]
    text = f"a flush takes {median:.2f} ms, 9 of 10 less than {slow:.2f} ms"
    if median > SLOW_FLUSH_MS:
        return warning(
            _CHECK,
            f"Slow: {text}.",
            "Every acknowledgement waits for one; many producers share it. Prefer a local solid-state disk.",
        )
    if median < IMPLAUSIBLE_FLUSH_MS:
        return warning(
            _CHECK,
            f"Too good: {text}.",
            "The disk may answer before data are safe; fine for tests, doubtful where power may fail.",
        )
    return ok(_CHECK, text)


def _measure(place: Path) -> Iterator[float]:
    """Milliseconds of appends that are flushed one by one, into a file without a name."""
    deadline = time.monotonic() + FLUSH_SECONDS_MAX
    with tempfile.TemporaryFile(dir=place, buffering=0) as file:
        for _ in range(FLUSH_COUNT):
            began = time.monotonic()
            file.write(bytes(FLUSH_BYTES))
            os.fdatasync(file.fileno())
            ended = time.monotonic()
            yield (ended - began) * 1000
            if ended > deadline:
                return
