"""Reading partitions from brokers that hand over, forget or fall silent; against scripted ones."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.analysis.analysis_testing import keyed
from tests.cli.scripted_broker import HangUpError, Script, ScriptedBroker, metadata, scripted_cluster
from tests.conftest import UniqueName

from penstock.client import Admin, Producer
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.records.builder import build_batch
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from penstock.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from penstock.wire_client import fetching as fetching_module
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address
from penstock.wire_client.errors import BrokenConnectionError
from penstock.wire_client.fetching import Fetching, FetchLimits, OffsetRange, stored_ranges
from penstock.wire_client.patience import Patience

ORDERS = TopicPartition("orders", 0)


@pytest.fixture
def two_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patience that is counted instead of measured."""
    monkeypatch.setattr(
        fetching_module, "_PATIENCE", Patience(seconds_max=0, attempts_min=2, pause_seconds=0.001)
    )


def answer(data: PartitionData) -> FetchResponse:
    return FetchResponse(responses=(FetchableTopicResponse(topic="orders", partitions=(data,)),))


def with_batches(*base_offsets: int) -> FetchResponse:
    """Batches of one record each."""
    records = b"".join(build_batch(keyed("k"), base_offset=offset) for offset in base_offsets)
    return answer(PartitionData(partition_index=0, error_code=0, high_watermark=9, records=records))


def refusal(code: ErrorCode) -> FetchResponse:
    """As brokers refuse: without a word about where the log begins or ends."""
    data = PartitionData(
        partition_index=0, error_code=code, high_watermark=-1, log_start_offset=-1, records=b""
    )
    return answer(data)


def beginning(offset: int) -> ListOffsetsResponse:
    """Where the log begins now."""
    found = ListOffsetsPartitionResponse(partition_index=0, offset=offset)
    return ListOffsetsResponse(topics=(ListOffsetsTopicResponse(name="orders", partitions=(found,)),))


def hang_up(_: Any) -> FetchResponse:
    raise HangUpError


def offsets_read(broker: ScriptedBroker, wanted: OffsetRange) -> tuple[list[int], Fetching]:
    with Cluster.connect([Address(broker.host, broker.port)]) as cluster:
        fetching = Fetching(cluster, {ORDERS: wanted})
        return [batch.header.base_offset for batch in fetching.batches()], fetching


def asked_offsets(broker: ScriptedBroker) -> list[int]:
    return [
        asked.message.topics[0].partitions[0].fetch_offset
        for asked in broker.asked
        if asked.api is ApiKey.FETCH
    ]


def test_reading_goes_on_from_the_last_batch_and_skips_what_it_has() -> None:
    with scripted_cluster(topics={"orders": [1]}) as (broker,):
        script = iter([with_batches(0, 1), with_batches(1, 4)])
        broker.on(ApiKey.FETCH, lambda _: next(script))

        offsets, fetching = offsets_read(broker, OffsetRange(0, 5))
        assert offsets == [0, 1, 4]
        assert asked_offsets(broker) == [0, 2]
        assert fetching.missed == {}


def test_reading_of_an_empty_partition_asks_nobody() -> None:
    with scripted_cluster(topics={"orders": [1]}) as (broker,):
        assert offsets_read(broker, OffsetRange(7, 7))[0] == []
        assert asked_offsets(broker) == []


def test_reading_follows_a_partition_to_its_new_leader() -> None:
    topics = {"orders": [1]}
    with scripted_cluster(2, topics=topics) as (first, second):

        def hand_over(_: Any) -> FetchResponse:
            topics["orders"] = [2]
            return refusal(ErrorCode.NOT_LEADER_OR_FOLLOWER)

        first.on(ApiKey.FETCH, hand_over)
        second.on(ApiKey.FETCH, with_batches(0))

        assert offsets_read(first, OffsetRange(0, 1))[0] == [0]


def test_reading_looks_for_another_leader_when_one_has_nothing() -> None:
    """A former leader that follows answers consumers without an error."""
    topics = {"orders": [1]}
    with scripted_cluster(2, topics=topics) as (first, second):

        def hand_over(_: Any) -> FetchResponse:
            topics["orders"] = [2]
            return with_batches()

        first.on(ApiKey.FETCH, hand_over)
        second.on(ApiKey.FETCH, with_batches(0))

        assert offsets_read(first, OffsetRange(0, 1))[0] == [0]
        assert asked_offsets(first) == [0]


