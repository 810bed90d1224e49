"""Where two logs part ways, told by leader epochs (KIP-101, KIP-279, KIP-595).

Every batch carries the epoch of the leader that wrote it, and within an epoch there was one leader. So two
logs that have the same epoch at the same offset are equal up to there, and a follower needs only to ask how
far the leader has the epoch of its own last record. High watermarks would not do: a follower learns of them
late, and cutting at them throws away what was committed.
"""

from typing import NamedTuple, Protocol

from penstock.model.ids import NO_EPOCH


class EpochEnd(NamedTuple):
    """An epoch, and the offset behind the last record that was written in it."""

    epoch: int
    end_offset: int


class EpochHistory(Protocol):
    """Which epoch wrote what in one log; the log's own cache of it has this shape."""

    def epoch_at(self, offset: int) -> int:
        """The epoch that wrote ``offset``, or NO_EPOCH."""

    def end_of(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """The largest epoch not above ``epoch`` and where it ends; -1 and -1 if ``epoch`` is above all.

        An epoch below the first known one ends where that begins.
        """


def diverging_epoch(
    history: EpochHistory, *, log_end_offset: int, fetch_offset: int, last_fetched_epoch: int
) -> EpochEnd | None:
    """On the leader: where a follower that fetches like this has left our log; None if it has not.

    What the follower has is ours up to ``fetch_offset`` only if our log has the epoch of its last record, and
    has it at least that far.
    """
    if last_fetched_epoch == NO_EPOCH:
        return None
    epoch, end_offset = history.end_of(last_fetched_epoch, log_end_offset)
    if epoch == NO_EPOCH:
        # We are a leader that wrote nothing since, so our newest epoch is below the follower's.
        epoch, end_offset = history.epoch_at(log_end_offset - 1), log_end_offset
    if epoch in (last_fetched_epoch, NO_EPOCH) and end_offset >= fetch_offset:
        return None  # It is in our log, or we have nothing left to compare it with.
    return EpochEnd(epoch, end_offset)


def truncation_offset(history: EpochHistory, *, log_end_offset: int, leaders: EpochEnd) -> int:
    """On the follower: where to cut the log, given how far the leader has an epoch.

    If we have that epoch too, it is equal as far as both have it. If we do not, nothing of ours behind the
    largest epoch below it is the leader's; the next fetch then asks for that one (KIP-279).
    """
    epoch, end_offset = history.end_of(leaders.epoch, log_end_offset)
    if epoch == leaders.epoch or epoch == NO_EPOCH:
        known_end = log_end_offset if epoch == NO_EPOCH else end_offset
        return min(known_end, leaders.end_offset, log_end_offset)
    return min(end_offset, log_end_offset)
