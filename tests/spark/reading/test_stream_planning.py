"""How far micro-batches go, as a real broker answers: limits, new partitions, losses, and the group's lag."""

import time
from dataclasses import replace

import pytest
from tests.spark.reading.conftest import QUICK, MakeOptions
from tests.spark.reading.some_topics import (
    add_partitions,
    delete_records,
    numbered,
    open_transaction,
    produce,
)

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.stream_offset import StreamOffset
from penstock.spark.options.definition import OptionError
from penstock.spark.options.source_options import SourceOptions, stream_options
from penstock.spark.reading import stream_planning
from penstock.spark.reading.data_loss import DataLossError
from penstock.spark.reading.stream_planning import IDLE_SECONDS, StreamPlanner
from penstock.testing import Broker
from penstock.testing import Cluster as BrokerCluster
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address
from penstock.wire_client.group_offsets import stable_offset
from penstock.wire_client.known_coordinators import KnownCoordinators


@pytest.fixture
def topic(penstock_broker: Broker) -> str:
    """Ten records in partition 0, thirty in partition 1."""
    name = penstock_broker.create_topic(partitions=2)
    write(penstock_broker, name, 10)
    write(penstock_broker, name, 30, partition=1)
    return name


def write(broker: Broker, topic: str, count: int, partition: int = 0) -> None:
    produce(broker.bootstrap_servers, topic, numbered(count), partition=partition)


def ends(offset: StreamOffset) -> list[int]:
    return [offset.offsets[partition] for partition in sorted(offset.offsets)]


def begin(options: SourceOptions) -> tuple[StreamPlanner, StreamOffset]:
    planner = StreamPlanner(options)
    return planner, planner.initial()


def committed(broker: Broker, group: str, partition: TopicPartition) -> int | None:
    host, _, port = broker.bootstrap_servers.partition(":")
    with Cluster.connect([Address(host, int(port))]) as cluster:
        found = stable_offset(KnownCoordinators(cluster), group, partition)
    return None if found is None else found.offset


@pytest.mark.parametrize(("given", "starts"), [({}, [10, 30]), ({"startingOffsets": "earliest"}, [0, 0])])
def test_stream_begins_where_the_options_say(
    stream: MakeOptions, topic: str, given: dict[str, str], starts: list[int]
) -> None:
    assert ends(begin(stream(topic, **given))[1]) == starts


def test_stream_of_a_topic_that_does_not_exist_is_refused(stream: MakeOptions) -> None:
    with pytest.raises(OptionError, match="no topic 'nowhere'"):
        begin(stream("nowhere"))


MOVING = [
    {"startingOffsets": "-5 records"},
    {"startingOffsets": "-10 minutes"},
    {"startingTimestamp": "9999999999999", "startingOffsetsByTimestampStrategy": "latest"},
    {},
]


@pytest.mark.parametrize("given", MOVING)
def test_first_micro_batch_only_remembers_a_start_that_would_be_elsewhere_later(
    penstock_broker: Broker, stream: MakeOptions, topic: str, given: dict[str, str]
) -> None:
    planner, start = begin(stream(topic, **given))
    write(penstock_broker, topic, 10)

    assert planner.initial() == start
    assert planner.next_end(start, has_limits=True) is start
    planner.note_planned()
    assert ends(planner.next_end(start, has_limits=True)) == [20, 30]


def test_first_micro_batch_that_is_repeated_is_no_reason_for_another_one_without_records(
    stream: MakeOptions, topic: str
) -> None:
    planner, start = begin(stream(topic, startingOffsets="-5 records"))
    planner.note_planned()

    assert ends(planner.next_end(start, has_limits=True)) == [10, 30]


@pytest.mark.parametrize(
    ("given", "has_limits"), [({"startingOffsets": "earliest"}, True), ({"startingOffsets": "-5"}, False)]
)
def test_first_micro_batch_reads_what_is_found_again_and_all_that_a_single_one_is_to_read(
    stream: MakeOptions, topic: str, *, given: dict[str, str], has_limits: bool
) -> None:
    planner, start = begin(stream(topic, **given))

    assert ends(planner.next_end(start, has_limits=has_limits)) == [10, 30]


def test_without_limits_a_micro_batch_takes_all(stream: MakeOptions, topic: str) -> None:
    planner, start = begin(stream(topic, startingOffsets="earliest"))

    end = planner.next_end(start, has_limits=False)

    assert ends(end) == [10, 30]
    assert end.topic_ids.keys() == {topic}
    assert planner.next_end(end, has_limits=False) is end