def test_reading_outlasts_leaders_that_do_not_lead_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    patience = Patience(seconds_max=0, attempts_min=11, pause_seconds=0.001)
    monkeypatch.setattr(fetching_module, "_PATIENCE", patience)
    refused = [refusal(ErrorCode.NOT_LEADER_OR_FOLLOWER)] * 10
    with scripted_cluster(topics={"orders": [1]}) as (broker,):
        script = iter([*refused, with_batches(0)])
        broker.on(ApiKey.FETCH, lambda _: next(script))

        offsets, fetching = offsets_read(broker, OffsetRange(0, 1))
    assert (offsets, fetching.missed) == ([0], {})


def test_reading_outlasts_connections_that_break() -> None:
    with scripted_cluster(topics={"orders": [1]}) as (broker,):
        script: Iterator[Script] = iter(
            [hang_up, lambda _: with_batches(0), hang_up, lambda _: with_batches(1)]
        )
        broker.on(ApiKey.FETCH, lambda request: next(script)(request))

        assert offsets_read(broker, OffsetRange(0, 2))[0] == [0, 1]
        assert asked_offsets(broker) == [0, 0, 1, 1]


def test_reading_outlasts_a_leader_that_is_gone() -> None:
    topics = {"orders": [2]}
    with scripted_cluster(2, topics=topics) as (first, second):
        second.stop_listening()
        described = iter([[2], [2]])

        def move_in_time(request: Any) -> Any:
            topics["orders"] = next(described, [1])
            return metadata([first, second], topics, request)

        first.on(ApiKey.METADATA, move_in_time)
        first.on(ApiKey.FETCH, with_batches(0))

        assert offsets_read(first, OffsetRange(0, 1))[0] == [0]


