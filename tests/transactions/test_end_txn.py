"""EndTxn by both protocols, sentence by sentence (protocol notes, section 5.3)."""

import pytest
from tests.transactions.coordinator_driver import NAME, ORDERS, Coordinator, add_request, end_request

from penstock.model.error_codes import ErrorCode
from penstock.transactions.end_txn import TV1_ANSWERS
from penstock.transactions.state import EXITS, TransactionState
from penstock.transactions.version import TransactionVersion

TV1, TV2 = 4, 5
NOBODY = (-1, -1)
EMPTY, ONGOING = TransactionState.EMPTY, TransactionState.ONGOING
PREPARE_COMMIT, PREPARE_ABORT = TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT
COMPLETE_COMMIT, COMPLETE_ABORT = TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT
OK, FENCED, INVALID = ErrorCode.NONE, ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_TXN_STATE
CONCURRENT = ErrorCode.CONCURRENT_TRANSACTIONS


@pytest.fixture
def coordinator() -> Coordinator:
    return Coordinator()


@pytest.mark.parametrize("version", [TV1, TV2])
@pytest.mark.parametrize("is_commit", [True, False])
def test_end_is_decided_answered_marked_and_completed_in_this_order(
    coordinator: Coordinator, is_commit: bool, version: int
) -> None:
    identity = coordinator.put_in_state(ONGOING)
    coordinator.is_committing = False
    token = coordinator.submit(end_request(identity, is_commit), version)
    assert coordinator.current.state is (PREPARE_COMMIT if is_commit else PREPARE_ABORT)
    assert token not in coordinator.replies
    assert not coordinator.orders
    coordinator.commit()
    assert token in coordinator.replies
    assert [order.is_commit for order in coordinator.orders] == [is_commit]
    assert coordinator.current.state.is_decided
    coordinator.write_markers()
    assert coordinator.current.state is (COMPLETE_COMMIT if is_commit else COMPLETE_ABORT)
    assert coordinator.current.partitions == frozenset()


def test_markers_are_ordered_for_all_partitions_with_the_term_of_the_coordinator(
    coordinator: Coordinator,
) -> None:
    identity = coordinator.put_in_state(ONGOING)
    coordinator.add_offsets(identity, "readers")
    coordinator.end(identity, is_commit=True, version=TV1)
    (order,) = coordinator.orders
    assert order.transactional_id == NAME
    assert (order.producer_id, order.producer_epoch) == identity
    assert order.coordinator_epoch == coordinator.coordinator_epoch
    assert order.transaction_version is TransactionVersion.TV0
    assert order.partitions == tuple(sorted(coordinator.current.partitions))
    assert len(order.partitions) == 2


# The first protocol.


@pytest.mark.parametrize(
    ("state", "is_commit", "expected"),
    [
        (EMPTY, True, INVALID),
        (EMPTY, False, INVALID),
        (COMPLETE_COMMIT, True, OK),
        (COMPLETE_COMMIT, False, INVALID),
        (COMPLETE_ABORT, True, INVALID),
        (COMPLETE_ABORT, False, OK),
        (PREPARE_COMMIT, True, CONCURRENT),
        (PREPARE_COMMIT, False, INVALID),
        (PREPARE_ABORT, True, INVALID),
        (PREPARE_ABORT, False, CONCURRENT),
    ],
)
def test_tv1_without_an_open_transaction_writes_nothing(
    coordinator: Coordinator, state: TransactionState, is_commit: bool, expected: ErrorCode
) -> None:
    identity = coordinator.put_in_state(state, version=TV1)
    written = len(coordinator.log)
    assert coordinator.end(identity, is_commit=is_commit, version=TV1) == (expected, NOBODY)
    assert len(coordinator.log) == written


def test_tv1_keeps_the_identity(coordinator: Coordinator) -> None:
    identity = coordinator.put_in_state(COMPLETE_COMMIT, version=TV1)
    assert (coordinator.current.producer_id, coordinator.current.producer_epoch) == identity
    assert coordinator.add(identity) is OK


@pytest.mark.parametrize("state", [state for state in TransactionState if EXITS[state]])
def test_tv1_of_another_epoch_is_fenced_in_every_state(
    coordinator: Coordinator, state: TransactionState
) -> None:
    producer_id, epoch = coordinator.put_in_state(state, version=TV1)
    for wrong in (epoch + 1, epoch - 1):
        assert coordinator.end((producer_id, wrong), is_commit=True, version=TV1)[0] is FENCED


