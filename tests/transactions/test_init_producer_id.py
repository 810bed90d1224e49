"""InitProducerId with a transactional id, sentence by sentence (protocol notes, section 5.3)."""

import pytest
from tests.transactions.coordinator_driver import NAME, ORDERS, TIMEOUT_MS, Coordinator, init_request

from penstock.model.error_codes import ErrorCode
from penstock.model.limits import TRANSACTIONAL_ID_LENGTH_MAX
from penstock.transactions.state import TransactionState
from penstock.wire.messages.init_producer_id import InitProducerIdResponse

LAST_EPOCH = 32766


@pytest.fixture
def coordinator() -> Coordinator:
    return Coordinator()


def identity_of(response: InitProducerIdResponse) -> tuple[int, int]:
    assert response.error_code == ErrorCode.NONE
    return response.producer_id, response.producer_epoch


def test_new_id_gets_a_fresh_producer_id_and_epoch_0(coordinator: Coordinator) -> None:
    assert identity_of(coordinator.init()) == (0, 0)
    assert identity_of(coordinator.init(name="other")) == (1, 0)
    assert coordinator.current.state is TransactionState.EMPTY
    assert coordinator.current.timeout_ms == TIMEOUT_MS


@pytest.mark.parametrize(
    "state", [TransactionState.EMPTY, TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT]
)
def test_id_at_rest_gets_the_next_epoch(coordinator: Coordinator, state: TransactionState) -> None:
    producer_id, epoch = coordinator.put_in_state(state)
    assert identity_of(coordinator.init(timeout_ms=5_000)) == (producer_id, epoch + 1)
    assert coordinator.current.state is TransactionState.EMPTY
    assert coordinator.current.timeout_ms == 5_000


def test_id_whose_epochs_have_run_out_gets_a_new_producer_id(coordinator: Coordinator) -> None:
    coordinator.raise_epoch_to(LAST_EPOCH - 1)
    assert identity_of(coordinator.init()) == (0, LAST_EPOCH)
    assert identity_of(coordinator.init()) == (1, 0)
    assert identity_of(coordinator.init()) == (1, 1)


def test_open_transaction_is_aborted_under_a_raised_epoch_then_the_epoch_is_raised_again(
    coordinator: Coordinator,
) -> None:
    producer_id, epoch = coordinator.put_in_state(TransactionState.ONGOING)
    assert coordinator.init().error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    assert coordinator.current.state is TransactionState.PREPARE_ABORT
    assert coordinator.init().error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    (order,) = coordinator.write_markers()
    assert (order.producer_id, order.producer_epoch, order.is_commit) == (producer_id, epoch + 1, False)
    assert order.partitions == (ORDERS,)
    assert identity_of(coordinator.init()) == (producer_id, epoch + 2)


def test_open_transaction_at_the_last_epoch_is_aborted_and_followed_by_a_new_producer_id(
    coordinator: Coordinator,
) -> None:
    identity = coordinator.raise_epoch_to(LAST_EPOCH)
    coordinator.add(identity, ORDERS)
    assert coordinator.init().error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    (order,) = coordinator.write_markers()
    assert (order.producer_id, order.producer_epoch) == (identity[0], LAST_EPOCH + 1)
    assert identity_of(coordinator.init()) == (1, 1)


@pytest.mark.parametrize("state", [TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT])
def test_decided_transaction_must_be_completed_first(
    coordinator: Coordinator, state: TransactionState
) -> None:
    identity = coordinator.put_in_state(state)
    for claimed in ((-1, -1), identity):
        response = coordinator.init(claimed)
        assert response.error_code == ErrorCode.CONCURRENT_TRANSACTIONS
        assert (response.producer_id, response.producer_epoch) == (-1, -1)
    assert coordinator.current.state is state


def test_owner_with_its_identity_gets_the_next_epoch(coordinator: Coordinator) -> None:
    producer_id, epoch = coordinator.initialised()
    assert identity_of(coordinator.init((producer_id, epoch))) == (producer_id, epoch + 1)


def test_owner_that_missed_its_answer_gets_it_again(coordinator: Coordinator) -> None:
    identity = coordinator.initialised()
    first = identity_of(coordinator.init(identity))
    assert identity_of(coordinator.init(identity)) == first
    coordinator.restart()
    assert identity_of(coordinator.init(identity)) == first


def test_owner_at_the_last_epoch_gets_a_new_producer_id_and_may_ask_again(coordinator: Coordinator) -> None:
    identity = coordinator.raise_epoch_to(LAST_EPOCH)
    assert identity_of(coordinator.init(identity)) == (1, 0)
    assert identity_of(coordinator.init(identity)) == (1, 0)
    coordinator.restart()
    assert identity_of(coordinator.init(identity)) == (1, 0)


