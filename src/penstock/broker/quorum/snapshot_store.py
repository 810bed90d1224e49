"""The snapshots beside the metadata log, by their ids. Everything but ``ids`` blocks."""

import logging
from collections.abc import Iterator

from penstock.broker.quorum.snapshot_format import SnapshotContent, decode_snapshot, encode_snapshot
from penstock.model.errors import CorruptLogError
from penstock.raft.entry import SnapshotId
from penstock.raft.log_reader import SnapshotPiece
from penstock.storage.filesystem import FileSystem
from penstock.storage.snapshot_files import SnapshotFiles

logger = logging.getLogger(__name__)

READ_BYTES = 8 * 1024 * 1024


class SnapshotStore:
    """Whole snapshots, and those whose pieces are arriving."""

    def __init__(self, filesystem: FileSystem, directory: str) -> None:
        self._files = SnapshotFiles.open(filesystem, directory)

    @property
    def ids(self) -> tuple[SnapshotId, ...]:
        """All whole ones, newest last."""
        return tuple(SnapshotId(*name) for name in self._files.present())

    def write(self, snapshot_id: SnapshotId, content: SnapshotContent, *, timestamp: int = 0) -> None:
        """Write a snapshot; it is durable when this returns, or not there."""
        position = 0
        for batch in encode_snapshot(content, snapshot_id, timestamp=timestamp):
            self.append(snapshot_id, position, bytes(batch))
            position += len(batch)
        self.complete(snapshot_id)

    def append(self, snapshot_id: SnapshotId, position: int, data: bytes) -> None:
        """Put a piece beside; one at position 0 begins anew."""
        self._files.append(*snapshot_id, position, data)

    def complete(self, snapshot_id: SnapshotId) -> None:
        """The pieces are a snapshot from now on, durably; the newest and the one before it are kept."""
        self._files.complete(*snapshot_id)

    def discard(self, snapshot_id: SnapshotId) -> None:
        """It is no snapshot after all."""
        self._files.discard(*snapshot_id)

    def read(self, snapshot_id: SnapshotId) -> SnapshotContent:
        """What a snapshot says; ``CorruptLogError`` if that is nothing."""
        data = bytearray()
        while (piece := self.read_piece(snapshot_id, len(data), READ_BYTES)) is not None:
            data += piece.data
            if not piece.data or len(data) >= piece.size_bytes:
                return decode_snapshot(data)
        raise CorruptLogError(f"snapshot {snapshot_id} is not there")

    def read_piece(self, snapshot_id: SnapshotId, position: int, bytes_max: int) -> SnapshotPiece | None:
        """A piece of a whole snapshot; None if it is no longer there."""
        piece = self._files.read_piece(*snapshot_id, position, bytes_max)
        return None if piece is None else SnapshotPiece(data=piece.data, size_bytes=piece.size_bytes)

    def readable(self) -> Iterator[tuple[SnapshotId, SnapshotContent]]:
        """Snapshots that can be read, newest first."""
        for snapshot_id in reversed(self.ids):
            try:
                content = self.read(snapshot_id)
            except CorruptLogError as error:
                logger.error(
                    "snapshot is unreadable", extra={"snapshot": str(snapshot_id), "reason": str(error)}
                )
            else:
                yield snapshot_id, content