def test_tv1_answers_every_state() -> None:
    assert set(TV1_ANSWERS) == {state for state in TransactionState if EXITS[state]}


@pytest.mark.parametrize(("version", "expected"), [(1, ErrorCode.INVALID_PRODUCER_EPOCH), (2, FENCED)])
def test_clients_before_version_2_are_told_of_an_invalid_epoch(
    coordinator: Coordinator, version: int, expected: ErrorCode
) -> None:
    producer_id, _ = coordinator.put_in_state(ONGOING)
    assert coordinator.end((producer_id, 9), is_commit=True, version=version)[0] is expected


# The second protocol.


@pytest.mark.parametrize("is_commit", [True, False])
def test_tv2_raises_the_epoch_for_markers_and_owner(coordinator: Coordinator, is_commit: bool) -> None:
    producer_id, epoch = coordinator.put_in_state(ONGOING)
    raised = (producer_id, epoch + 1)
    assert coordinator.end((producer_id, epoch), is_commit=is_commit, version=TV2) == (OK, raised)
    (order,) = coordinator.write_markers()
    assert (order.producer_id, order.producer_epoch) == raised
    assert order.transaction_version is TransactionVersion.TV2
    assert coordinator.add((producer_id, epoch), version=5) is FENCED
    assert coordinator.add(raised, version=5) is OK


@pytest.mark.parametrize(
    ("state", "is_commit", "of_former", "of_owner"),
    [
        (EMPTY, False, FENCED, "raised"),
        (EMPTY, True, FENCED, INVALID),
        (COMPLETE_ABORT, False, OK, "raised"),
        (COMPLETE_ABORT, True, INVALID, INVALID),
        (COMPLETE_COMMIT, False, INVALID, "raised"),
        (COMPLETE_COMMIT, True, OK, INVALID),
        (PREPARE_ABORT, False, CONCURRENT, CONCURRENT),
        (PREPARE_ABORT, True, INVALID, CONCURRENT),
        (PREPARE_COMMIT, False, INVALID, CONCURRENT),
        (PREPARE_COMMIT, True, CONCURRENT, CONCURRENT),
    ],
)
def test_tv2_table(
    coordinator: Coordinator,
    state: TransactionState,
    is_commit: bool,
    of_former: ErrorCode,
    of_owner: ErrorCode | str,
) -> None:
    producer_id, epoch = coordinator.put_in_state(state, version=TV2)
    if state is EMPTY:  # Only a renewed producer has a former identity there.
        epoch = coordinator.init((producer_id, epoch)).producer_epoch
    owner = (producer_id, epoch)
    written = len(coordinator.log)
    answer_of_repetition = owner if of_former is OK else NOBODY
    former = coordinator.end((producer_id, epoch - 1), is_commit=is_commit, version=TV2)
    assert former == (of_former, answer_of_repetition)
    assert len(coordinator.log) == written
    answer = coordinator.end(owner, is_commit=is_commit, version=TV2)
    if of_owner == "raised":
        assert answer == (OK, (producer_id, epoch + 1))
        assert coordinator.current.state is COMPLETE_ABORT
    else:
        assert answer == (of_owner, NOBODY)
        assert len(coordinator.log) == written


def test_tv2_abort_of_nothing_is_complete_at_once_and_needs_no_markers(coordinator: Coordinator) -> None:
    producer_id, epoch = coordinator.initialised()
    coordinator.end((producer_id, epoch), is_commit=False, version=TV2)
    assert coordinator.states == [EMPTY, PREPARE_ABORT, COMPLETE_ABORT]
    assert not coordinator.orders
    assert coordinator.current.start_timestamp == coordinator.now


def test_tv2_repetition_is_answered_like_the_first_time_also_after_a_restart(
    coordinator: Coordinator,
) -> None:
    identity = coordinator.put_in_state(ONGOING)
    answered = coordinator.end(identity, is_commit=True, version=TV2)
    coordinator.restart()
    assert coordinator.end(identity, is_commit=True, version=TV2)[0] is CONCURRENT
    coordinator.write_markers()
    assert coordinator.end(identity, is_commit=True, version=TV2) == answered
    assert coordinator.end(identity, is_commit=False, version=TV2) == (INVALID, NOBODY)


