"""Which ranges a batch reads, option by option, as a real broker answers."""

import pytest
from tests.spark.reading.conftest import MakeOptions
from tests.spark.reading.some_topics import delete_records, numbered, produce, write_in_transaction

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.pushdown import Bounds
from penstock.spark.options.definition import OptionError
from penstock.spark.options.source_options import SourceOptions
from penstock.spark.reading.data_loss import DataLossError
from penstock.spark.reading.planning import plan_batch
from penstock.testing import Broker
from penstock.wire_client.errors import UnreachableError


def planned(options: SourceOptions, bounds: Bounds | None = None) -> dict[tuple[str, int], tuple[int, int]]:
    ranges = plan_batch(options) if bounds is None else plan_batch(options, bounds)
    return {(one.partition.topic, one.partition.partition): (one.start, one.end) for one in ranges}


@pytest.fixture
def topic(penstock_broker: Broker) -> str:
    """Partition 0 has offsets 0 to 9 with timestamps 1000 to 1009, partition 1 is empty."""
    name = penstock_broker.create_topic(partitions=2)
    for number, value in enumerate(numbered(10)):
        produce(penstock_broker.bootstrap_servers, name, [value], timestamp=1000 + number)
    return name


def test_batch_reads_everything_unless_told_otherwise(batch: MakeOptions, topic: str) -> None:
    assert planned(batch(topic)) == {(topic, 0): (0, 10), (topic, 1): (0, 0)}


@pytest.mark.parametrize(
    ("given", "first", "second"),
    [
        ({"startingOffsets": '{"T":{"0":3,"1":-2}}'}, (3, 10), (0, 0)),
        ({"startingOffsets": '{"T":{"0":3,"*":-2}}'}, (3, 10), (0, 0)),
        ({"startingOffsets": "-4"}, (6, 10), (0, 0)),
        ({"startingOffsets": '{"T":{"0":"-4","1":"earliest"}}'}, (6, 10), (0, 0)),
        ({"startingOffsets": "-10 minutes"}, (10, 10), (0, 0)),
        ({"endingOffsets": '{"T":{"0":7,"1":-1}}'}, (0, 7), (0, 0)),
        ({"endingOffsets": '{"T":{"*":-1}}'}, (0, 10), (0, 0)),
        ({"endingTimestamp": "1005"}, (0, 5), (0, 0)),
        ({"endingTimestamp": "5000"}, (0, 10), (0, 0)),
        ({"endingOffsetsByTimestamp": '{"T":{"0":1008,"1":1}}'}, (0, 8), (0, 0)),
        (
            {"startingTimestamp": "1004", "startingOffsetsByTimestampStrategy": "latest"},
            (4, 10),
            (0, 0),
        ),
        (
            {
                "startingOffsetsByTimestamp": '{"T":{"*":1009}}',
                "startingOffsetsByTimestampStrategy": "latest",
            },
            (9, 10),
            (0, 0),
        ),
    ],
    ids=lambda given: next(iter(given.items())) if isinstance(given, dict) else None,
)
def test_options_say_where_to_begin_and_end(
    batch: MakeOptions,
    topic: str,
    *,
    given: dict[str, str],
    first: tuple[int, int],
    second: tuple[int, int],
) -> None:
    texts = {name: text.replace('"T"', f'"{topic}"') for name, text in given.items()}
    assert planned(batch(topic, **texts)) == {(topic, 0): first, (topic, 1): second}


def test_time_without_a_record_fails_with_what_to_do(batch: MakeOptions, topic: str) -> None:
    with pytest.raises(OptionError, match=f"startingTimestamp is timestamp 1004 for {topic}-1, which has no"):
        plan_batch(batch(topic, startingTimestamp="1004"))


def test_end_before_the_beginning_is_refused(batch: MakeOptions, topic: str) -> None:
    both = {
        "startingOffsets": f'{{"{topic}":{{"0":8,"1":0}}}}',
        "endingOffsets": f'{{"{topic}":{{"0":2,"1":0}}}}',
    }
    with pytest.raises(OptionError, match=f"{topic}-0 is to be read from offset 8 .* to offset 2"):
        plan_batch(batch(topic, **both))


def test_assign_reads_only_the_partitions_named(batch: MakeOptions, topic: str) -> None:
    assert planned(batch(assign=f'{{"{topic}":[0]}}')) == {(topic, 0): (0, 10)}


def test_assign_of_a_partition_that_does_not_exist_is_refused(batch: MakeOptions, topic: str) -> None:
    with pytest.raises(OptionError, match=f"no partition {topic}-7"):
        plan_batch(batch(assign=f'{{"{topic}":[0,7]}}'))


def test_topic_that_does_not_exist_is_named(batch: MakeOptions) -> None:
    with pytest.raises(OptionError, match="no topic 'nowhere'"):
        plan_batch(batch("nowhere"))


