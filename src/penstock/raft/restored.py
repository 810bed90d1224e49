"""What a node finds on its disk when it starts."""

from dataclasses import dataclass

from penstock.model.errors import InvariantError
from penstock.raft.entry import NO_SNAPSHOT, Entry, SnapshotId
from penstock.raft.hard_state import NEW_HARD_STATE, HardState
from penstock.raft.log_reader import LogReader
from penstock.raft.log_view import LogView
from penstock.raft.settings import RaftSettings
from penstock.raft.terms import Terms
from penstock.raft.voter_history import VoterHistory
from penstock.raft.voters import NO_VOTERS, VoterSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """All of it durable: what was only read from a page cache is written and flushed again before.

    A log that ends before the snapshot, or disagrees with it at its end, is to be emptied first: a crash came
    between the two steps of an ``InstallOrder``.
    """

    hard_state: HardState = NEW_HARD_STATE
    snapshot_id: SnapshotId = NO_SNAPSHOT
    #: In force at the snapshot's end; without one, those that founded the cluster, if this node knows.
    voters: VoterSet = NO_VOTERS
    log_start_offset: int = 0
    #: Of the entry before the log's start; 0 when there was none.
    base_term: int = 0
    log_end_offset: int = 0
    #: Each term in the log with its first offset there, ascending.
    term_starts: tuple[tuple[int, int], ...] = ()
    #: The VOTERS entries in the log that lie behind the snapshot, in order.
    voter_entries: tuple[Entry, ...] = ()

    def __post_init__(self) -> None:
        if not self.log_start_offset <= self.snapshot_id.end_offset <= self.log_end_offset:
            raise InvariantError(
                f"a log from {self.log_start_offset} to {self.log_end_offset} does not reach its snapshot "
                f"{self.snapshot_id}"
            )


def restore_log(restored: Restored, reader: LogReader, settings: RaftSettings) -> LogView:
    """The log as it was left."""
    terms = Terms(
        start_offset=restored.log_start_offset,
        base_term=restored.base_term,
        end_offset=restored.log_end_offset,
        starts=restored.term_starts,
    )
    voters = VoterHistory(restored.voters, restored.snapshot_id.end_offset)
    for entry in restored.voter_entries:
        voters.append(entry)
    return LogView(
        terms=terms,
        voters=voters,
        snapshot_id=restored.snapshot_id,
        reader=reader,
        recent_bytes_max=settings.recent_bytes_max,
    )


def restore_hard_state(restored: Restored, log: LogView) -> HardState:
    """As it was saved; but entries of a later term may have come to disk before the term did.

    That term is over for this node with no vote given: a vote would have been on disk before it left.
    """
    hard = restored.hard_state
    if hard.term >= log.last_term:
        return hard
    return HardState(term=log.last_term, quarantined_below=hard.quarantined_below)
