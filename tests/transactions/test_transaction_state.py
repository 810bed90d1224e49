import pytest

from penstock.transactions.state import (
    EXITS,
    STATUS_NUMBERS,
    InvalidTransition,
    TransactionState,
    check_exit,
)

EMPTY, ONGOING = TransactionState.EMPTY, TransactionState.ONGOING
PREPARE_COMMIT, PREPARE_ABORT = TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT
COMPLETE_COMMIT, COMPLETE_ABORT = TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT

LEGAL = {
    *((origin, target) for origin in (EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT) for target in (EMPTY, ONGOING)),
    *((origin, PREPARE_ABORT) for origin in (EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT)),
    *((ONGOING, target) for target in (ONGOING, PREPARE_COMMIT, PREPARE_ABORT)),
    (PREPARE_COMMIT, COMPLETE_COMMIT),
    (PREPARE_ABORT, COMPLETE_ABORT),
}


@pytest.mark.parametrize("origin", TransactionState)
@pytest.mark.parametrize("target", TransactionState)
def test_moves_are_those_of_the_protocol_and_no_others(
    origin: TransactionState, target: TransactionState
) -> None:
    if (origin, target) in LEGAL:
        check_exit(origin, target, "story")
    else:
        with pytest.raises(InvalidTransition, match=f"from {origin} to {target}: story"):
            check_exit(origin, target, "story")


def test_every_state_is_in_every_table() -> None:
    assert set(EXITS) == set(STATUS_NUMBERS) == set(TransactionState)


def test_numbers_are_those_of_the_log_format() -> None:
    assert [STATUS_NUMBERS[state] for state in TransactionState if EXITS[state]] == [0, 1, 2, 3, 4, 5]
    assert STATUS_NUMBERS[TransactionState.DEAD] == 6
    assert STATUS_NUMBERS[TransactionState.PREPARE_EPOCH_FENCE] == 7


def test_a_state_is_at_rest_or_decided_or_open_or_never_entered() -> None:
    for state in TransactionState:
        groups = (state.is_at_rest, state.is_decided, state is ONGOING, not EXITS[state])
        assert sum(groups) == 1