@pytest.mark.usefixtures("two_attempts")
def test_patience_begins_anew_whenever_something_came() -> None:
    refused = refusal(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    with scripted_cluster(topics={"orders": [1]}) as (broker,):
        parts = [refused, with_batches(0), refused, refused, with_batches(1), refused, with_batches(2)]
        script = iter(parts)
        broker.on(ApiKey.FETCH, lambda _: next(script))

        offsets, fetching = offsets_read(broker, OffsetRange(0, 3))
    assert (offsets, fetching.missed, fetching.abandoned) == ([0, 1, 2], {}, set())


@pytest.mark.usefixtures("two_attempts")
@pytest.mark.parametrize("trouble", [hang_up, lambda _: refusal(ErrorCode.NOT_LEADER_OR_FOLLOWER)])
def test_partition_whose_leader_does_not_answer_is_abandoned_and_others_are_read(trouble: Any) -> None:
    with scripted_cluster(2, topics={"orders": [2, 1]}) as (first, second):
        second.on(ApiKey.FETCH, trouble)
        data = PartitionData(
            partition_index=1, error_code=0, high_watermark=1, records=build_batch(keyed("k"))
        )
        first.on(ApiKey.FETCH, answer(data))
        other = TopicPartition("orders", 1)

        with Cluster.connect([Address(first.host, first.port)]) as cluster:
            fetching = Fetching(cluster, {ORDERS: OffsetRange(4, 9), other: OffsetRange(0, 1)})
            assert [batch.partition for batch in fetching.batches()] == [other]

    assert (fetching.missed, fetching.abandoned) == ({ORDERS: 4}, {ORDERS})


@pytest.mark.usefixtures("two_attempts")
def test_reading_from_a_cluster_that_is_gone_says_so() -> None:
    with scripted_cluster(topics={"orders": [1]}) as (broker,):

        def stop(_: Any) -> FetchResponse:
            broker.on(ApiKey.METADATA, hang_up)
            raise HangUpError

        broker.on(ApiKey.FETCH, stop)
        with pytest.raises(BrokenConnectionError):
            offsets_read(broker, OffsetRange(0, 1))


@pytest.mark.usefixtures("two_attempts")
def test_reading_in_trouble_gives_who_waits_the_chance_to_stop() -> None:
    with (
        scripted_cluster(topics={"orders": [-1]}) as (broker,),
        Cluster.connect([Address(broker.host, broker.port)]) as cluster,
    ):
        assert list(Fetching(cluster, {ORDERS: OffsetRange(0, 1)}).answers()) == [[], []]


def test_reading_that_retention_overtook_goes_on_at_the_new_beginning() -> None:
    with scripted_cluster(topics={"orders": [1]}) as (broker,):
        script = iter([refusal(ErrorCode.OFFSET_OUT_OF_RANGE), with_batches(3)])
        broker.on(ApiKey.FETCH, lambda _: next(script))
        broker.on(ApiKey.LIST_OFFSETS, beginning(3))

        offsets, fetching = offsets_read(broker, OffsetRange(0, 4))
        assert (offsets, fetching.missed) == ([3], {})
        assert asked_offsets(broker) == [0, 3]


@pytest.mark.parametrize("start", [0, 2, 4, 9])
def test_reading_of_what_the_log_has_no_more_ends_and_says_what_is_missing(start: int) -> None:
    """It was cut off before that, or begins behind it by now."""
    with scripted_cluster(topics={"orders": [1]}) as (broker,):
        broker.on(ApiKey.FETCH, refusal(ErrorCode.OFFSET_OUT_OF_RANGE))
        broker.on(ApiKey.LIST_OFFSETS, beginning(start))

        offsets, fetching = offsets_read(broker, OffsetRange(2, 4))
        assert (offsets, fetching.missed) == ([], {ORDERS: 2})
        assert asked_offsets(broker) == [2]


@pytest.mark.parametrize("leader", [1, -1], ids=["breaks off", "is not there"])
def test_reading_that_retention_overtook_asks_again_when_the_leader(leader: int) -> None:
    topics = {"orders": [1]}
    with scripted_cluster(topics=topics) as (broker,):

        def refuse(_: Any) -> FetchResponse:
            topics["orders"] = [leader]
            broker.on(ApiKey.METADATA, come_back)
            return refusal(ErrorCode.OFFSET_OUT_OF_RANGE)

        described = iter([[leader]])

        def come_back(request: Any) -> Any:
            topics["orders"] = next(described, [1])
            return metadata([broker], topics, request)

        script: Iterator[Script] = iter(
            [refuse, lambda _: refusal(ErrorCode.OFFSET_OUT_OF_RANGE), lambda _: with_batches(3)]
        )
        broker.on(ApiKey.FETCH, lambda request: next(script)(request))
        places = iter([hang_up] if leader > 0 else [])
        broker.on(ApiKey.LIST_OFFSETS, lambda request: next(places, lambda _: beginning(3))(request))

        assert offsets_read(broker, OffsetRange(0, 4))[0] == [3]
        assert asked_offsets(broker) == [0, 0, 3]


def test_reading_of_what_never_comes_ends_and_says_what_is_missing() -> None:
    with scripted_cluster(topics={"orders": [1]}) as (broker,):
        script = iter([with_batches(0)])
        broker.on(ApiKey.FETCH, lambda _: next(script, with_batches()))

        offsets, fetching = offsets_read(broker, OffsetRange(0, 5))
        assert offsets == [0]
        assert fetching.missed == {ORDERS: 1}


def test_partitions_that_had_no_room_in_an_answer_are_asked_for_first(
    bootstrap: str, unique: UniqueName
) -> None:
    """A broker fills an answer in the order of the request: the last ones would never have their turn."""
    topic = unique("crowded")
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topic(topic, partitions=6)
    with Producer(bootstrap_servers=bootstrap) as producer:
        for number in range(600):
            producer.send(topic, b"x" * 1000, None, None, number % 6)
            if number % 60 == 59:
                producer.flush()
    host, port = bootstrap.split(":")
    limits = FetchLimits(answer_bytes_max=20_000, partition_bytes_max=10_000)
    with Cluster.connect([Address(host, int(port))]) as cluster:
        ranges = stored_ranges(cluster, [TopicPartition(topic, number) for number in range(6)])
        fetching = Fetching(cluster, ranges, limits=limits)
        count = sum(batch.header.record_count for batch in fetching.batches())
    assert (count, fetching.missed) == (600, {})
