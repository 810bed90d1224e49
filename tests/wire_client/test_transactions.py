"""Transactions on the wire: owners, what is in them, how they end, and what is lost on the way."""

from collections.abc import Iterator

import pytest
from tests.raw_kafka import BatchFields, Record, build_batch
from tests.wire_client.reading import read_values

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.testing import Broker
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address
from penstock.wire_client.delivery.batch import Batch
from penstock.wire_client.delivery.delivery import Delivery
from penstock.wire_client.delivery.settings import DeliverySettings
from penstock.wire_client.errors import RefusedError
from penstock.wire_client.group_offsets import CommittedOffset, stable_offset
from penstock.wire_client.known_coordinators import KnownCoordinators
from penstock.wire_client.patience import Patience
from penstock.wire_client.transaction_ends import end_codes
from penstock.wire_client.transactions import (
    FENCED,
    Transaction,
    abort,
    add_group,
    add_partitions,
    commit,
    commit_offsets,
    describe,
    end_code,
    own,
)

TRANSACTIONAL = 0x10


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker(settings={"transaction.max.timeout.ms": "600000"}) as one:
        yield one


@pytest.fixture
def coordinators(broker: Broker) -> Iterator[KnownCoordinators]:
    with Cluster.connect([Address("127.0.0.1", broker.port)]) as cluster:
        yield KnownCoordinators(cluster, Patience(seconds_max=10.0))
    broker.faults.clear()


@pytest.fixture
def name(broker: Broker) -> str:
    return broker.topic("transactional")


def produce(broker: Broker, transaction: Transaction, topic: str, value: bytes) -> None:
    fields = BatchFields(
        attributes=TRANSACTIONAL,
        producer_id=transaction.producer.producer_id,
        producer_epoch=transaction.producer.producer_epoch,
        base_sequence=0,
    )
    data = build_batch([Record(value=value)], fields)
    with Cluster.connect([Address("127.0.0.1", broker.port)]) as cluster:
        delivery = Delivery(cluster, DeliverySettings(transactional_id=transaction.transactional_id))
        delivery.send(Batch(partition=TopicPartition(topic, 0), data=data, record_count=1))
        delivery.flush()


def opened(coordinators: KnownCoordinators, name: str) -> Transaction:
    transaction = own(coordinators, name)
    add_group(coordinators, transaction, name)
    return transaction


def test_what_is_committed_is_seen_and_what_is_aborted_is_not(
    broker: Broker, coordinators: KnownCoordinators, name: str
) -> None:
    topic = broker.create_topic()
    for value, end in ((b"seen", commit), (b"not", abort), (b"too", commit)):
        transaction = own(coordinators, name)
        add_partitions(coordinators, transaction, [TopicPartition(topic, 0)])
        produce(broker, transaction, topic, value)
        end(coordinators, transaction)

    assert read_values(broker.bootstrap_servers, topic) == [[b"seen", b"too"]]


def test_offsets_count_once_their_transaction_is_committed(
    broker: Broker, coordinators: KnownCoordinators, name: str
) -> None:
    place = TopicPartition(broker.create_topic(), 0)
    transaction = opened(coordinators, name)
    assert stable_offset(coordinators, name, place) is None
    commit_offsets(coordinators, transaction, name, offsets={place: CommittedOffset(7, "words")})

    with pytest.raises(RefusedError) as caught:
        stable_offset(coordinators, name, place, patience=Patience(seconds_max=0.1))
    assert caught.value.code == ErrorCode.UNSTABLE_OFFSET_COMMIT
    commit(coordinators, transaction)
    assert stable_offset(coordinators, name, place) == CommittedOffset(7, "words")


def test_a_new_owner_aborts_what_was_open_and_fences_whoever_had_it(
    coordinators: KnownCoordinators, name: str
) -> None:
    former = opened(coordinators, name)
    own(coordinators, name)

    with pytest.raises(RefusedError, match=f"add group '{name}'") as caught:
        add_group(coordinators, former, name)
    assert caught.value.code in FENCED
    assert end_code(coordinators, former, is_commit=True) in FENCED