def test_limit_is_shared_in_proportion(stream: MakeOptions, topic: str) -> None:
    planner, start = begin(stream(topic, startingOffsets="earliest", maxOffsetsPerTrigger="8"))

    first = planner.next_end(start, has_limits=True)
    second = planner.next_end(first, has_limits=True)

    assert ends(first) == [2, 6]
    assert sum(ends(second)) == 16
    assert planner.latest_known is not None
    assert ends(planner.latest_known) == [10, 30]
    assert ends(planner.next_end(start, has_limits=False)) == [10, 30]


def test_nobody_is_asked_while_enough_is_known_to_be_there(
    penstock_broker: Broker, stream: MakeOptions, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_planning, "BUSY_SECONDS", 60.0)
    planner, start = begin(stream(topic, startingOffsets="earliest", maxOffsetsPerTrigger="15"))
    first = planner.next_end(start, has_limits=True)
    known = planner.latest_known
    write(penstock_broker, topic, 20)

    second = planner.next_end(first, has_limits=True)
    assert planner.latest_known is known
    third = planner.next_end(second, has_limits=True)

    assert [sum(ends(end)) for end in (first, second, third)] == [15, 30, 45]
    assert planner.latest_known is not None
    assert ends(planner.latest_known) == [30, 30]


def test_what_is_known_is_looked_up_anew_before_long(
    penstock_broker: Broker, stream: MakeOptions, topic: str
) -> None:
    planner, start = begin(stream(topic, startingOffsets="earliest", maxOffsetsPerTrigger="1"))
    first = planner.next_end(start, has_limits=True)
    write(penstock_broker, topic, 20)
    time.sleep(stream_planning.BUSY_SECONDS)

    planner.next_end(first, has_limits=True)

    assert planner.latest_known is not None
    assert ends(planner.latest_known) == [30, 30]


def test_least_is_waited_for_but_not_for_ever(
    penstock_broker: Broker, stream: MakeOptions, topic: str
) -> None:
    given = {"minOffsetsPerTrigger": "5", "maxTriggerDelay": "1s", "startingOffsets": "earliest"}
    planner, start = begin(stream(topic, **given))
    first = planner.next_end(start, has_limits=True)
    write(penstock_broker, topic, 2)

    assert planner.next_end(first, has_limits=True) is first
    write(penstock_broker, topic, 3)
    second = planner.next_end(first, has_limits=True)
    assert ends(second) == [15, 30]

    write(penstock_broker, topic, 1)
    assert planner.next_end(second, has_limits=True) is second
    time.sleep(1.0)
    assert ends(planner.next_end(second, has_limits=True)) == [16, 30]


def test_new_partition_is_read_from_its_beginning(
    penstock_broker: Broker, stream: MakeOptions, topic: str
) -> None:
    planner, start = begin(stream(topic))
    add_partitions(penstock_broker.bootstrap_servers, topic, 3)
    write(penstock_broker, topic, 4, partition=2)

    end = planner.next_end(start, has_limits=False)

    assert ends(start) == [10, 30]
    assert ends(end) == [10, 30, 4]


def test_partitions_are_believed_for_as_long_as_the_options_say(
    penstock_broker: Broker, stream: MakeOptions, topic: str
) -> None:
    planner, start = begin(stream(topic, **{"partition.metadata.cache.ttl.ms": "300"}))
    planner.next_end(start, has_limits=False)
    add_partitions(penstock_broker.bootstrap_servers, topic, 3)

    assert planner.next_end(start, has_limits=False) is start
    time.sleep(0.3)
    assert ends(planner.next_end(start, has_limits=False)) == [10, 30, 0]


@pytest.mark.parametrize("limit", [{}, {"maxOffsetsPerTrigger": "3"}])
def test_topic_that_was_deleted_is_noticed_though_partitions_are_believed_for_long(
    penstock_broker: Broker, stream: MakeOptions, topic: str, limit: dict[str, str]
) -> None:
    other = penstock_broker.create_topic()
    write(penstock_broker, other, 5)
    both = f"{topic},{other}"
    given = {"partition.metadata.cache.ttl.ms": "600000", "startingOffsets": "earliest", **limit}
    strict, lenient = (StreamPlanner(stream(both, onDataLoss=each, **given)) for each in ("fail", "skip"))
    start = strict.initial()
    for planner in (strict, lenient):
        planner.next_end(start, has_limits=False)
    penstock_broker.delete_topic(topic)

    with pytest.raises(DataLossError, match=f"Records of {topic}-0 .* was deleted"):
        strict.next_end(start, has_limits=False)
    assert lenient.next_end(start, has_limits=False).topics == {other}
    assert lenient.next_end(start, has_limits=True).topics == {other}


