"""Reading partitions from brokers that hand over, forget or fall silent; against scripted ones."""

from typing import Any

from tests.analysis.analysis_testing import keyed
from tests.cli.scripted_broker import ScriptedBroker, scripted_cluster
from tests.conftest import UniqueName

from penstock.client import Admin, Producer
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.records.builder import build_batch
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address
from penstock.wire_client.fetching import Fetching, FetchLimits, OffsetRange, stored_ranges

ORDERS = TopicPartition("orders", 0)


def answer(data: PartitionData) -> FetchResponse:
    return FetchResponse(responses=(FetchableTopicResponse(topic="orders", partitions=(data,)),))


def with_batches(*base_offsets: int) -> FetchResponse:
    """Batches of one record each."""
    records = b"".join(build_batch(keyed("k"), base_offset=offset) for offset in base_offsets)
    return answer(PartitionData(partition_index=0, error_code=0, high_watermark=9, records=records))


def refusal(code: ErrorCode, *, log_start_offset: int = -1) -> FetchResponse:
    return answer(
        PartitionData(
            partition_index=0,
            error_code=code,
            high_watermark=-1,
            log_start_offset=log_start_offset,
            records=b"",
        )
    )


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


def test_reading_that_retention_overtook_goes_on_at_the_new_beginning() -> None:
    with scripted_cluster(topics={"orders": [1]}) as (broker,):
        script = iter([refusal(ErrorCode.OFFSET_OUT_OF_RANGE, log_start_offset=3), with_batches(3)])
        broker.on(ApiKey.FETCH, lambda _: next(script))

        assert offsets_read(broker, OffsetRange(0, 4))[0] == [3]
        assert asked_offsets(broker) == [0, 3]


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
