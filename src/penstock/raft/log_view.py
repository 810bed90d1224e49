"""What a node knows about its log: terms, voters, the newest entries; the rest is read through the seam.

It is ahead of the disk: an entry is here from the moment it is ordered to be written.
"""

from bisect import bisect_left

from penstock.model.errors import CorruptLogError, InvariantError
from penstock.raft.entry import Entry, SnapshotId
from penstock.raft.log_reader import LogReader, SnapshotPiece
from penstock.raft.terms import Terms
from penstock.raft.voter_history import VoterHistory
from penstock.raft.voters import VoterSet


class LogView:
    """One node's log in memory."""

    __slots__ = ("_reader", "_recent", "_recent_bytes", "_recent_bytes_max", "snapshot_id", "terms", "voters")

    def __init__(
        self,
        *,
        terms: Terms,
        voters: VoterHistory,
        snapshot_id: SnapshotId,
        reader: LogReader,
        recent_bytes_max: int,
    ) -> None:
        self.terms = terms
        self.voters = voters
        #: The newest one on disk; its end is ≥ the log's start, and committed.
        self.snapshot_id = snapshot_id
        self._reader = reader
        self._recent: list[Entry] = []
        self._recent_bytes = 0
        self._recent_bytes_max = recent_bytes_max

    @property
    def start_offset(self) -> int:
        """Of the first entry that is still there."""
        return self.terms.start_offset

    @property
    def end_offset(self) -> int:
        """Where the next entry goes."""
        return self.terms.end_offset

    @property
    def last_term(self) -> int:
        """Of the last entry."""
        return self.terms.last_term

    @property
    def snapshot_voters(self) -> VoterSet:
        """In force at the end of the newest snapshot."""
        return self.voters.at(self.snapshot_id.end_offset)

    def append(self, entry: Entry, *, durable_end: int) -> None:
        """Put an entry at the end; of those before ``durable_end`` only the newest are kept in memory."""
        if entry.offset != self.end_offset or entry.end_offset <= entry.offset:
            raise InvariantError(
                f"an entry from {entry.offset} to {entry.end_offset} cannot stand at {self.end_offset}"
            )
        self.terms.append(entry.term, entry.offset, entry.end_offset)
        self.voters.append(entry)
        self._recent.append(entry)
        self._recent_bytes += entry.size_bytes
        if self._recent_bytes > self._recent_bytes_max:
            self._forget_oldest(durable_end)

    def truncate(self, offset: int) -> None:
        """Cut off everything from ``offset`` on."""
        self.terms.truncate(offset)
        self.voters.truncate(offset)
        self._drop_recent(bisect_left(self._recent, offset, key=_offset_of), len(self._recent))

    def read(self, offset: int, *, bytes_max: int, entries_max: int) -> tuple[Entry, ...]:
        """Entries from ``offset`` on, at least one if one begins there; none at the end and inside of one.

        And none if they have rotted below the snapshot's end: it has what was in them. ``CorruptLogError`` if
        they are nowhere else.
        """
        if offset >= self.end_offset:
            return ()
        recent = self._recent
        if not recent or offset < recent[0].offset:
            end = recent[0].offset if recent else self.end_offset
            entries = self._read_old(offset, end_offset=end, bytes_max=bytes_max)[:entries_max]
        else:
            first = bisect_left(recent, offset, key=_offset_of)
            entries = _as_many_as_fit(recent[first : first + entries_max], bytes_max)
        return entries if entries and entries[0].offset == offset else ()

    def _read_old(self, offset: int, *, end_offset: int, bytes_max: int) -> tuple[Entry, ...]:
        try:
            return self._reader.read(offset, end_offset=end_offset, bytes_max=bytes_max)
        except CorruptLogError:
            if offset >= self.snapshot_id.end_offset:
                raise
            return ()

    def read_snapshot(self, snapshot_id: SnapshotId, position: int, bytes_max: int) -> SnapshotPiece | None:
        """A piece of a snapshot; None if that is gone, which the newest one must not be."""
        piece = self._reader.read_snapshot(snapshot_id, position, bytes_max)
        if piece is None and snapshot_id == self.snapshot_id:
            raise InvariantError(f"snapshot {snapshot_id} is gone, though no newer one was reported")
        return piece

    def snapshot_taken(self, snapshot_id: SnapshotId, log_start_offset: int) -> None:
        """A newer snapshot is there; entries below ``log_start_offset`` are not any more."""
        if self.terms.before(snapshot_id.end_offset) != snapshot_id.term:
            raise InvariantError(
                f"snapshot {snapshot_id} is not of this log, which ends at {self.end_offset}"
            )
        self.snapshot_id = snapshot_id
        self.terms.drop_before(log_start_offset)
        self.voters.drop_before(min(log_start_offset, snapshot_id.end_offset))
        self._drop_recent(0, bisect_left(self._recent, log_start_offset, key=_offset_of))

    def restart_at(self, snapshot_id: SnapshotId, voters: VoterSet) -> None:
        """A snapshot takes the place of everything."""
        self.snapshot_id = snapshot_id
        end_offset, term = snapshot_id
        self.terms = Terms(start_offset=end_offset, base_term=term, end_offset=end_offset)
        self.voters.restart_at(snapshot_id, voters)
        self._drop_recent(0, len(self._recent))

    def _forget_oldest(self, durable_end: int) -> None:
        """Halve what is kept, so that it happens seldom."""
        kept, number = self._recent_bytes, 0
        for entry in self._recent[:-1]:
            if kept <= self._recent_bytes_max // 2 or entry.end_offset > durable_end:
                break
            kept -= entry.size_bytes
            number += 1
        self._drop_recent(0, number)

    def _drop_recent(self, first: int, end: int) -> None:
        self._recent_bytes -= sum(entry.size_bytes for entry in self._recent[first:end])
        del self._recent[first:end]


def _offset_of(entry: Entry) -> int:
    return entry.offset


def _as_many_as_fit(entries: list[Entry], bytes_max: int) -> tuple[Entry, ...]:
    size = 0
    for number, entry in enumerate(entries):
        size += entry.size_bytes
        if size > bytes_max and number:
            return tuple(entries[:number])
    return tuple(entries)