def test_new_topic_that_matches_is_read_from_its_beginning(
    penstock_broker: Broker, stream: MakeOptions, topic: str
) -> None:
    planner, start = begin(stream(subscribePattern=f"{topic}.*"))
    other = penstock_broker.create_topic(f"{topic}-other")
    write(penstock_broker, other, 4)

    end = planner.next_end(start, has_limits=False)

    assert end.offsets[TopicPartition(other, 0)] == 4


def test_run_over_what_is_available_ends_where_everything_ended(
    penstock_broker: Broker, stream: MakeOptions, topic: str
) -> None:
    planner = StreamPlanner(stream(topic, startingOffsets="earliest", maxOffsetsPerTrigger="25"))
    planner.set_target()
    position = planner.initial()
    write(penstock_broker, topic, 5)
    seen = []
    while (end := planner.next_end(position, has_limits=True)) is not position:
        seen.append(sum(ends(end)))
        position = end

    assert seen == [25, 40]
    assert ends(position) == [10, 30]


def test_run_over_what_is_available_does_not_wait_for_the_least(stream: MakeOptions, topic: str) -> None:
    planner = StreamPlanner(stream(topic, startingOffsets="earliest", minOffsetsPerTrigger="1000"))
    planner.set_target()
    start = planner.next_end(planner.initial(), has_limits=True)

    assert ends(start) == [10, 30]


def test_run_over_what_is_available_begins_at_the_end_if_told_so(
    penstock_broker: Broker, stream: MakeOptions, topic: str
) -> None:
    """Spark asks for the target first: what comes before the beginning is asked for is not read."""
    planner = StreamPlanner(stream(topic))
    planner.set_target()
    write(penstock_broker, topic, 5)
    start = planner.initial()

    assert planner.next_end(start, has_limits=False) is start


def test_topic_made_anew_fails_the_stream_or_is_read_from_its_beginning(
    penstock_broker: Broker, stream: MakeOptions, topic: str
) -> None:
    planner, start = begin(stream(topic))
    penstock_broker.delete_topic(topic)
    penstock_broker.create_topic(topic)
    write(penstock_broker, topic, 4)

    with pytest.raises(DataLossError, match=r"from offset \d+ on were gone .* made anew"):
        planner.next_end(start, has_limits=False)
    lenient = StreamPlanner(stream(topic, onDataLoss="skip"))
    end = lenient.next_end(start, has_limits=False)
    assert end.offsets == {TopicPartition(topic, 0): 4}
    assert end.topic_ids != start.topic_ids
    assert lenient.next_end(end, has_limits=False) is end


def test_topic_that_was_deleted_fails_the_stream_or_is_left_out(
    penstock_broker: Broker, stream: MakeOptions, topic: str
) -> None:
    other = penstock_broker.create_topic()
    planner, start = begin(stream(f"{topic},{other}"))
    penstock_broker.delete_topic(topic)

    with pytest.raises(DataLossError, match=f"Records of {topic}-0 .* was deleted"):
        planner.next_end(start, has_limits=False)
    lenient = StreamPlanner(stream(f"{topic},{other}", onDataLoss="report"))
    assert lenient.next_end(start, has_limits=False).topics == {other}


def test_topic_that_is_read_no_more_is_remembered(
    penstock_broker: Broker, stream: MakeOptions, topic: str
) -> None:
    other = penstock_broker.create_topic()
    both = begin(stream(f"{topic},{other}"))[1]
    write(penstock_broker, topic, 5)
    write(penstock_broker, other, 5)

    end = StreamPlanner(stream(other)).next_end(both, has_limits=False)

    assert ends(both) == [0, 10, 30] if other < topic else [10, 30, 0]
    assert end.offsets == {**both.offsets, TopicPartition(other, 0): 5}
    assert end.topic_ids == both.topic_ids


