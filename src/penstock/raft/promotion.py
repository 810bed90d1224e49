"""A new voter on its way: it must catch up first, or the cluster could commit nothing until it has.

Replication goes in rounds: each is as long as what the leader's log held when it began. The newcomer is ready
when a round took it less than an election timeout (dissertation, section 4.2.1).
"""

from dataclasses import dataclass

from penstock.model.ids import Millis
from penstock.raft.replica import Voter


@dataclass(slots=True, kw_only=True)
class Promotion:
    """One observer that is to get a vote."""

    token: int
    voter: Voter
    #: When it is given up.
    deadline: Millis
    round_began_at: Millis
    #: Where the log ended then.
    round_end_offset: int

    def has_caught_up(self, match_offset: int, *, end_offset: int, now: Millis, round_max_ms: int) -> bool:
        """Take note of how far it is; a round that took too long is followed by another."""
        if match_offset < self.round_end_offset:
            return False
        if now - self.round_began_at <= round_max_ms:
            return True
        self.round_began_at, self.round_end_offset = now, end_offset
        return False
