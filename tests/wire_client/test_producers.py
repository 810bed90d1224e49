"""Identities of producers, the topics they write to, and topics made for a program's own use."""

from collections.abc import Iterator

import pytest

from penstock.model.error_codes import ErrorCode
from penstock.testing import Broker
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address
from penstock.wire_client.errors import BrokenConnectionError, RefusedError
from penstock.wire_client.patience import Patience, ask_again
from penstock.wire_client.producers import new_producer
from penstock.wire_client.topic_creation import ensure_topic
from penstock.wire_client.topics import find_leaders
from penstock.wire_client.written_topics import NoSuchTopicError, partition_counts

BRIEF = Patience(seconds_max=0.1)


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker(settings={"auto.create.topics.enable": "false"}) as one:
        yield one


@pytest.fixture
def cluster(broker: Broker) -> Iterator[Cluster]:
    with Cluster.connect([Address("127.0.0.1", broker.port)]) as one:
        yield one
    broker.faults.clear()


def test_no_two_producers_are_the_same(cluster: Cluster) -> None:
    producers = {new_producer(cluster) for _ in range(20)}

    assert len(producers) == 20
    assert {producer.producer_epoch for producer in producers} == {0}


def test_a_producer_id_is_asked_for_until_it_is_given(broker: Broker, cluster: Cluster) -> None:
    broker.faults.fail("InitProducerId", error="COORDINATOR_LOAD_IN_PROGRESS", times=2)
    broker.faults.drop("InitProducerId", times=1)

    assert new_producer(cluster).producer_id >= 0


def test_a_producer_id_that_is_not_given_is_an_error_in_the_end(broker: Broker, cluster: Cluster) -> None:
    broker.faults.fail("InitProducerId", error="COORDINATOR_LOAD_IN_PROGRESS")

    with pytest.raises(RefusedError, match="Cannot get a producer id"):
        new_producer(cluster, BRIEF)


def test_a_connection_that_always_breaks_is_an_error_in_the_end(broker: Broker, cluster: Cluster) -> None:
    broker.faults.drop("InitProducerId")

    with pytest.raises(BrokenConnectionError):
        new_producer(cluster, BRIEF)


def test_a_question_is_asked_again_while_its_answer_passes() -> None:
    answers = iter([1, 2, 3, 4])
    troubles: list[None] = []

    answer = ask_again(
        lambda: next(answers),
        is_passing=lambda number: number < 3,
        patience=Patience(pause_seconds=0.0),
        after_trouble=lambda: troubles.append(None),
    )
    assert (answer, len(troubles)) == (3, 2)


def test_topics_are_counted_by_their_partitions(broker: Broker, cluster: Cluster) -> None:
    one, three = broker.create_topic(), broker.create_topic(partitions=3)

    assert partition_counts(cluster, [one, three, one]) == {one: 1, three: 3}


def test_a_topic_that_is_not_there_is_named(cluster: Cluster) -> None:
    with pytest.raises(NoSuchTopicError, match=r"'nowhere' does not exist.*penstock topic create nowhere"):
        partition_counts(cluster, ["nowhere"])


def test_a_name_that_no_topic_can_have_is_named(cluster: Cluster) -> None:
    with pytest.raises(RefusedError, match="'no such/name': that is no name of a topic") as caught:
        partition_counts(cluster, ["no such/name"])
    assert caught.value.code == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_a_topic_for_own_use_is_made_once(broker: Broker, cluster: Cluster) -> None:
    name = broker.topic("__own")
    for _ in range(2):
        ensure_topic(cluster, name, configs={"cleanup.policy": "compact"}, partition_count=2)

    assert len(find_leaders(cluster, [name])) == 2
    assert broker.requests.count("CreateTopics", topic=name) == 1


def test_a_topic_that_cannot_be_made_says_why(broker: Broker, cluster: Cluster) -> None:
    with pytest.raises(RefusedError, match="Cannot create topic"):
        ensure_topic(cluster, broker.topic("__own"), configs={"cleanup.policy": "sometimes"})


def test_a_topic_that_somebody_else_makes_meanwhile_is_just_as_good(broker: Broker, cluster: Cluster) -> None:
    broker.faults.fail("CreateTopics", error="TOPIC_ALREADY_EXISTS", times=1)

    ensure_topic(cluster, broker.topic("__own"), configs={})
