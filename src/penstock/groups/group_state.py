"""The states of a classic group, what each request gets in them, and every move between them.

Theory. A group lives in *generations*. A generation begins when everybody who wants to be in it has a
JoinGroup waiting: the join phase ends, all are answered at once, and one member, the leader, learns of all
the others. It decides who gets what and says so with SyncGroup; the others' SyncGroup requests wait for
that. Once the decision is in the log, all are answered and the group works. Whenever the membership changes
a new join phase begins; members learn of it from their heartbeats and join again.

::

              first join                  all have joined, or time is up
      Empty ─────────────> PreparingRebalance ─────────────> CompletingRebalance
        ▲                     │     ▲      ▲                    │          │
        │  nobody is left     │     │      └────────────────────┘          │ the leader's assignment
        └─────────────────────┘     │        somebody joins, leaves,       │ is in the log
                                    │        changes, dies, is late        ▼
                                    └─────────────────────────────────── Stable

Only Empty and Stable are written to the log: a group is loaded in one of them. The two between exist in
memory alone, and a coordinator that dies in them takes the round with it; its members find the old
generation and join again. That is why there are two tables: a move that is *decided* changes memory, a move
that is *replayed* follows a record. At load the records of a group's past are replayed one after the other,
so the replayed moves also lead from Empty and Stable to each other. Dead is the state of a group that is
deleted, or moved to another broker, or was never there.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from penstock.model.errors import InvariantError


class GroupState(StrEnum):
    """The states; their values are the names that DescribeGroups shows."""

    #: No members; there may be offsets, and ids given out to members to come.
    #: JoinGroup begins the first round; SyncGroup, Heartbeat, LeaveGroup: UNKNOWN_MEMBER_ID.
    #: OffsetCommit is taken from outside the group only.
    EMPTY = "Empty"

    #: The join phase. JoinGroup waits; SyncGroup and Heartbeat: REBALANCE_IN_PROGRESS. OffsetCommit is
    #: taken from members of the generation that ends: they finish their work before they join.
    PREPARING_REBALANCE = "PreparingRebalance"

    #: The sync phase. SyncGroup waits for the leader's; Heartbeat is fine; OffsetCommit:
    #: REBALANCE_IN_PROGRESS. JoinGroup gets this generation's answer again, unless the member has changed:
    #: then all begin anew.
    COMPLETING_REBALANCE = "CompletingRebalance"

    #: Everybody works. SyncGroup gets the assignment; Heartbeat and OffsetCommit are fine. JoinGroup of a
    #: follower that has not changed gets this generation's answer; any other begins a new round.
    STABLE = "Stable"

    #: Not there.
    DEAD = "Dead"


_EMPTY, _PREPARING, _COMPLETING, _STABLE, _DEAD = GroupState

DECIDED_MOVES: Mapping[GroupState, frozenset[GroupState]] = MappingProxyType(
    {
        _PREPARING: frozenset({_EMPTY, _COMPLETING, _STABLE}),
        _COMPLETING: frozenset({_PREPARING}),
    }
)
"""From where a state may be entered without a record."""

REPLAYED_MOVES: Mapping[GroupState, frozenset[GroupState]] = MappingProxyType(
    {
        _EMPTY: frozenset({_PREPARING, _EMPTY, _STABLE}),
        _STABLE: frozenset({_COMPLETING, _EMPTY, _STABLE}),
        _DEAD: frozenset({_EMPTY, _PREPARING, _COMPLETING, _STABLE}),
    }
)
"""From where a state may be entered when its record is replayed; from any, when the group goes away."""

REBALANCEABLE = DECIDED_MOVES[_PREPARING]
"""The states in which a new round can begin; in the others one is under way, or never will be."""


def check_move(
    group_id: str,
    before: GroupState,
    after: GroupState,
    *,
    moves: Mapping[GroupState, frozenset[GroupState]],
) -> None:
    """Raise ``InvariantError`` unless the table has this move."""
    if before not in moves.get(after, frozenset()):
        raise InvariantError(f"group {group_id!r} cannot go from {before} to {after}")