@pytest.mark.parametrize("is_available_now", [False, True])
def test_partition_that_got_shorter_is_a_loss(
    stream: MakeOptions, topic: str, is_available_now: bool
) -> None:
    known = begin(stream(topic))[1]
    beyond = StreamOffset(
        offsets={TopicPartition(topic, 0): 25, TopicPartition(topic, 1): 30}, topic_ids=known.topic_ids
    )
    planner = StreamPlanner(stream(topic))
    if is_available_now:
        planner.set_target()

    with pytest.raises(DataLossError, match=f"Records of {topic}-0 with offsets 10 to 24 were gone"):
        planner.next_end(beyond, has_limits=False)


@pytest.mark.parametrize("is_available_now", [False, True])
def test_query_that_goes_over_to_what_is_committed_waits_for_an_open_transaction(
    penstock_broker: Broker, stream: MakeOptions, topic: str, is_available_now: bool
) -> None:
    committed_only = {"kafka.isolation.level": "read_committed"}
    servers, first = penstock_broker.bootstrap_servers, TopicPartition(topic, 0)
    with open_transaction(servers, topic, numbered(5)):
        read = begin(stream(topic))[1]
        planner = StreamPlanner(stream(topic, **committed_only))
        if is_available_now:
            planner.set_target()
        assert planner.next_end(read, has_limits=False) is read
        assert read.offsets[first] == 15
        write(penstock_broker, topic, 2)
        assert planner.next_end(read, has_limits=False) is read

    end = StreamPlanner(stream(topic, **committed_only)).next_end(read, has_limits=False)
    assert end.offsets[first] == 18


def test_partition_that_got_shorter_is_a_loss_behind_an_open_transaction_too(
    penstock_broker: Broker, stream: MakeOptions, topic: str
) -> None:
    committed_only = {"kafka.isolation.level": "read_committed"}
    with open_transaction(penstock_broker.bootstrap_servers, topic, numbered(5)):
        known = begin(stream(topic))[1]
        beyond = replace(known, offsets={**known.offsets, TopicPartition(topic, 0): 25})

        with pytest.raises(DataLossError, match=f"Records of {topic}-0 with offsets 15 to 24 were gone"):
            StreamPlanner(stream(topic, **committed_only)).next_end(beyond, has_limits=False)
        lenient = StreamPlanner(stream(topic, onDataLoss="skip", **committed_only))
        assert ends(lenient.next_end(beyond, has_limits=False)) == [15, 30]


def test_limit_counts_only_what_is_still_there_if_losses_may_be(
    penstock_broker: Broker, stream: MakeOptions, topic: str
) -> None:
    _, start = begin(stream(topic, startingOffsets="earliest"))
    delete_records(penstock_broker.bootstrap_servers, topic, 28, partition=1)
    planner = StreamPlanner(stream(topic, onDataLoss="skip", maxOffsetsPerTrigger="6"))

    assert ends(planner.next_end(start, has_limits=True)) == [5, 29]


def test_questions_are_spaced_out_while_nothing_is_new(stream: MakeOptions, topic: str) -> None:
    planner, start = begin(stream(topic))
    planner.next_end(start, has_limits=False)
    began = time.monotonic()
    for _ in range(4):
        planner.next_end(start, has_limits=False)

    assert time.monotonic() - began >= 4 * IDLE_SECONDS


def test_group_that_is_named_follows_what_spark_has_committed(
    penstock_broker: Broker, stream: MakeOptions, topic: str
) -> None:
    group, second = f"followers-of-{topic}", TopicPartition(topic, 1)
    planner, start = begin(stream(topic, startingOffsets="earliest", groupId=group))
    assert start.group_id is None
    end = planner.next_end(start, has_limits=False)
    planner.stop()
    assert committed(penstock_broker, group, second) == 0

    planner.next_end(end, has_limits=False)

    assert committed(penstock_broker, group, second) == 30
    commits = len(penstock_broker.requests.of("OffsetCommit"))
    planner.next_end(end, has_limits=False)
    assert len(penstock_broker.requests.of("OffsetCommit")) == commits


