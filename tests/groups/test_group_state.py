import pytest

from penstock.groups.group_state import (
    DECIDED_MOVES,
    REBALANCEABLE,
    REPLAYED_MOVES,
    GroupState,
    check_move,
)
from penstock.model.errors import InvariantError

EMPTY, PREPARING, COMPLETING, STABLE, DEAD = GroupState


def test_names_are_what_clients_see() -> None:
    assert list(GroupState) == ["Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead"]


def test_every_state_is_entered_in_one_way_only() -> None:
    assert set(DECIDED_MOVES) | set(REPLAYED_MOVES) == set(GroupState)
    assert not set(DECIDED_MOVES) & set(REPLAYED_MOVES)


def test_round_begins_in_every_state_but_itself_and_death() -> None:
    assert {EMPTY, COMPLETING, STABLE} == REBALANCEABLE


@pytest.mark.parametrize("before", GroupState)
@pytest.mark.parametrize("after", GroupState)
def test_moves_that_are_not_in_the_table_are_refused(before: GroupState, after: GroupState) -> None:
    for moves in (DECIDED_MOVES, REPLAYED_MOVES):
        if before in moves.get(after, ()):
            check_move("readers", before, after, moves=moves)
        else:
            with pytest.raises(InvariantError, match=f"from {before} to {after}"):
                check_move("readers", before, after, moves=moves)


def test_dead_groups_stay_dead() -> None:
    assert not [after for moves in (DECIDED_MOVES, REPLAYED_MOVES) for after in moves if DEAD in moves[after]]