def test_tv2_late_copy_does_not_end_the_next_transaction(coordinator: Coordinator) -> None:
    identity = coordinator.put_in_state(ONGOING)
    _, raised = coordinator.end(identity, is_commit=True, version=TV2)
    coordinator.write_markers()
    coordinator.add(raised, version=5)
    assert coordinator.end(identity, is_commit=True, version=TV2) == (FENCED, NOBODY)
    assert coordinator.current.state is ONGOING


def test_tv2_at_the_last_epoch_goes_on_with_a_new_producer_id(coordinator: Coordinator) -> None:
    identity = coordinator.raise_epoch_to(32766)
    coordinator.add(identity, ORDERS, version=5)
    assert coordinator.end(identity, is_commit=True, version=TV2) == (OK, (1, 0))
    (order,) = coordinator.orders
    assert (order.producer_id, order.producer_epoch) == (identity[0], 32767)
    assert coordinator.end(identity, is_commit=True, version=TV2) == (CONCURRENT, NOBODY)
    coordinator.restart()
    coordinator.write_markers()
    assert (coordinator.current.producer_id, coordinator.current.producer_epoch) == (1, 0)
    assert coordinator.end(identity, is_commit=True, version=TV2) == (OK, (1, 0))


def test_tv2_at_the_last_epoch_with_a_dry_pool_decides_nothing(coordinator: Coordinator) -> None:
    identity = coordinator.raise_epoch_to(32766)
    coordinator.add(identity, ORDERS, version=5)
    ids = list(coordinator.pool)
    coordinator.pool.clear()
    answer = coordinator.end(identity, is_commit=True, version=TV2)
    assert answer == (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, NOBODY)
    assert coordinator.current.state is ONGOING
    coordinator.pool.extend(ids)
    assert coordinator.end(identity, is_commit=True, version=TV2)[0] is OK


def test_tv2_epoch_after_a_takeover_is_not_told_to_the_old_owner(coordinator: Coordinator) -> None:
    old = coordinator.put_in_state(ONGOING)
    coordinator.init()
    coordinator.write_markers()
    assert coordinator.end(old, is_commit=False, version=TV2) == (FENCED, NOBODY)


# Both.


@pytest.mark.parametrize("version", [TV1, TV2])
def test_unknown_name_and_unknown_producer_id_are_mapping_errors(
    coordinator: Coordinator, version: int
) -> None:
    mapping = ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert coordinator.end((0, 0), is_commit=True, version=version)[0] is mapping
    producer_id, epoch = coordinator.put_in_state(ONGOING)
    assert coordinator.end((producer_id + 7, epoch), is_commit=True, version=version)[0] is mapping


@pytest.mark.parametrize("version", [TV1, TV2])
def test_empty_name_is_refused(coordinator: Coordinator, version: int) -> None:
    answer = coordinator.end((0, 0), is_commit=True, version=version, name="")
    assert answer[0] is ErrorCode.INVALID_REQUEST


def test_protocols_alternate_on_one_id(coordinator: Coordinator) -> None:
    producer_id, epoch = coordinator.put_in_state(COMPLETE_COMMIT, version=TV1)
    coordinator.add((producer_id, epoch), version=5)
    assert coordinator.end((producer_id, epoch), is_commit=True, version=TV2)[1] == (producer_id, epoch + 1)
    coordinator.write_markers()
    coordinator.add((producer_id, epoch + 1), version=3)
    assert coordinator.end((producer_id, epoch + 1), is_commit=True, version=TV1) == (OK, NOBODY)
    (order,) = coordinator.write_markers()
    assert order.producer_epoch == epoch + 1


def test_late_addition_to_a_decided_transaction_is_refused(coordinator: Coordinator) -> None:
    identity = coordinator.put_in_state(ONGOING)
    coordinator.is_committing = False
    end = coordinator.submit(end_request(identity, True), TV1)
    late = coordinator.submit(add_request(identity, [ORDERS]), 3)
    coordinator.commit()
    assert {end, late} <= coordinator.replies.keys()
    assert coordinator.current.state is PREPARE_COMMIT
