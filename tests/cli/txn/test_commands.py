"""``penstock txn`` against a real broker and real producers."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Producer, TopicPartition
from tests.broker_process import wait_until
from tests.cli.terminal import Terminal
from tests.conftest import EXTERNAL_BOOTSTRAP, MakeServer, UniqueName

from penstock.records.builder import build_batch
from penstock.records.record import Record
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from penstock.wire_client.connection import Address, Connection

pytestmark = pytest.mark.slow

TIMEOUT_MS = 60_000


@pytest.fixture
def topic(terminal: Terminal, unique: UniqueName) -> str:
    name = unique("ledger")
    terminal.must("topic", "create", name, "--partitions", "2")
    return name


@pytest.fixture
def transactional_id(unique: UniqueName) -> str:
    return unique("copier")


@pytest.fixture
def producer(bootstrap: str, topic: str, transactional_id: str) -> Iterator[Producer]:
    """A producer in the middle of a transaction, with one record in each partition of ``topic``."""
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "log_level": 0,
            "transactional.id": transactional_id,
            "transaction.timeout.ms": TIMEOUT_MS,
        }
    )
    producer.init_transactions(30)
    producer.begin_transaction()
    for partition in range(2):
        producer.produce(topic, b"never seen", partition=partition)
    assert producer.flush(30) == 0
    yield producer
    producer.purge()


def describe(terminal: Terminal, transactional_id: str) -> Any:
    (described,) = terminal.must("txn", "describe", transactional_id, "--json").json()
    return described


def listed(terminal: Terminal, transactional_id: str, *words: str) -> list[Any]:
    everything = terminal.must("txn", "list", *words, "--json").json()
    return [one for one in everything if one["transactional_id"] == transactional_id]


def commit(terminal: Terminal, producer: Producer, transactional_id: str) -> None:
    """Commit, and wait for what a coordinator does after its answer: telling the partitions."""
    producer.commit_transaction(30)
    wait_until(
        lambda: describe(terminal, transactional_id)["state"] == "CompleteCommit", what="a complete commit"
    )


def test_list_open_transaction_shows_how_long_it_runs(
    terminal: Terminal, producer: Producer, transactional_id: str
) -> None:
    (found,) = listed(terminal, transactional_id)

    assert found["state"] == "Ongoing"
    assert 0 <= found["running_ms"] < TIMEOUT_MS
    rows = [line.split() for line in terminal.must("txn", "list").output.splitlines()]
    assert " ".join(rows[0]) == "TRANSACTIONAL ID STATE PRODUCER ID COORDINATOR RUNNING"
    assert [transactional_id, "Ongoing", str(found["producer_id"])] in [row[:3] for row in rows]


def test_list_filters_by_state_and_duration(
    terminal: Terminal, producer: Producer, transactional_id: str
) -> None:
    assert listed(terminal, transactional_id, "--state", "ongoing")
    assert not listed(terminal, transactional_id, "--state", "empty", "--state", "CompleteCommit")
    assert listed(terminal, transactional_id, "--running-longer-than", "1ms")
    assert not listed(terminal, transactional_id, "--running-longer-than", "1h")


def test_list_ended_transaction_does_not_run(
    terminal: Terminal, producer: Producer, transactional_id: str
) -> None:
    commit(terminal, producer, transactional_id)

    (found,) = listed(terminal, transactional_id)
    assert (found["state"], found["running_ms"]) == ("CompleteCommit", None)
    assert not listed(terminal, transactional_id, "--running-longer-than", "0s")


def test_describe_open_transaction_shows_where_readers_wait(
    terminal: Terminal, producer: Producer, topic: str, transactional_id: str
) -> None:
    described = describe(terminal, transactional_id)

    assert (described["state"], described["timeout_ms"]) == ("Ongoing", TIMEOUT_MS)
    assert described["partitions"] == [
        {"topic": topic, "partition": number, "start_offset": 0} for number in range(2)
    ]
    headline, columns, first, _ = terminal.must("txn", "describe", transactional_id).output.splitlines()
    assert headline.startswith(f"{transactional_id}  state Ongoing  producer {described['producer_id']}  ")
    assert "  timeout 1m  running " in headline
    assert columns.split() == ["TOPIC", "PARTITION", "START", "OFFSET"]
    assert first.split() == [topic, "0", "0"]


def test_describe_that_is_missing_fails_after_showing_the_others(
    terminal: Terminal, producer: Producer, transactional_id: str, unique: UniqueName
) -> None:
    missing = unique("missing")

    answer = terminal.run("txn", "describe", missing, transactional_id)
    assert answer.code == 1
    assert answer.output.startswith(f"{transactional_id}  state Ongoing")
    assert answer.errors.splitlines() == [
        f"Error: There is no transactional id '{missing}'.",
        "Hint: See what there is with `penstock txn list`.",
    ]


def test_abort_fences_the_producer_and_frees_the_readers(
    terminal: Terminal, bootstrap: str, producer: Producer, topic: str, transactional_id: str
) -> None:
    assert terminal.must("txn", "abort", transactional_id).output == f"{transactional_id}: aborted\n"

    described = describe(terminal, transactional_id)
    assert described["state"] in ("Empty", "CompleteAbort")
    assert (described["partitions"], described["timeout_ms"]) == ([], TIMEOUT_MS)
    with pytest.raises(KafkaException) as failed:
        producer.commit_transaction(30)
    assert failed.value.args[0].name() == "_FENCED"
    terminal.must("produce", topic, "--partition", "0", stdin="seen\n")
    assert read_committed(bootstrap, topic) == [b"seen"]


def test_abort_where_nothing_is_open_changes_nothing(
    terminal: Terminal, producer: Producer, topic: str, transactional_id: str
) -> None:
    commit(terminal, producer, transactional_id)
    before = describe(terminal, transactional_id)

    answer = terminal.must("txn", "abort", transactional_id)
    assert answer.output == f"{transactional_id}: unchanged, its state is CompleteCommit\n"
    assert describe(terminal, transactional_id) == before
    producer.begin_transaction()
    producer.produce(topic, b"goes on", partition=0)
    producer.commit_transaction(30)


def test_abort_goes_on_after_a_missing_one_which_is_not_made(
    terminal: Terminal, producer: Producer, transactional_id: str, unique: UniqueName
) -> None:
    missing = unique("missing")

    answer = terminal.run("txn", "abort", missing, transactional_id, "--json")
    assert answer.code == 1
    assert answer.json() == [
        {"transactional_id": transactional_id, "outcome": "aborted", "state_before": "Ongoing"}
    ]
    assert f"Error: Cannot abort the transaction of '{missing}'" in answer.errors
    assert not listed(terminal, missing)


def test_abort_by_offset_of_a_transaction_that_does_not_hang_is_refused(
    terminal: Terminal, producer: Producer, topic: str, transactional_id: str
) -> None:
    where = ["--topic", topic, "--partition", "1", "--start-offset"]

    alive = terminal.run("txn", "abort", *where, "0")
    assert alive.code == 1
    assert f"does not hang: '{transactional_id}' is Ongoing" in alive.errors
    assert f"Hint: Abort it with `penstock txn abort {transactional_id}`." in alive.errors

    elsewhere = terminal.run("txn", "abort", *where, "5")
    assert elsewhere.code == 1
    assert f"No transaction is open in {topic}-1 since offset 5." in elsewhere.errors
    assert "Hint: Open there are those since 0." in elsewhere.errors
    producer.commit_transaction(30)


def test_find_hanging_leaves_out_transactions_that_are_alive(
    terminal: Terminal, producer: Producer, topic: str
) -> None:
    assert terminal.must("txn", "find-hanging", "--topic", topic, "--older-than", "0s", "--json").json() == []
    shown = terminal.must("txn", "find-hanging", "--topic", topic, "--older-than", "0s").output
    assert shown == "No hanging transactions were found.\n"


@pytest.mark.skipif(bool(EXTERNAL_BOOTSTRAP), reason="needs a broker that does not verify transactions")
def test_find_hanging_finds_what_abort_then_ends(
    make_server: MakeServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    unique: UniqueName,
) -> None:
    server = make_server({"transaction.partition.verification.enable": "false"})
    terminal = Terminal(server.bootstrap, capsys, monkeypatch)
    topic = unique("ledger")
    terminal.must("topic", "create", topic)
    terminal.must("produce", topic, stdin="before\n")
    leave_hanging(server.bootstrap, topic)
    terminal.must("produce", topic, stdin="after\n")
    assert read_committed(server.bootstrap, topic) == [b"before"]

    assert terminal.must("txn", "find-hanging").output == "No hanging transactions were found.\n"
    (found,) = terminal.must("txn", "find-hanging", "--older-than", "0s", "--json").json()
    assert (found["topic"], found["partition"], found["start_offset"]) == (topic, 0, 1)
    shown = terminal.must("txn", "find-hanging", "--topic", topic, "--older-than", "0s")
    assert shown.output.splitlines()[1].split()[:5] == [topic, "0", "1", "4711", "3"]
    where = ["--topic", topic, "--partition", "0", "--start-offset", "1"]
    assert f"`penstock txn abort {' '.join(where)}`" in shown.errors

    aborted = terminal.must("txn", "abort", *where)
    assert aborted.output == f"{topic}-0: aborted what producer 4711 began at offset 1\n"
    assert terminal.must("txn", "find-hanging", "--older-than", "0s", "--json").json() == []
    assert read_committed(server.bootstrap, topic) == [b"before", b"after"]


def leave_hanging(bootstrap: str, topic: str) -> None:
    """Append a record of a transaction that no coordinator has heard of."""
    record = Record(offset=0, timestamp=int(time.time() * 1000), key=None, value=b"hanging")
    batch = build_batch([record], producer_id=4711, producer_epoch=3, base_sequence=0, transactional=True)
    data = PartitionProduceData(index=0, records=batch)
    request = ProduceRequest(
        transactional_id="ghost",
        acks=-1,
        timeout_ms=10_000,
        topic_data=(TopicProduceData(name=topic, partition_data=(data,)),),
    )
    host, _, port = bootstrap.rpartition(":")
    with Connection(Address(host, int(port))) as connection:
        # From version 12 on a batch would add its partition to the transaction by itself.
        answer = connection.call(ApiKey.PRODUCE, request, at_most=11)
    assert answer.responses[0].partition_responses[0].error_code == 0


def read_committed(bootstrap: str, topic: str) -> list[bytes]:
    """The values that a reader of committed records gets of partition 0 before it has to wait."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "log_level": 0,
            "group.id": "reader",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    try:
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        values = []
        while True:
            message = consumer.poll(20)
            assert message is not None, "neither a record nor the end"
            if message.error() is None:
                values.append(message.value())
            elif message.error().code() == KafkaError._PARTITION_EOF:
                return values
    finally:
        consumer.close()
