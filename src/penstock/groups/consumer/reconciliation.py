"""One step of a member towards what it is to have (KIP-848, reconciliation).

A partition is never given before whoever had it has let go. So a member first lets go of what is not its own
any more, staying at its epoch meanwhile, and only then moves on to the epoch of the assignment and is given
what is free. What is not free yet it gets with a later heartbeat.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from penstock.groups.consumer.member import MemberState, Progress
from penstock.groups.partitions import NOTHING_HELD, Held, Partitions, TopicIdPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What a member is to have, and when it may."""

    epoch: int
    target: Partitions
    #: Whether somebody else still holds a partition.
    is_held: Callable[[TopicIdPartition], bool]


def reconcile(progress: Progress, goal: Goal, owned: Partitions | None) -> Progress:
    """How far a member comes with a heartbeat in which it says what it owns (nothing said: as before)."""
    match progress.state:
        case MemberState.STABLE:
            return progress if progress.epoch == goal.epoch else _advance(progress, goal, owned)
        case MemberState.UNREVOKED_PARTITIONS:
            if _holds(owned, progress.revoking):
                return progress
            # What it owed is done. If the target has moved on meanwhile and it owes more, it does so at the
            # next epoch: its time begins anew.
            return _advance(progress, goal, owned, waits_at=progress.epoch + 1)
        case MemberState.UNRELEASED_PARTITIONS:
            return _advance(progress, goal, owned)


def _advance(
    progress: Progress, goal: Goal, owned: Partitions | None, *, waits_at: int | None = None
) -> Progress:
    kept = {each: epoch for each, epoch in progress.assigned.items() if each in goal.target}
    surplus = {each: epoch for each, epoch in progress.assigned.items() if each not in goal.target}
    if surplus and _holds(owned, surplus):
        return replace(
            progress if waits_at is None else progress.at(waits_at),
            state=MemberState.UNREVOKED_PARTITIONS,
            assigned=kept,
            revoking=surplus,
        )
    free = [each for each in sorted(goal.target) if each not in kept and not goal.is_held(each)]
    is_complete = len(kept) + len(free) == len(goal.target)
    return replace(
        progress.at(goal.epoch),
        state=MemberState.STABLE if is_complete else MemberState.UNRELEASED_PARTITIONS,
        assigned=kept | dict.fromkeys(free, goal.epoch),
        revoking=NOTHING_HELD,
    )


def _holds(owned: Partitions | None, held: Held) -> bool:
    """Whether a member still has some of these; one that does not say may have them all."""
    return owned is None or not owned.isdisjoint(held)
