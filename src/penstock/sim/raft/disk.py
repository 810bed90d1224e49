"""The disk of one simulated node: what was ordered, and how much of it is safe.

Two files, as in a broker: the hard state, and the log. Orders that were not flushed when a node crashes are
kept up to a random one, in each file for itself, and of the log's last kept append a random part.
"""

from dataclasses import dataclass, field, replace
from itertools import groupby
from random import Random

from penstock.raft.entry import NO_SNAPSHOT, Entry, SnapshotId
from penstock.raft.hard_state import NEW_HARD_STATE, HardState
from penstock.raft.log_reader import SnapshotPiece
from penstock.raft.output import Output
from penstock.raft.restored import Restored
from penstock.raft.voters import VoterSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A state, and what stands with it."""

    snapshot_id: SnapshotId
    voters: VoterSet
    content: bytes


@dataclass(slots=True)
class Files:
    """What the files hold."""

    hard_state: HardState
    snapshot: Snapshot
    log_start_offset: int = 0
    base_term: int = 0
    entries: list[Entry] = field(default_factory=list)

    @property
    def end_offset(self) -> int:
        """Where the log ends."""
        return self.entries[-1].end_offset if self.entries else self.log_start_offset

    def copy(self) -> "Files":
        """The same, to be changed."""
        return replace(self, entries=list(self.entries))

    def write_log(self, output: Output) -> None:
        """Cut and append."""
        if output.truncate_to is not None:
            while self.entries and self.entries[-1].end_offset > output.truncate_to:
                self.entries.pop()
        self.entries.extend(output.append)

    def drop_before(self, offset: int) -> None:
        """Let the log start there, or at the next entry."""
        number = 0
        while number < len(self.entries) and self.entries[number].end_offset <= offset:
            self.base_term = self.entries[number].term
            number += 1
        if number:
            self.log_start_offset = self.entries[number - 1].end_offset
            del self.entries[:number]

    def empty_log(self) -> None:
        """Only the snapshot is left."""
        self.log_start_offset, self.base_term = self.snapshot.snapshot_id
        self.entries.clear()

    def term_before(self, offset: int) -> int | None:
        """Of the entry that ends there; None if there is none."""
        if offset == self.log_start_offset:
            return self.base_term
        return next((entry.term for entry in reversed(self.entries) if entry.end_offset == offset), None)


class NodeDisk:
    """The files as the process sees them, as a crash would leave them, and what lies between."""

    def __init__(self, founders: VoterSet) -> None:
        first = Snapshot(snapshot_id=NO_SNAPSHOT, voters=founders, content=b"")
        #: With everything that was ordered; what the process reads.
        self.files = Files(hard_state=NEW_HARD_STATE, snapshot=first)
        #: What survives whatever happens.
        self.durable = self.files.copy()
        #: Orders that were not flushed, oldest first.
        self.pending: list[Output] = []

    def order(self, output: Output) -> None:
        """Take an output's orders."""
        if output.persist is not None:
            self.files.hard_state = output.persist
        self.files.write_log(output)
        self.pending.append(output)

    def flushed(self, count: int) -> None:
        """The oldest ``count`` orders are safe."""
        for output in self.pending[:count]:
            if output.persist is not None:
                self.durable.hard_state = output.persist
            self.durable.write_log(output)
        del self.pending[:count]

    def replace_snapshot(self, snapshot: Snapshot) -> None:
        """A snapshot is safe, the log as it was."""
        self.files.snapshot = self.durable.snapshot = snapshot

    def drop_log_before(self, offset: int) -> None:
        """Entries that a snapshot has are deleted."""
        self.files.drop_before(offset)
        self.durable.drop_before(offset)

    def empty_log(self) -> None:
        """A snapshot takes the place of the log. Nothing may be pending."""
        self.files.empty_log()
        self.durable.empty_log()

    def crash(self, draw: Random) -> None:
        """Lose some of what was not flushed."""
        kept_states = draw.randint(0, len(self.pending))
        kept_writes = draw.randint(0, len(self.pending))
        for output in self.pending[:kept_states]:
            if output.persist is not None:
                self.durable.hard_state = output.persist
        for number, output in enumerate(self.pending[:kept_writes], start=1):
            is_last = number == kept_writes
            part = draw.randint(0, len(output.append)) if is_last else len(output.append)
            self.durable.write_log(replace(output, append=output.append[:part]))
        self.pending.clear()
        self.files = self.durable.copy()

    def restore(self) -> Restored:
        """What a start finds; an installation that was interrupted is finished."""
        files = self.files
        snapshot_id = files.snapshot.snapshot_id
        if files.term_before(snapshot_id.end_offset) != snapshot_id.term:
            self.empty_log()
        return Restored(
            hard_state=files.hard_state,
            snapshot_id=snapshot_id,
            voters=files.snapshot.voters,
            log_start_offset=files.log_start_offset,
            base_term=files.base_term,
            log_end_offset=files.end_offset,
            term_starts=tuple(
                (term, next(entries).offset)
                for term, entries in groupby(files.entries, lambda each: each.term)
            ),
            voter_entries=tuple(
                entry
                for entry in files.entries
                if entry.voters is not None and entry.end_offset > snapshot_id.end_offset
            ),
        )

    def read(self, offset: int, *, end_offset: int, bytes_max: int) -> tuple[Entry, ...]:
        """Entries, for the machine."""
        found: list[Entry] = []
        size = 0
        for entry in self.files.entries:
            if offset <= entry.offset < end_offset:
                size += entry.size_bytes
                if found and size > bytes_max:
                    break
                found.append(entry)
        return tuple(found)

    def read_snapshot(self, snapshot_id: SnapshotId, position: int, bytes_max: int) -> SnapshotPiece | None:
        """A piece of the snapshot, for the machine."""
        snapshot = self.files.snapshot
        if snapshot.snapshot_id != snapshot_id:
            return None
        data = snapshot.content[position : position + bytes_max]
        return SnapshotPiece(data=data, size_bytes=len(snapshot.content))