def test_pattern_reads_matching_topics_but_no_internal_ones(
    penstock_broker: Broker, batch: MakeOptions, topic: str
) -> None:
    other = penstock_broker.create_topic(f"{topic}-other")
    write_in_transaction(penstock_broker.bootstrap_servers, other, [b"x"], commits=True)

    read = planned(batch(subscribePattern=f"{topic}.*|__.*"))

    assert {name for name, _ in read} == {topic, other}


def test_pattern_that_matches_nothing_reads_nothing_with_a_word(
    batch: MakeOptions, caplog: pytest.LogCaptureFixture
) -> None:
    assert planned(batch(subscribePattern="nothing-is-called-like-this")) == {}
    assert "No topic matches subscribePattern=nothing-is-called-like-this" in caplog.text


def test_offsets_that_are_gone_are_a_loss(penstock_broker: Broker, batch: MakeOptions, topic: str) -> None:
    delete_records(penstock_broker.bootstrap_servers, topic, 6)
    given = {"startingOffsets": f'{{"{topic}":{{"0":2,"*":-2}}}}'}

    with pytest.raises(DataLossError, match=f"Records of {topic}-0 with offsets 2 to 5 were gone"):
        plan_batch(batch(topic, **given))
    assert planned(batch(topic, failOnDataLoss="false", **given))[topic, 0] == (6, 10)
    assert planned(batch(topic))[topic, 0] == (6, 10)


def test_end_is_the_first_open_transaction_for_who_reads_what_is_committed(
    penstock_broker: Broker, batch: MakeOptions, topic: str
) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": penstock_broker.bootstrap_servers, "transactional.id": topic})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, value=b"open", partition=0)
    producer.flush(30)

    committed = planned(batch(topic, **{"kafka.isolation.level": "read_committed"}))
    uncommitted = planned(batch(topic))
    producer.abort_transaction(30)

    assert committed[topic, 0] == (0, 10)
    assert uncommitted[topic, 0] == (0, 11)


def test_ranges_carry_the_id_of_their_topic(batch: MakeOptions, topic: str) -> None:
    ids = {one.topic_id for one in plan_batch(batch(topic))}
    assert len(ids) == 1
    assert all(topic_id is not None and len(topic_id) == 22 for topic_id in ids)


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        (Bounds(partitions=frozenset({1})), {1: (0, 0)}),
        (Bounds(topics=frozenset({"another"})), {}),
        (Bounds(offset_min=4, offset_end=6), {0: (4, 6), 1: (4, 0)}),
        (Bounds(timestamp_min_ms=1007), {0: (7, 10), 1: (0, 0)}),
        (Bounds(timestamp_min_ms=9999), {0: (10, 10), 1: (0, 0)}),
    ],
)
def test_filters_make_ranges_smaller(
    batch: MakeOptions, topic: str, bounds: Bounds, expected: dict[int, tuple[int, int]]
) -> None:
    assert planned(batch(topic), bounds) == {(topic, number): ends for number, ends in expected.items()}


def test_planning_waits_for_a_leader_that_moves(
    penstock_broker: Broker, batch: MakeOptions, topic: str
) -> None:
    penstock_broker.faults.fail("ListOffsets", error="OFFSET_NOT_AVAILABLE", times=2)
    penstock_broker.faults.drop("Metadata", times=1)

    assert planned(batch(topic))[topic, 0] == (0, 10)


def test_planning_asks_again_as_often_as_it_is_told(
    penstock_broker: Broker, batch: MakeOptions, topic: str
) -> None:
    options = batch(topic, **{"fetchOffset.numRetries": "2", "fetchOffset.retryIntervalMs": "1"})
    penstock_broker.faults.fail("ListOffsets", error="TOPIC_AUTHORIZATION_FAILED", times=2)
    assert planned(options)[topic, 0] == (0, 10)

    penstock_broker.faults.fail("ListOffsets", error="TOPIC_AUTHORIZATION_FAILED", times=3)
    with pytest.raises(Exception, match="TOPIC_AUTHORIZATION_FAILED"):
        plan_batch(options)


def test_broker_that_is_not_there_is_named(batch: MakeOptions, closed_port: int) -> None:
    options = batch(
        "orders",
        **{"kafka.bootstrap.servers": f"127.0.0.1:{closed_port}", "kafka.default.api.timeout.ms": "100"},
    )
    with pytest.raises(UnreachableError, match=f"No broker answers at 127.0.0.1:{closed_port}"):
        plan_batch(options)


def test_planning_names_itself(penstock_broker: Broker, batch: MakeOptions, topic: str) -> None:
    plan_batch(batch(topic, **{"kafka.client.id": f"planner-of-{topic}"}))

    assert penstock_broker.requests.of("ListOffsets", client_id=f"planner-of-{topic}")


def test_partition_reads_as_words() -> None:
    assert str(TopicPartition("orders", 3)) == "orders-3"