def test_group_follows_though_a_topic_that_is_remembered_is_gone(
    penstock_broker: Broker, stream: MakeOptions, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    other, group = penstock_broker.create_topic(), f"followers-of-{topic}"
    _, both = begin(stream(f"{topic},{other}", groupId=group))
    penstock_broker.delete_topic(topic)
    write(penstock_broker, other, 5)
    planner = StreamPlanner(stream(other, groupId=group))

    end = planner.next_end(both, has_limits=False)
    planner.next_end(end, has_limits=False)

    assert end.offsets == {**both.offsets, TopicPartition(other, 0): 5}
    assert committed(penstock_broker, group, TopicPartition(other, 0)) == 5
    assert "its lag cannot be seen" not in caplog.text


def test_coordinator_of_the_group_is_looked_for_once(
    penstock_broker: Broker, stream: MakeOptions, topic: str
) -> None:
    planner, end = begin(stream(topic, startingOffsets="earliest", groupId=f"followers-of-{topic}"))
    penstock_broker.requests.clear()
    for _ in range(3):
        end = planner.next_end(end, has_limits=False)
        planner.stop()
        write(penstock_broker, topic, 1)

    assert len(penstock_broker.requests.of("OffsetCommit")) == 3
    assert len(penstock_broker.requests.of("FindCoordinator")) == 1


def test_micro_batch_does_not_wait_for_its_group(
    penstock_broker: Broker, stream: MakeOptions, topic: str
) -> None:
    group, second = f"followers-of-{topic}", TopicPartition(topic, 1)
    planner, start = begin(stream(topic, startingOffsets="earliest", groupId=group, maxOffsetsPerTrigger="8"))
    penstock_broker.requests.clear()
    penstock_broker.faults.delay("OffsetCommit", seconds=2.0, times=1)

    first = planner.next_end(start, has_limits=True)
    last = planner.next_end(first, has_limits=True)

    assert ends(last) == [4, 12]
    assert len(penstock_broker.requests.of("OffsetCommit")) <= 1
    planner.stop()
    assert committed(penstock_broker, group, second) == 0
    planner.next_end(last, has_limits=True)
    planner.stop()
    assert committed(penstock_broker, group, second) == 12


def test_group_of_a_checkpoint_is_remembered_in_it(
    penstock_broker: Broker, stream: MakeOptions, topic: str
) -> None:
    options = stream(topic, startingOffsets="earliest", groupIdPrefix="my-queries")
    planner, start = begin(options)
    assert start.group_id is not None
    assert start.group_id.startswith("my-queries-")
    end = planner.next_end(start, has_limits=False)
    restarted = StreamPlanner(options)
    restarted.next_end(end, has_limits=False)

    assert end.group_id == start.group_id
    assert committed(penstock_broker, start.group_id, TopicPartition(topic, 1)) == 30
    assert begin(options)[1].group_id != start.group_id


def test_checkpoint_of_the_connector_gets_ids_and_a_group(stream: MakeOptions, topic: str) -> None:
    start = StreamOffset(offsets={TopicPartition(topic, 0): 3, TopicPartition(topic, 1): 30})

    end = StreamPlanner(stream(topic)).next_end(start, has_limits=False)

    assert end.topic_ids.keys() == {topic}
    assert end.group_id is not None


def test_stream_without_commits_has_no_group(
    penstock_broker: Broker, stream: MakeOptions, topic: str
) -> None:
    planner, start = begin(stream(topic, startingOffsets="earliest", commitOffsets="false", groupId="g"))
    penstock_broker.requests.clear()

    assert planner.next_end(start, has_limits=False).group_id is None
    assert penstock_broker.requests.of("OffsetCommit") == []


def test_group_that_cannot_be_reached_does_not_stop_the_query(
    penstock_broker: Broker, stream: MakeOptions, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    planner, start = begin(stream(topic, startingOffsets="earliest"))
    penstock_broker.faults.fail("OffsetCommit", error="UNKNOWN_MEMBER_ID")

    assert ends(planner.next_end(start, has_limits=False)) == [10, 30]
    planner.stop()
    assert "its lag cannot be seen" in caplog.text


@pytest.mark.slow
def test_leader_that_dies_is_waited_for(penstock_cluster: BrokerCluster) -> None:
    topic = penstock_cluster.create_topic()
    produce(penstock_cluster.bootstrap_servers, topic, numbered(10))
    options = stream_options(
        {
            "kafka.bootstrap.servers": penstock_cluster.bootstrap_servers,
            "subscribe": topic,
            "startingOffsets": "earliest",
            **QUICK,
        }
    )
    planner, start = begin(options)
    penstock_cluster.kill(penstock_cluster.leader(topic))

    end = planner.next_end(start, has_limits=False)

    assert ends(end) == [10]
    assert planner.next_end(end, has_limits=False) is end
