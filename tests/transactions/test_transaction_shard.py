"""What a shard does by itself: markers, timeouts, forgetting, recovery, and its own checks."""

from dataclasses import replace

import pytest
from tests.transactions.coordinator_driver import (
    NAME,
    ORDERS,
    PAYMENTS,
    TIMEOUT_MS,
    Coordinator,
    init_request,
)

from penstock.coordinator.events import RequestReceived, TopicsDeleted
from penstock.coordinator.outcome import NOTHING, CoordinatorRecord
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import InvariantError
from penstock.model.ids import Millis, TopicId, TopicPartition
from penstock.transactions.encoding import to_record
from penstock.transactions.events import MarkersWritten
from penstock.transactions.state import TransactionState
from penstock.wire.messages.end_txn import EndTxnResponse

EMPTY, ONGOING = TransactionState.EMPTY, TransactionState.ONGOING
PREPARE_COMMIT, PREPARE_ABORT = TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT
COMPLETE_COMMIT, COMPLETE_ABORT = TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT
WEEK_MS = 7 * 24 * 60 * 60 * 1000


@pytest.fixture
def coordinator() -> Coordinator:
    return Coordinator()


@pytest.fixture
def decided(coordinator: Coordinator) -> Coordinator:
    """With a transaction over two partitions that is decided to be committed."""
    identity = coordinator.put_in_state(ONGOING)
    coordinator.add(identity, PAYMENTS)
    coordinator.end(identity, is_commit=True)
    return coordinator


# Markers.


def test_transaction_is_complete_when_the_last_marker_is_written(decided: Coordinator) -> None:
    (order,) = decided.orders
    assert decided.report(order, [ORDERS]) is NOTHING
    assert decided.current.state is PREPARE_COMMIT
    decided.report(order, [PAYMENTS])
    assert decided.current.state is COMPLETE_COMMIT


def test_marker_reported_twice_counts_once(decided: Coordinator) -> None:
    (order,) = decided.orders
    assert decided.report(order, [ORDERS]) is NOTHING
    assert decided.report(order, [ORDERS]) is NOTHING
    decided.report(order)
    written = len(decided.log)
    assert decided.report(order) is NOTHING
    assert len(decided.log) == written


def test_late_report_does_not_complete_the_next_transaction_of_the_same_epoch(decided: Coordinator) -> None:
    (order,) = decided.write_markers()
    identity = (order.producer_id, order.producer_epoch)
    decided.add(identity, ORDERS)
    decided.end(identity, is_commit=True)
    assert decided.report(order) is NOTHING
    assert decided.current.state is PREPARE_COMMIT
    (next_order,) = decided.write_markers()
    assert next_order.number > order.number
    assert decided.current.state is COMPLETE_COMMIT


def test_report_for_an_id_that_is_forgotten_is_ignored(decided: Coordinator) -> None:
    (order,) = decided.write_markers()
    decided.pass_time(WEEK_MS)
    assert decided.shard.get(NAME) is None
    assert decided.report(order) is NOTHING


def test_report_of_partitions_that_were_not_ordered_is_ignored(decided: Coordinator) -> None:
    (order,) = decided.orders
    assert decided.report(order, [TopicPartition("others", 1)]) is NOTHING
    assert decided.current.state is PREPARE_COMMIT


def test_deleted_topics_need_no_markers(decided: Coordinator) -> None:
    assert decided.handle(TopicsDeleted(topics={"unrelated": TopicId(b"u" * 16)})) is NOTHING
    assert decided.handle(TopicsDeleted(topics={PAYMENTS.topic: TopicId(b"p" * 16)})) is NOTHING
    decided.handle(TopicsDeleted(topics={ORDERS.topic: TopicId(b"o" * 16)}))
    assert decided.current.state is COMPLETE_COMMIT


# Restarts.


