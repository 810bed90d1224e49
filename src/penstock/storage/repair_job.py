"""Making a damaged log usable again: what lies behind the damage is given up, the evidence is kept.

The order matters (disk rule 34): the report of the damage is there before anything is touched, and goes last,
so that a repair which is interrupted at any point is begun again. Between the two, what is damaged is copied
aside, the data directory takes back what it remembered of the log, and the files are cut.
"""

from collections.abc import Callable

from penstock.model.errors import StorageError
from penstock.storage.atomic_file import TEMPORARY_SUFFIX
from penstock.storage.batch_scan import CHECK_CHUNK_BYTES
from penstock.storage.damage_report import (
    CORRUPT_SUFFIX,
    EVIDENCE_SUFFIX,
    Damage,
    read_damage_reports,
    retire_damage_reports,
    write_damage_report,
)
from penstock.storage.filesystem import File, FileSystem, join_path
from penstock.storage.restart_job import RestartJob
from penstock.storage.rewind_job import RewindJob
from penstock.storage.segment import LOG_SUFFIX, file_name


class RepairJob:
    """Captured on the loop, run on any thread, repeated if it fails."""

    __slots__ = ("_damage", "_directory", "_filesystem", "_lower", "_reports_damage", "cut")

    def __init__(
        self,
        filesystem: FileSystem,
        directory: str,
        damage: Damage,
        cut: RewindJob | RestartJob,
        *,
        lower: Callable[[], None] | None,
        reports_damage: bool,
    ) -> None:
        self._filesystem = filesystem
        self._directory = directory
        self._damage = damage
        self._lower = lower
        #: Whether the disk had no room for a report when the damage was found.
        self._reports_damage = reports_damage
        #: What becomes of the log.
        self.cut = cut

    def run(self) -> None:
        """Keep the evidence, cut the files, and only then call the log sound. Blocks."""
        if self._reports_damage:
            path = join_path(self._directory, file_name(self._damage.offset, CORRUPT_SUFFIX))
            write_damage_report(self._filesystem, path, self._damage, {})
        self._keep_evidence()
        if self._lower is not None:
            self._lower()
        self.cut.run()
        retire_damage_reports(self._filesystem, self._directory)
        self._reports_damage = False

    def _keep_evidence(self) -> None:
        """Copy every segment that is said to be damaged, as far as an earlier attempt has not cut it yet."""
        damages = [self._damage, *read_damage_reports(self._filesystem, self._directory)]
        for name, position in sorted({(_name(damage.path), damage.position) for damage in damages}):
            path = join_path(self._directory, name)
            is_segment = name.endswith(LOG_SUFFIX) and self._filesystem.exists(path)
            if is_segment and self._filesystem.size(path) > position:
                _copy(self._filesystem, path, path + EVIDENCE_SUFFIX)
        self._filesystem.sync_directory(self._directory)


def _name(path: str) -> str:
    """The last part of a path: a report may be older than the directory's present place."""
    return path.rpartition("/")[2]


def _copy(filesystem: FileSystem, source_path: str, target_path: str) -> None:
    """Copy a file durably, but for its name."""
    temporary = target_path + TEMPORARY_SUFFIX
    source = filesystem.open(source_path)
    try:
        target = filesystem.open(temporary, create=True)
        try:
            target.truncate(0)
            _copy_bytes(source, target)
            target.flush()
        finally:
            target.close()
    except StorageError:
        filesystem.unlink(temporary)
        raise
    finally:
        source.close()
    filesystem.rename(temporary, target_path)


def _copy_bytes(source: File, target: File) -> None:
    size = source.size()
    for position in range(0, size, CHECK_CHUNK_BYTES):
        data = _read(source, position, min(CHECK_CHUNK_BYTES, size - position))
        target.write(position, [data])
    target.truncate(size)


def _read(source: File, position: int, length: int) -> bytes:
    """Some bytes; none where the disk cannot even read them, which leaves zeros in the copy."""
    try:
        return source.read(position, length)
    except StorageError:
        return b""
