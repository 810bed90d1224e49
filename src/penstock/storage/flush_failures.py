"""Remembering that the disk failed to flush, so that a broker does not restart on it for ever.

After a failed flush the process exits: what the disk holds is unknown, and only a fresh start that reads and
rewrites it can find out. A supervisor may start it again, once. A disk that fails twice in ten minutes will
fail again, and every round risks more; from then on a person has to look.
"""

from penstock.model.errors import CorruptLogError, OperatingError, StorageError
from penstock.model.ids import Millis
from penstock.storage.atomic_file import write_atomically
from penstock.storage.filesystem import FileSystem, join_path

FLUSH_FAILURES_FILE = "flush-failures"
EXIT_CODE = 74
"""What the process exits with after a failed flush (``EX_IOERR``)."""

WINDOW_MS = 10 * 60 * 1000
FAILURES_MAX = 2
_REMEMBERED_MAX = 16


def keeps_from_restarting(error: StorageError) -> bool:
    """Whether a process that ends because of this notes it; one that has met rot may start again at once.

    Rot is no worse after another start, which repairs what others have, too, and refuses to begin otherwise.
    """
    return not isinstance(error, CorruptLogError)


def record_flush_failure(fs: FileSystem, directory: str, now: Millis) -> bool:
    """Note a failure before the process exits; False when the broken disk refused even that."""
    times = [*read_flush_failures(fs, directory), now][-_REMEMBERED_MAX:]
    content = "".join(f"{time}\n" for time in times).encode()
    try:
        write_atomically(fs, join_path(directory, FLUSH_FAILURES_FILE), content)
    except StorageError:
        return False
    return True


def read_flush_failures(fs: FileSystem, directory: str) -> list[Millis]:
    """When flushes failed; lines that cannot be read are skipped."""
    path = join_path(directory, FLUSH_FAILURES_FILE)
    if not fs.exists(path):
        return []
    lines = fs.read_file(path).decode("ascii", errors="replace").splitlines()
    return [Millis(int(line)) for line in lines[-_REMEMBERED_MAX:] if line.isdecimal()]


def check_flush_failures(fs: FileSystem, directory: str, now: Millis) -> None:
    """Refuse to start on a disk that has just failed repeatedly."""
    # A clock that was set back must not lock the broker out for longer than the window.
    recent = [time for time in read_flush_failures(fs, directory) if abs(now - time) <= WINDOW_MS]
    if len(recent) >= FAILURES_MAX:
        raise OperatingError(
            f"The disk of {directory} failed to flush {len(recent)} times within {WINDOW_MS // 60_000} "
            f"minutes, so this broker stays down. Look at the disk and the system's log, move the data to a "
            f"sound disk if it is failing, then remove {join_path(directory, FLUSH_FAILURES_FILE)} to start."
        )