@pytest.mark.parametrize("is_commit", [True, False])
@pytest.mark.parametrize("version", [4, 5])
def test_restart_after_the_decision_orders_all_markers_again(
    coordinator: Coordinator, is_commit: bool, version: int
) -> None:
    state = PREPARE_COMMIT if is_commit else PREPARE_ABORT
    coordinator.put_in_state(state, version=version)
    (before,) = coordinator.orders
    coordinator.restart()
    (after,) = coordinator.orders
    expected = replace(before, coordinator_epoch=before.coordinator_epoch + 1, number=after.number)
    assert after == expected
    assert after.number > before.number
    coordinator.write_markers()
    assert coordinator.current.state is (COMPLETE_COMMIT if is_commit else COMPLETE_ABORT)


def test_restart_forgets_which_markers_were_reported(decided: Coordinator) -> None:
    (order,) = decided.orders
    decided.report(order, [ORDERS])
    decided.restart()
    (again,) = decided.orders
    assert again.partitions == (ORDERS, PAYMENTS)
    assert decided.report(order) is NOTHING
    decided.report(again)
    assert decided.current.state is COMPLETE_COMMIT


def test_restart_before_the_decision_is_committed_undoes_it(coordinator: Coordinator) -> None:
    identity = coordinator.put_in_state(ONGOING)
    coordinator.is_committing = False
    outcome = coordinator.handle(
        RequestReceived(token=77, request=init_request(), api_version=5)  # Aborts the open transaction.
    )
    assert outcome.records
    coordinator.restart()
    coordinator.is_committing = True
    assert coordinator.current.state is ONGOING
    assert not coordinator.orders
    assert coordinator.end(identity, is_commit=True)[0] is ErrorCode.NONE


def test_restart_completes_a_decision_without_partitions(coordinator: Coordinator) -> None:
    """We write both states in one batch; somebody else's log may end between them."""
    coordinator.initialised()
    aborted = coordinator.current.prepare_end_raising_epoch(
        is_commit=False, now=coordinator.now, fresh_id=coordinator.pool.popleft
    )
    coordinator.log.append(to_record(aborted))
    coordinator.commit()
    coordinator.restart()
    assert coordinator.current.state is COMPLETE_ABORT


@pytest.mark.parametrize("state", [EMPTY, ONGOING, PREPARE_COMMIT, PREPARE_ABORT, COMPLETE_COMMIT])
@pytest.mark.parametrize("version", [4, 5])
def test_restart_finds_everything_as_it_was(
    coordinator: Coordinator, state: TransactionState, version: int
) -> None:
    coordinator.put_in_state(state, version=version)
    before, deadline = coordinator.current, coordinator.shard.next_deadline()
    coordinator.restart()
    assert coordinator.current == before
    assert coordinator.shard.next_deadline() == deadline


def test_replay_skips_records_of_a_kind_it_does_not_know(coordinator: Coordinator) -> None:
    coordinator.shard.replay(CoordinatorRecord(key=b"\x00\x63whatever", value=b""), offset=0)
    assert len(coordinator.shard) == 0


def test_replay_of_a_tombstone_for_an_unknown_id_is_nothing(coordinator: Coordinator) -> None:
    coordinator.initialised()
    coordinator.pass_time(WEEK_MS)
    coordinator.shard.replay(coordinator.log[-1], offset=99)
    assert len(coordinator.shard) == 0


def test_markers_in_the_partition_itself_mean_nothing(coordinator: Coordinator) -> None:
    coordinator.put_in_state(ONGOING)
    before = coordinator.current
    coordinator.shard.complete_transaction(0, 0, True)
    assert coordinator.current == before


# Timeouts.


def test_open_transaction_is_aborted_under_a_raised_epoch_when_its_time_is_over(
    coordinator: Coordinator,
) -> None:
    producer_id, epoch = coordinator.put_in_state(ONGOING)
    assert coordinator.shard.next_deadline() == coordinator.now + TIMEOUT_MS
    coordinator.pass_time(TIMEOUT_MS - 1)
    assert coordinator.current.state is ONGOING
    coordinator.pass_time(1)
    assert coordinator.current.state.is_decided
    (order,) = coordinator.write_markers()
    assert (order.producer_id, order.producer_epoch, order.is_commit) == (producer_id, epoch + 1, False)
    assert coordinator.current.state is COMPLETE_ABORT


