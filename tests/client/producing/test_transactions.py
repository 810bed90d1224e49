"""Transactions: seen together or not at all, copied exactly once, fenced."""

from contextlib import suppress

import pytest
from tests.client.conftest import MakeTopic
from tests.client.reading import read_all, take, values
from tests.conftest import UniqueName

from penstock import Consumer, Producer
from penstock.client.errors import ConfigurationError, DeliveryError, Fenced


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