@pytest.mark.parametrize(
    "state", [state for state in TransactionState if state.is_at_rest or state.is_decided]
)
def test_any_other_identity_is_fenced(coordinator: Coordinator, state: TransactionState) -> None:
    producer_id, epoch = coordinator.put_in_state(state)
    for claimed in ((producer_id, epoch + 1), (producer_id + 9, epoch), (producer_id, 7)):
        assert coordinator.init(claimed).error_code == ErrorCode.PRODUCER_FENCED


def test_old_epoch_is_fenced_once_somebody_has_taken_over(coordinator: Coordinator) -> None:
    old = coordinator.initialised()
    coordinator.init()
    assert coordinator.init(old).error_code == ErrorCode.PRODUCER_FENCED


def test_old_epoch_does_not_abort_the_transaction_of_its_successor(coordinator: Coordinator) -> None:
    old = coordinator.initialised()
    owner = coordinator.initialised()
    coordinator.add(owner, ORDERS)
    assert coordinator.init(old).error_code == ErrorCode.PRODUCER_FENCED
    assert coordinator.current.state is TransactionState.ONGOING


def test_late_copy_of_a_renewal_does_not_abort_the_transaction_that_followed(
    coordinator: Coordinator,
) -> None:
    identity = coordinator.initialised()
    renewed = identity_of(coordinator.init(identity))
    coordinator.add(renewed, ORDERS)
    assert coordinator.init(identity).error_code == ErrorCode.PRODUCER_FENCED
    assert coordinator.current.state is TransactionState.ONGOING


def test_owner_that_renews_during_its_transaction_gets_the_epoch_of_the_abort(
    coordinator: Coordinator,
) -> None:
    producer_id, epoch = coordinator.put_in_state(TransactionState.ONGOING)
    assert coordinator.init((producer_id, epoch)).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    assert coordinator.init((producer_id, epoch)).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    coordinator.write_markers()
    assert identity_of(coordinator.init((producer_id, epoch))) == (producer_id, epoch + 1)


def test_claimed_identity_of_an_unknown_id_is_not_looked_at(coordinator: Coordinator) -> None:
    assert identity_of(coordinator.init((77, 3))) == (0, 0)


@pytest.mark.parametrize("version", [0, 3])
def test_clients_before_version_4_are_told_of_an_invalid_epoch(
    coordinator: Coordinator, version: int
) -> None:
    coordinator.initialised()
    assert coordinator.init((0, 5), version=version).error_code == ErrorCode.INVALID_PRODUCER_EPOCH


@pytest.mark.parametrize("name", ["", "x" * (TRANSACTIONAL_ID_LENGTH_MAX + 1)])
def test_name_that_is_empty_or_endless_is_refused(coordinator: Coordinator, name: str) -> None:
    assert coordinator.init(name=name).error_code == ErrorCode.INVALID_REQUEST
    assert len(coordinator.shard) == 0


def test_name_that_is_missing_is_refused(coordinator: Coordinator) -> None:
    response = coordinator.ask(init_request(name=None), 5)
    assert isinstance(response, InitProducerIdResponse)
    assert response.error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("claimed", [(5, -1), (-1, 5)])
def test_half_an_identity_is_refused(coordinator: Coordinator, claimed: tuple[int, int]) -> None:
    assert coordinator.init(claimed).error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("timeout_ms", [-1, 0, 15 * 60 * 1000 + 1])
def test_timeout_outside_the_allowed_is_refused(coordinator: Coordinator, timeout_ms: int) -> None:
    assert coordinator.init(timeout_ms=timeout_ms).error_code == ErrorCode.INVALID_TRANSACTION_TIMEOUT


def test_longest_timeout_is_accepted(coordinator: Coordinator) -> None:
    assert coordinator.init(timeout_ms=15 * 60 * 1000).error_code == ErrorCode.NONE


def test_dry_pool_of_producer_ids_makes_the_client_come_back(coordinator: Coordinator) -> None:
    coordinator.pool.clear()
    assert coordinator.init().error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert coordinator.shard.get(NAME) is None
    coordinator.pool.append(88)
    assert identity_of(coordinator.init()) == (88, 0)


def test_more_ids_than_the_limit_are_refused(
    coordinator: Coordinator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.transactions.shard.TRANSACTIONAL_IDS_PER_SHARD_MAX", 1)
    coordinator.initialised()
    assert coordinator.init(name="other").error_code == ErrorCode.POLICY_VIOLATION
    assert coordinator.init().error_code == ErrorCode.NONE