def test_timeout_counts_from_the_first_partition(coordinator: Coordinator) -> None:
    identity = coordinator.put_in_state(ONGOING)
    coordinator.pass_time(TIMEOUT_MS - 1)
    coordinator.add(identity, PAYMENTS)
    coordinator.pass_time(1)
    assert coordinator.current.state is PREPARE_ABORT


def test_timeout_goes_on_over_a_restart(coordinator: Coordinator) -> None:
    coordinator.put_in_state(ONGOING)
    coordinator.pass_time(TIMEOUT_MS - 1)
    coordinator.restart()
    assert coordinator.shard.next_deadline() == coordinator.now + 1
    coordinator.pass_time(1)
    assert coordinator.current.state is PREPARE_ABORT


@pytest.mark.parametrize("state", [PREPARE_COMMIT, PREPARE_ABORT])
def test_decided_transaction_has_no_timeout(coordinator: Coordinator, state: TransactionState) -> None:
    coordinator.put_in_state(state)
    coordinator.pass_time(TIMEOUT_MS * 10)
    assert coordinator.current.state is state


def test_producer_whose_transaction_timed_out_is_fenced_by_the_first_protocol(
    coordinator: Coordinator,
) -> None:
    identity = coordinator.put_in_state(ONGOING)
    coordinator.pass_time(TIMEOUT_MS)
    assert coordinator.end(identity, is_commit=True)[0] is ErrorCode.PRODUCER_FENCED
    coordinator.write_markers()
    assert coordinator.end(identity, is_commit=False)[0] is ErrorCode.PRODUCER_FENCED
    assert coordinator.add(identity) is ErrorCode.PRODUCER_FENCED


def test_producer_whose_transaction_timed_out_may_go_on_by_the_second_protocol_or_renewal(
    coordinator: Coordinator,
) -> None:
    producer_id, epoch = coordinator.put_in_state(ONGOING)
    coordinator.pass_time(TIMEOUT_MS)
    coordinator.write_markers()
    raised = (producer_id, epoch + 1)
    assert coordinator.end((producer_id, epoch), is_commit=True, version=5)[0] is ErrorCode.INVALID_TXN_STATE
    assert coordinator.end((producer_id, epoch), is_commit=False, version=5) == (ErrorCode.NONE, raised)
    response = coordinator.init((producer_id, epoch))
    assert (response.producer_id, response.producer_epoch) == raised


def test_timeout_at_the_last_epoch_waits_for_a_producer_id(coordinator: Coordinator) -> None:
    identity = coordinator.raise_epoch_to(32766)
    coordinator.add(identity)
    coordinator.pool.clear()
    coordinator.pass_time(TIMEOUT_MS)
    assert coordinator.current.state is ONGOING
    coordinator.pool.append(500)
    coordinator.pass_time(1_000)
    coordinator.write_markers()
    assert coordinator.current.state is COMPLETE_ABORT
    assert coordinator.end(identity, is_commit=False, version=5) == (ErrorCode.NONE, (500, 0))


