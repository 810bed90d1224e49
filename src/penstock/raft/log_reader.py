"""The seam to the log: what the machine must be able to look up, because it keeps only the newest entries.

It is never asked for an entry that was not reported as durable. The real one reads segments and snapshots,
mostly from memory; the simulated one has a list.
"""

from dataclasses import dataclass
from typing import Protocol

from penstock.raft.entry import Entry, SnapshotId


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotPiece:
    """Some bytes of a snapshot, and how many it has in all."""

    data: bytes
    size_bytes: int


class LogReader(Protocol):
    """Reads what is on disk. Changes nothing, and does not wait for anybody."""

    def read(self, offset: int, *, end_offset: int, bytes_max: int) -> tuple[Entry, ...]:
        """Entries in order from the one that begins at or contains ``offset``, none from ``end_offset`` on.

        At least one, however large. Where logs parted, another's entries may have ended inside of ours.
        Raises ``CorruptLogError`` if the disk gives back something else than was written.
        """

    def read_snapshot(self, snapshot_id: SnapshotId, position: int, bytes_max: int) -> SnapshotPiece | None:
        """A piece of a snapshot; None if it is no longer there."""
