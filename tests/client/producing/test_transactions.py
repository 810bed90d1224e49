"""Transactions: seen together or not at all, copied exactly once, fenced."""

from contextlib import suppress

import pytest
from tests.broker_process import wait_until
from tests.client.conftest import MakeTopic
from tests.client.reading import read_all, take, values
from tests.conftest import UniqueName

from penstock import Consumer, Producer
from penstock.client.errors import ConfigurationError, DeliveryError, Fenced, RequestTimedOut
from penstock.client.producing.transaction import Transaction
from penstock.testing import Broker


def transactional(broker: str, name: str) -> Producer:
    return Producer(bootstrap_servers=broker, transactional_id=name)


def copying(broker: str, group: str) -> Consumer:
    return Consumer(
        bootstrap_servers=broker, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False
    )


def test_block_that_ends_commits_and_one_that_raises_aborts(
    broker: str, topic: str, unique: UniqueName
) -> None:
    with transactional(broker, unique("id")) as producer:
        with producer.transaction():
            producer.send(topic, b"seen")
        with suppress(ZeroDivisionError), producer.transaction():
            producer.send(topic, b"not seen").result(20)
            raise ZeroDivisionError
        with producer.transaction() as transaction:
            producer.send(topic, b"not seen either")
            transaction.abort()
        with producer.transaction() as transaction:
            producer.send(topic, b"seen as well")
            transaction.commit()
    assert values(read_all(broker, topic, 2)) == [b"seen", b"seen as well"]
    assert b"not seen" in values(read_all(broker, topic, 3, isolation_level="read_uncommitted"))


def test_abort_before_anything_was_sent_fails_what_waits(broker: str, topic: str, unique: UniqueName) -> None:
    with Producer(bootstrap_servers=broker, transactional_id=unique("id"), linger_ms=30_000) as producer:
        with producer.transaction() as transaction:
            delivery = producer.send(topic, b"x")
            transaction.abort()
        assert isinstance(delivery.exception(20), DeliveryError)


def test_copy_with_offsets_is_done_exactly_once(
    broker: str, make_topic: MakeTopic, unique: UniqueName
) -> None:
    topic, copy, group, name = make_topic(), make_topic(), unique("group"), unique("id")
    with Producer(bootstrap_servers=broker) as producer:
        producer.send_batch([(topic, b"%d" % number) for number in range(30)])
    for round_number in range(3):
        # Each round is a new process, so to speak; every second transaction fails and is done again.
        with transactional(broker, name) as producer, copying(broker, group) as consumer:
            consumer.assign([(topic, 0)])
            for number in range(2):
                messages = take(consumer, 10)
                assert messages
                try:
                    with producer.transaction() as transaction:
                        for message in messages:
                            producer.send(copy, message.value)
                        transaction.send_offsets(consumer)
                        if number == 1:
                            raise ZeroDivisionError
                except ZeroDivisionError:
                    consumer.rewind()
                    assert take(consumer, 1)[0].offset == 10 * (round_number + 1)
                if round_number == 2:
                    break
    assert values(read_all(broker, copy, 30)) == [b"%d" % number for number in range(30)]


def test_producer_whose_id_was_taken_over_is_fenced(broker: str, topic: str, unique: UniqueName) -> None:
    name = unique("id")
    with transactional(broker, name) as old, transactional(broker, name) as new:
        with old.transaction():
            old.send(topic, b"old")
        with new.transaction():
            new.send(topic, b"new")
        with pytest.raises(Fenced) as fenced, old.transaction():
            old.send(topic, b"too late").result(20)
        assert fenced.value.code in ("PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH")
        assert not fenced.value.is_retriable
    assert values(read_all(broker, topic, 2)) == [b"old", b"new"]


def test_open_transaction_of_a_closed_producer_is_aborted(
    broker: str, topic: str, unique: UniqueName
) -> None:
    producer = transactional(broker, unique("id"))
    producer.transaction()
    producer.send(topic, b"x").result(20)
    producer.close()
    assert read_all(broker, topic, 0) == []


def slow_to_end(server: Broker, name: str) -> Producer:
    """A producer which waits for the end of a transaction for a second only."""
    return Producer(
        bootstrap_servers=server.bootstrap_servers, transactional_id=name, transaction_timeout_ms=1_000
    )


def test_commit_that_nobody_answers_in_time_goes_on_when_it_is_called_again(unique: UniqueName) -> None:
    with Broker() as server:
        topic = server.create_topic("slow")
        with slow_to_end(server, unique("id")) as producer:
            with server.faults.delay("EndTxn", seconds=4.0, times=1):
                with pytest.raises(RequestTimedOut) as late, producer.transaction() as transaction:
                    producer.send(topic, b"once")
                assert late.value.is_retriable
                assert not transaction.is_ended
                with pytest.raises(ConfigurationError, match="call its commit again"):
                    producer.transaction()
                with pytest.raises(ConfigurationError, match="call its commit again"):
                    transaction.abort()
                wait_until(lambda: _is_committed(transaction), what="the commit")
            with producer.transaction():
                producer.send(topic, b"and again")
        assert values(read_all(server.bootstrap_servers, topic, 2)) == [b"once", b"and again"]


def _is_committed(transaction: Transaction) -> bool:
    with suppress(RequestTimedOut):
        transaction.commit()
    return transaction.is_ended


def test_abort_that_nobody_answers_in_time_is_done_again_by_the_next_transaction(unique: UniqueName) -> None:
    with Broker() as server:
        topic = server.create_topic("slow")
        with slow_to_end(server, unique("id")) as producer:
            with (
                server.faults.delay("EndTxn", seconds=1.5, times=1),
                suppress(ZeroDivisionError),
                producer.transaction(),
            ):
                producer.send(topic, b"not seen").result(20)
                raise ZeroDivisionError
            with producer.transaction():
                producer.send(topic, b"seen")
        assert values(read_all(server.bootstrap_servers, topic, 1)) == [b"seen"]


def test_closing_copes_with_a_commit_whose_end_is_not_known(
    unique: UniqueName, caplog: pytest.LogCaptureFixture
) -> None:
    with Broker() as server:
        topic = server.create_topic("slow")
        producer = slow_to_end(server, unique("id"))
        with server.faults.delay("EndTxn", seconds=30.0, times=1):
            with pytest.raises(RequestTimedOut), producer.transaction():
                producer.send(topic, b"x")
            producer.close()
    assert "it is not known whether the last transaction was committed" in caplog.messages


def test_transactions_are_refused_where_they_make_no_sense(
    broker: str, topic: str, unique: UniqueName
) -> None:
    with (
        Producer(bootstrap_servers=broker) as producer,
        pytest.raises(ConfigurationError, match="transactional_id"),
    ):
        producer.transaction()
    with transactional(broker, unique("id")) as producer:
        transaction = producer.transaction()
        with pytest.raises(ConfigurationError, match="is open already"):
            producer.transaction()
        with (
            Consumer(bootstrap_servers=broker, group_id=unique("group")) as consumer,
            pytest.raises(ConfigurationError, match="enable_auto_commit"),
        ):
            transaction.send_offsets(consumer)
        transaction.abort()
        with pytest.raises(ConfigurationError, match="has ended"):
            transaction.commit()
