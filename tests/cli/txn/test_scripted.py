"""``penstock txn`` in a cluster of several brokers, and where a broker refuses."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.cli.scripted_broker import ScriptedBroker, scripted_cluster
from tests.cli.terminal import Terminal

from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.describe_producers import (
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from penstock.wire.messages.describe_transactions import (
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)
from penstock.wire.messages.init_producer_id import InitProducerIdResponse
from penstock.wire.messages.list_transactions import ListTransactionsResponse
from penstock.wire.messages.list_transactions import TransactionState as ListedTransaction
from penstock.wire.messages.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)

GHOST = ProducerState(producer_id=9, producer_epoch=2, coordinator_epoch=-1, current_txn_start_offset=50)
HANGING = ["--topic", "ledger", "--partition", "1", "--start-offset", "50"]


@pytest.fixture
def brokers() -> Iterator[list[ScriptedBroker]]:
    """Two brokers; the second leads partition 1 of ``ledger``, in which producer 9 hangs since offset 50."""
    with scripted_cluster(2, topics={"ledger": [1, 2]}) as both:
        for broker in both:
            broker.on(ApiKey.LIST_TRANSACTIONS, ListTransactionsResponse())
            broker.on(ApiKey.DESCRIBE_PRODUCERS, lambda request: producers(request))
        both[0].on(ApiKey.DESCRIBE_TRANSACTIONS, described("Ongoing"))
        both[1].on(ApiKey.DESCRIBE_PRODUCERS, lambda request: producers(request, GHOST))
        yield both


@pytest.fixture
def terminal(
    brokers: list[ScriptedBroker], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Terminal:
    return Terminal(brokers[0].bootstrap, capsys, monkeypatch)


def producers(request: Any, *states: ProducerState, code: int = 0) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        topics=tuple(
            TopicResponse(
                name=topic.name,
                partitions=tuple(
                    PartitionResponse(partition_index=number, active_producers=states, error_code=code)
                    for number in topic.partition_indexes
                ),
            )
            for topic in request.topics
        )
    )


def listed(name: str, producer_id: int, state: str = "Ongoing") -> ListTransactionsResponse:
    entry = ListedTransaction(transactional_id=name, producer_id=producer_id, transaction_state=state)
    return ListTransactionsResponse(transaction_states=(entry,))


def described(state: str, *, producer_id: int = 9, partitions: tuple[int, ...] = (), code: int = 0) -> Any:
    """DescribeTransactions answers this for every id."""

    def answer(request: Any) -> DescribeTransactionsResponse:
        return DescribeTransactionsResponse(
            transaction_states=tuple(
                TransactionState(
                    transactional_id=name,
                    transaction_state=state,
                    transaction_timeout_ms=60_000,
                    transaction_start_time_ms=1,
                    producer_id=producer_id,
                    topics=(TopicData(topic="ledger", partitions=partitions),),
                    error_code=code,
                )
                for name in request.transactional_ids
            )
        )

    return answer


def marked(code: int) -> WriteTxnMarkersResponse:
    partition = WritableTxnMarkerPartitionResult(partition_index=1, error_code=code)
    topic = WritableTxnMarkerTopicResult(name="ledger", partitions=(partition,))
    return WriteTxnMarkersResponse(markers=(WritableTxnMarkerResult(producer_id=9, topics=(topic,)),))


def test_list_asks_every_broker_and_sorts(terminal: Terminal, brokers: list[ScriptedBroker]) -> None:
    brokers[0].on(ApiKey.LIST_TRANSACTIONS, listed("zebra", 1, "Empty"))
    brokers[1].on(ApiKey.LIST_TRANSACTIONS, listed("ant", 2, "CompleteAbort"))

    found = terminal.must("txn", "list", "--json").json()
    assert [(one["transactional_id"], one["coordinator"]) for one in found] == [("ant", 2), ("zebra", 1)]


def test_list_transaction_that_goes_away_meanwhile_is_shown_without_its_time(
    terminal: Terminal, brokers: list[ScriptedBroker]
) -> None:
    brokers[0].on(ApiKey.LIST_TRANSACTIONS, listed("copier", 9))
    brokers[0].on(ApiKey.DESCRIBE_TRANSACTIONS, described("", code=ErrorCode.TRANSACTIONAL_ID_NOT_FOUND))

    rows = [line.split() for line in terminal.must("txn", "list").output.splitlines()]
    assert rows[1:] == [["copier", "Ongoing", "9", "1", "-"]]


def test_list_of_no_transactions_says_so(terminal: Terminal) -> None:
    assert terminal.must("txn", "list").output == "No transactions were found.\n"
    assert terminal.must("txn", "list", "--json").json() == []


def test_find_hanging_asks_leaders_and_every_coordinator(
    terminal: Terminal, brokers: list[ScriptedBroker]
) -> None:
    (found,) = terminal.must("txn", "find-hanging", "--json").json()

    assert (found["topic"], found["partition"], found["producer_id"]) == ("ledger", 1, 9)
    for broker in brokers:
        (question,) = [one.message for one in broker.asked if one.api is ApiKey.LIST_TRANSACTIONS]
        assert question.producer_id_filters == (9,)


@pytest.mark.parametrize(
    ("state", "partitions", "hangs"),
    [
        ("Ongoing", (1,), False),
        ("PrepareCommit", (1,), False),
        ("Ongoing", (0,), True),
        ("CompleteCommit", (1,), True),
        ("Empty", (), True),
    ],
)
def test_find_hanging_believes_a_coordinator_that_will_end_it(
    terminal: Terminal, brokers: list[ScriptedBroker], state: str, partitions: tuple[int, ...], hangs: bool
) -> None:
    brokers[1].on(ApiKey.LIST_TRANSACTIONS, listed("copier", 9, state))
    brokers[0].on(ApiKey.DESCRIBE_TRANSACTIONS, described(state, partitions=partitions))

    assert bool(terminal.must("txn", "find-hanging", "--json").json()) is hangs


def test_find_hanging_that_is_refused_says_where(terminal: Terminal, brokers: list[ScriptedBroker]) -> None:
    refused = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    brokers[0].on(ApiKey.DESCRIBE_PRODUCERS, lambda request: producers(request, code=refused))

    answer = terminal.run("txn", "find-hanging")
    assert answer.code == 1
    assert "Cannot describe the producers of ledger-0" in answer.errors


def test_abort_hanging_tells_the_leader_with_an_epoch_that_fences_nobody(
    terminal: Terminal, brokers: list[ScriptedBroker]
) -> None:
    brokers[1].on(ApiKey.WRITE_TXN_MARKERS, marked(0))

    (done,) = terminal.must("txn", "abort", *HANGING, "--json").json()
    assert (done["producer_id"], done["start_offset"]) == (9, 50)
    (order,) = [one.message for one in brokers[1].asked if one.api is ApiKey.WRITE_TXN_MARKERS]
    (marker,) = order.markers
    assert (marker.producer_id, marker.producer_epoch, marker.coordinator_epoch) == (9, 2, 0)
    assert marker.transaction_result is False


def test_abort_hanging_that_is_refused_says_why(terminal: Terminal, brokers: list[ScriptedBroker]) -> None:
    brokers[1].on(ApiKey.WRITE_TXN_MARKERS, marked(ErrorCode.CLUSTER_AUTHORIZATION_FAILED))

    answer = terminal.run("txn", "abort", *HANGING)
    assert answer.code == 1
    assert "Cannot abort the transaction in ledger-1" in answer.errors
    assert "Hint: This needs an administrator's rights on the cluster." in answer.errors


def test_abort_hanging_in_a_topic_that_is_not_there_fails(terminal: Terminal) -> None:
    answer = terminal.run("txn", "abort", "--topic", "gone", "--partition", "0", "--start-offset", "0")

    assert answer.code == 1
    assert "No transaction is open in gone-0 since offset 0." in answer.errors


def test_abort_by_id_waits_for_the_end_and_keeps_the_timeout(
    terminal: Terminal, brokers: list[ScriptedBroker]
) -> None:
    codes = iter([ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.NONE])
    brokers[0].on(ApiKey.INIT_PRODUCER_ID, lambda _: InitProducerIdResponse(error_code=next(codes)))

    assert terminal.must("txn", "abort", "copier").output == "copier: aborted\n"
    orders = [one.message for one in brokers[0].asked if one.api is ApiKey.INIT_PRODUCER_ID]
    assert [(one.transactional_id, one.transaction_timeout_ms) for one in orders] == [("copier", 60_000)] * 3


def test_abort_by_id_that_is_refused_says_why(terminal: Terminal, brokers: list[ScriptedBroker]) -> None:
    code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    brokers[0].on(ApiKey.INIT_PRODUCER_ID, InitProducerIdResponse(error_code=code))

    answer = terminal.run("txn", "abort", "copier")
    assert answer.code == 1
    assert "Cannot abort the transaction of 'copier'" in answer.errors