def test_anybody_may_end_a_transaction_and_say_so_again(
    broker: Broker, coordinators: KnownCoordinators, name: str
) -> None:
    transaction = opened(coordinators, name)
    with Cluster.connect([Address("127.0.0.1", broker.port)]) as cluster:
        somebody_else = KnownCoordinators(cluster)
        for _ in range(3):
            commit(somebody_else, transaction)
        assert end_code(somebody_else, transaction, is_commit=False) == ErrorCode.INVALID_TXN_STATE


@pytest.mark.parametrize("api", ["InitProducerId", "AddOffsetsToTxn", "EndTxn"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_connection_that_breaks_is_a_question_asked_again(
    broker: Broker, coordinators: KnownCoordinators, name: str, api: str, when: str
) -> None:
    fault = broker.faults.drop(api, when="after" if when == "after" else "before", times=2)

    commit(coordinators, opened(coordinators, name))
    assert fault.hits == 2


@pytest.mark.parametrize(
    "error", ["NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS", "CONCURRENT_TRANSACTIONS"]
)
def test_what_passes_by_itself_is_waited_for(
    broker: Broker, coordinators: KnownCoordinators, name: str, error: str
) -> None:
    own(coordinators, name)
    fault = broker.faults.fail("InitProducerId", error=error, times=3)
    lookups = broker.requests.count("FindCoordinator")

    own(coordinators, name)
    assert fault.hits == 3
    is_looked_up_again = broker.requests.count("FindCoordinator") > lookups
    assert is_looked_up_again == (error != "CONCURRENT_TRANSACTIONS"), "only its coordinator says that"


def test_what_does_not_pass_is_said_when_patience_ends(broker: Broker, name: str) -> None:
    broker.faults.fail("InitProducerId", error="CONCURRENT_TRANSACTIONS")
    with Cluster.connect([Address("127.0.0.1", broker.port)]) as cluster:
        impatient = KnownCoordinators(cluster, Patience(seconds_max=0.1))
        with pytest.raises(
            RefusedError, match=f"owner of transactional id '{name}'.*CONCURRENT_TRANSACTIONS"
        ):
            own(impatient, name)
    broker.faults.clear()


def test_a_timeout_that_is_not_allowed_is_halved_until_it_is(
    coordinators: KnownCoordinators, name: str
) -> None:
    own(coordinators, name, timeout_ms=900_000)

    assert describe(coordinators, [name])[name].transaction_timeout_ms == 450_000


def test_transactions_are_described_by_their_ids(coordinators: KnownCoordinators, name: str) -> None:
    transaction = opened(coordinators, name)

    states = describe(coordinators, [name, f"{name}-unknown"])
    assert states[name].transaction_state == "Ongoing"
    assert (states[name].producer_id, states[name].producer_epoch) == transaction.producer
    assert states[f"{name}-unknown"].error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND


def test_many_transactions_end_together_and_each_is_answered(
    broker: Broker, coordinators: KnownCoordinators, name: str
) -> None:
    transactions = [opened(coordinators, f"{name}-{number}") for number in range(120)]
    own(coordinators, f"{name}-7")
    broker.faults.drop("EndTxn", when="after", times=1)

    codes = end_codes(coordinators, transactions, is_commit=True)
    assert [code for number, code in enumerate(codes) if number != 7] == [ErrorCode.NONE] * 119
    assert codes[7] in FENCED
    states = describe(coordinators, [f"{name}-{number}" for number in (0, 50, 119)])
    assert {state.transaction_state for state in states.values()} <= {"PrepareCommit", "CompleteCommit"}


def test_partitions_of_a_topic_that_is_not_there_cannot_be_added(broker: Broker, name: str) -> None:
    with Cluster.connect([Address("127.0.0.1", broker.port)]) as cluster:
        impatient = KnownCoordinators(cluster, Patience(seconds_max=0.1))
        with pytest.raises(RefusedError, match=r"UNKNOWN_TOPIC_OR_PARTITION"):
            add_partitions(impatient, own(impatient, name), [TopicPartition("nowhere", 0)])
