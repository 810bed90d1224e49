"""DescribeTransactions and ListTransactions."""

import pytest
from tests.transactions.coordinator_driver import NAME, ORDERS, PAYMENTS, TIMEOUT_MS, Coordinator

from penstock.coordinator.outcome import Outcome
from penstock.model.error_codes import ErrorCode
from penstock.transactions.state import TransactionState
from penstock.wire.messages import describe_transactions as describing
from penstock.wire.messages import list_transactions as listing


@pytest.fixture
def coordinator() -> Coordinator:
    return Coordinator()


def describe(coordinator: Coordinator, *names: str) -> tuple[describing.TransactionState, ...]:
    response = coordinator.ask(describing.DescribeTransactionsRequest(transactional_ids=names), 0)
    assert isinstance(response, describing.DescribeTransactionsResponse)
    return response.transaction_states


def list_names(coordinator: Coordinator, **filters: object) -> list[str]:
    request = listing.ListTransactionsRequest(**filters)  # type: ignore[arg-type]  # As each test says.
    response = coordinator.ask(request, 2)
    assert isinstance(response, listing.ListTransactionsResponse)
    return [state.transactional_id for state in response.transaction_states]


def test_description_of_an_open_transaction(coordinator: Coordinator) -> None:
    identity = coordinator.put_in_state(TransactionState.ONGOING)
    coordinator.add(identity, PAYMENTS)
    (found,) = describe(coordinator, NAME)
    assert found == describing.TransactionState(
        transactional_id=NAME,
        transaction_state="Ongoing",
        transaction_timeout_ms=TIMEOUT_MS,
        transaction_start_time_ms=coordinator.now,
        producer_id=identity[0],
        producer_epoch=identity[1],
        topics=(
            describing.TopicData(topic="orders", partitions=(0,)),
            describing.TopicData(topic="payments", partitions=(3,)),
        ),
    )


def test_description_of_a_decided_transaction_shows_what_is_still_to_be_marked(
    coordinator: Coordinator,
) -> None:
    identity = coordinator.put_in_state(TransactionState.ONGOING)
    coordinator.add(identity, PAYMENTS)
    coordinator.end(identity, is_commit=True)
    coordinator.report(coordinator.orders[0], [ORDERS])
    (found,) = describe(coordinator, NAME)
    assert found.transaction_state == "PrepareCommit"
    assert found.topics == (describing.TopicData(topic="payments", partitions=(3,)),)


def test_description_answers_each_name_by_itself(coordinator: Coordinator) -> None:
    coordinator.put_in_state(TransactionState.EMPTY)
    empty, unknown, nameless = describe(coordinator, NAME, "unknown", "")
    assert (empty.error_code, empty.transaction_start_time_ms, empty.topics) == (0, -1, ())
    assert unknown.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    assert nameless.error_code == ErrorCode.INVALID_REQUEST


@pytest.fixture
def crowd(coordinator: Coordinator) -> Coordinator:
    """An id that is idle, one with a young and one with an old transaction."""
    coordinator.initialised(name="idle")
    old = coordinator.initialised(name="old")
    coordinator.add(old, name="old")
    coordinator.pass_time(10_000)
    young = coordinator.initialised(name="young")
    coordinator.add(young, name="young")
    coordinator.pass_time(1_000)
    return coordinator


def test_list_without_filters_has_all(crowd: Coordinator) -> None:
    assert list_names(crowd) == ["idle", "old", "young"]


def test_list_tells_producer_and_state(crowd: Coordinator) -> None:
    response = crowd.ask(listing.ListTransactionsRequest(), 0)
    assert isinstance(response, listing.ListTransactionsResponse)
    expected = listing.TransactionState(transactional_id="old", producer_id=1, transaction_state="Ongoing")
    assert response.transaction_states[1] == expected


def test_list_by_state(crowd: Coordinator) -> None:
    assert list_names(crowd, state_filters=("Ongoing", "PrepareCommit")) == ["old", "young"]
    assert list_names(crowd, state_filters=("Empty",)) == ["idle"]


def test_list_by_unknown_states_has_none_and_says_which(crowd: Coordinator) -> None:
    request = listing.ListTransactionsRequest(state_filters=("Lost", "Dead", "PrepareEpochFence"))
    response = crowd.ask(request, 2)
    assert response == listing.ListTransactionsResponse(unknown_state_filters=("Lost",))


def test_list_by_producer_id(crowd: Coordinator) -> None:
    assert list_names(crowd, producer_id_filters=(2, 99)) == ["young"]


def test_list_by_duration(crowd: Coordinator) -> None:
    states = ("Ongoing",)
    assert list_names(crowd, state_filters=states, duration_filter=10_999) == ["old"]
    assert list_names(crowd, state_filters=states, duration_filter=11_000) == []
    assert list_names(crowd, state_filters=states, duration_filter=0) == ["old", "young"]


def test_list_by_pattern_matches_whole_names(crowd: Coordinator) -> None:
    assert list_names(crowd, transactional_id_pattern="o.*") == ["old"]
    assert list_names(crowd, transactional_id_pattern="") == ["idle", "old", "young"]


def test_views_change_nothing(crowd: Coordinator) -> None:
    written = len(crowd.log)
    describe(crowd, "old")
    list_names(crowd)
    assert len(crowd.log) == written
    assert isinstance(crowd.tick(), Outcome)
