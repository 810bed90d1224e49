"""The sets of voters that a log names, each with the place from which it is in force.

A set is in force as soon as its entry is in the log, committed or not, and no longer when that entry is cut
off (section 6: "a server always uses the latest configuration in its log").
"""

from penstock.raft.entry import Entry, SnapshotId
from penstock.raft.voters import VoterSet


class VoterHistory:
    """From the set at the start of the log to the latest."""

    __slots__ = ("_sets",)

    def __init__(self, first: VoterSet, end_offset: int) -> None:
        #: The end of the entry that named a set, and the set; ascending, never empty.
        self._sets: list[tuple[int, VoterSet]] = [(end_offset, first)]

    @property
    def latest(self) -> VoterSet:
        """The set in force."""
        return self._sets[-1][1]

    @property
    def latest_end_offset(self) -> int:
        """Where the entry ends that named it."""
        return self._sets[-1][0]

    def at(self, offset: int) -> VoterSet:
        """The set in force at the end of everything below ``offset``."""
        return next((voters for end, voters in reversed(self._sets) if end <= offset), self._sets[0][1])

    def since(self, offset: int) -> tuple[VoterSet, ...]:
        """The set in force at ``offset`` and all later ones."""
        return (self.at(offset), *(voters for end, voters in self._sets if end > offset))

    def append(self, entry: Entry) -> None:
        """Take over the set that an entry names, if it does."""
        if entry.voters is not None:
            self._sets.append((entry.end_offset, entry.voters))

    def truncate(self, offset: int) -> None:
        """Entries from ``offset`` on are gone, and with them what they named."""
        while len(self._sets) > 1 and self._sets[-1][0] > offset:
            self._sets.pop()

    def drop_before(self, offset: int) -> None:
        """Forget what was replaced before ``offset``."""
        while len(self._sets) > 1 and self._sets[1][0] <= offset:
            del self._sets[0]

    def restart_at(self, snapshot_id: SnapshotId, voters: VoterSet) -> None:
        """Only the set of a snapshot counts."""
        self._sets = [(snapshot_id.end_offset, voters)]