def test_many_timeouts_are_dealt_with_in_bounded_batches(
    coordinator: Coordinator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.transactions.shard.TRANSACTIONS_PER_TICK_MAX", 2)
    for number in range(5):
        identity = coordinator.initialised(name=f"app-{number}")
        coordinator.add(identity, name=f"app-{number}")
    coordinator.now = Millis(coordinator.now + TIMEOUT_MS)
    assert [len(coordinator.tick().records) for _ in range(4)] == [2, 2, 1, 0]


# Forgetting.


@pytest.mark.parametrize("state", [EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT])
def test_idle_id_is_forgotten_after_seven_days(coordinator: Coordinator, state: TransactionState) -> None:
    identity = coordinator.put_in_state(state)
    coordinator.pass_time(WEEK_MS - 1)
    assert coordinator.shard.get(NAME) is not None
    coordinator.pass_time(1)
    assert coordinator.shard.get(NAME) is None
    assert coordinator.values()[-1] is None
    assert coordinator.shard.next_deadline() is None
    assert coordinator.add(identity) is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    coordinator.restart()
    assert coordinator.shard.get(NAME) is None


def test_use_keeps_an_id(coordinator: Coordinator) -> None:
    coordinator.initialised()
    coordinator.pass_time(WEEK_MS - 1)
    coordinator.initialised()
    coordinator.pass_time(WEEK_MS - 1)
    assert coordinator.shard.get(NAME) is not None


def test_decided_transaction_is_never_forgotten(decided: Coordinator) -> None:
    decided.pass_time(WEEK_MS * 3)
    assert decided.current.state is PREPARE_COMMIT
    decided.write_markers()
    decided.pass_time(WEEK_MS - 1)
    assert decided.current.state is COMPLETE_COMMIT
    decided.pass_time(1)
    assert decided.shard.get(NAME) is None


def test_id_that_was_forgotten_starts_anew_with_another_producer_id(coordinator: Coordinator) -> None:
    old = coordinator.initialised()
    coordinator.pass_time(WEEK_MS)
    assert coordinator.initialised() == (1, 0)
    assert coordinator.init(old).error_code == ErrorCode.PRODUCER_FENCED


def test_many_idle_ids_are_forgotten_in_bounded_batches(
    coordinator: Coordinator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.transactions.shard.TRANSACTIONS_PER_TICK_MAX", 2)
    for number in range(3):
        coordinator.initialised(name=f"app-{number}")
    coordinator.now = Millis(coordinator.now + WEEK_MS)
    assert [len(coordinator.tick().records) for _ in range(3)] == [2, 1, 0]
    assert len(coordinator.shard) == 0


# Its own checks.


def test_request_of_another_coordinator_is_a_bug(coordinator: Coordinator) -> None:
    event = RequestReceived(token=1, request=EndTxnResponse(), api_version=0)
    with pytest.raises(InvariantError, match="EndTxnResponse is not for the transaction coordinator"):
        coordinator.shard.handle(event, coordinator.now)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"producer_epoch": 32767}, "an epoch that no producer may have"),
        ({"producer_epoch": -1}, "an epoch that no producer may have"),
        ({"producer_id": -1}, "no producer id"),
        ({"timeout_ms": 0}, "no timeout"),
        ({"next_producer_id": 7}, "next producer id without need"),
        ({"partitions": frozenset({ORDERS})}, "partitions and no transaction"),
        ({"state": COMPLETE_COMMIT, "start_timestamp": -1}, "no start"),
    ],
)
def test_validation_sees_a_value_that_cannot_be(
    coordinator: Coordinator, change: dict[str, object], complaint: str
) -> None:
    coordinator.put_in_state(COMPLETE_ABORT)
    broken = replace(coordinator.current, **change)  # type: ignore[arg-type]  # Any field may be broken.
    with pytest.raises(InvariantError, match=complaint):
        broken.validate()


def test_validation_sees_a_decision_nobody_completes(decided: Coordinator) -> None:
    decided.shard._unmarked.clear()
    with pytest.raises(InvariantError, match="wrong markers"):
        decided.shard.validate()


def test_validation_sees_an_open_transaction_without_a_timeout(coordinator: Coordinator) -> None:
    coordinator.put_in_state(ONGOING)
    coordinator.shard._timeouts.cancel(NAME)
    with pytest.raises(InvariantError, match="wrong timeout"):
        coordinator.shard.validate()


def test_report_names_its_order(decided: Coordinator) -> None:
    (order,) = decided.orders
    event = MarkersWritten(order=replace(order, transactional_id="unknown"), partitions=order.partitions)
    assert decided.handle(event) is NOTHING
