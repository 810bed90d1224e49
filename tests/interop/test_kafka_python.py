"""kafka-python: records, offsets, fetch sessions, old protocol versions, administration."""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition, errors
from kafka import codec as kafka_codec
from kafka.admin import ConfigResource, ConfigResourceType, OffsetSpec
from tests.broker_process import wait_until
from tests.cluster_size import REPLICATION_FACTOR
from tests.conftest import UniqueName
from tests.raw_kafka import Connection

pytestmark = [
    pytest.mark.interop,
    # The client reads further message definitions when it first needs them.
    pytest.mark.filterwarnings("ignore:read_text is deprecated:DeprecationWarning"),
]

CODECS = {"gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
OLD_BROKERS = [(0, 11), (1, 0), (2, 0), (2, 4), (2, 8), (3, 5), (3, 9)]
"""One pin for every generation of request versions: before and after flexible ones and topic ids."""


@pytest.fixture(scope="module")
def admin(bootstrap: str) -> Iterator[KafkaAdminClient]:
    client = KafkaAdminClient(bootstrap_servers=bootstrap)
    yield client
    client.close()


def create_topic(admin: KafkaAdminClient, name: str, *, partitions: int = 1, **config: str) -> str:
    settings = {"retention.ms": "-1", **{key.replace("_", "."): value for key, value in config.items()}}
    wanted = {"num_partitions": partitions, "replication_factor": REPLICATION_FACTOR, "configs": settings}
    admin.create_topics({name: wanted})
    wait_until(lambda: name in admin.list_topics(), what=f"{name} in metadata")
    return name


def send(bootstrap: str, topic: str, messages: list[dict[str, Any]], **settings: Any) -> list[Any]:
    """Deliver all; the record metadata of each."""
    producer = KafkaProducer(bootstrap_servers=bootstrap, **settings)
    try:
        futures = [producer.send(topic, **message) for message in messages]
        producer.flush(30)
        return [future.get(30) for future in futures]
    finally:
        producer.close()


@contextmanager
def assigned(bootstrap: str, topic: str, *partitions: int, **settings: Any) -> Iterator[KafkaConsumer]:
    """A consumer without a group, at the beginning."""
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap,
        **{"auto_offset_reset": "earliest", "enable_auto_commit": False, **settings},
    )
    try:
        consumer.assign([TopicPartition(topic, number) for number in partitions or (0,)])
        yield consumer
    finally:
        consumer.close()


def read(consumer: KafkaConsumer, count: int, *, seconds: float = 20) -> list[Any]:
    found: list[Any] = []
    deadline = time.monotonic() + seconds
    while len(found) < count and time.monotonic() < deadline:
        for records in consumer.poll(timeout_ms=200).values():
            found += records
    assert len(found) == count, f"read {len(found)} of {count} records"
    return found


def test_client_recognises_a_modern_broker(bootstrap: str, admin: KafkaAdminClient) -> None:
    described = admin.describe_cluster()

    assert len(described["cluster_id"]) == 22
    brokers = described["brokers"]
    assert {f"{broker['host']}:{broker['port']}" for broker in brokers} == set(bootstrap.split(","))
    assert described["controller_id"] in [broker["broker_id"] for broker in brokers]


@pytest.mark.parametrize("codec", [None, *CODECS])
def test_codec_round_trip_keeps_every_record(
    bootstrap: str, admin: KafkaAdminClient, unique: UniqueName, codec: str | None
) -> None:
    if codec is not None and not getattr(kafka_codec, f"has_{codec}")():
        pytest.skip(f"kafka-python finds no library for {codec}")
    topic = create_topic(admin, unique())
    wanted = [b"%06d" % index * (1 + index % 40) for index in range(300)]

    send(bootstrap, topic, [{"value": value} for value in wanted], compression_type=codec, linger_ms=50)

    with assigned(bootstrap, topic, check_crcs=True) as consumer:
        assert [record.value for record in read(consumer, 300)] == wanted
    with Connection(bootstrap) as raw:
        assert {batch.codec for batch in raw.fetch_all(topic)} == {CODECS.get(codec or "", 0)}


def test_sent_records_report_where_they_went_and_come_back_whole(
    bootstrap: str, admin: KafkaAdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique(), partitions=2)
    messages = [
        {
            "key": b"k",
            "value": b"%d" % i,
            "partition": 1,
            "headers": [("h", b"%d" % i)],
            "timestamp_ms": 7000 + i,
        }
        for i in range(10)
    ]

    reported = send(bootstrap, topic, messages)

    assert [(one.topic, one.partition, one.offset, one.timestamp) for one in reported] == [
        (topic, 1, index, 7000 + index) for index in range(10)
    ]
    with assigned(bootstrap, topic, 0, 1) as consumer:
        found = read(consumer, 10)
    assert [
        (one.offset, one.key, one.value, one.headers, one.timestamp, one.timestamp_type) for one in found
    ] == [(index, b"k", b"%d" % index, [("h", b"%d" % index)], 7000 + index, 0) for index in range(10)]


def test_null_and_empty_keys_and_values_stay_apart(
    bootstrap: str, admin: KafkaAdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique())
    pairs = [(b"k", None), (None, b""), (b"", b"x")]
    send(bootstrap, topic, [{"key": key, "value": value} for key, value in pairs])
    with assigned(bootstrap, topic) as consumer:
        assert [(record.key, record.value) for record in read(consumer, 3)] == pairs


def test_log_append_time_is_told_to_producer_and_consumer_alike(
    bootstrap: str, admin: KafkaAdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique(), message_timestamp_type="LogAppendTime")

    (reported,) = send(bootstrap, topic, [{"value": b"x", "timestamp_ms": 5}])

    assert abs(reported.timestamp - time.time() * 1000) < 60_000
    with assigned(bootstrap, topic) as consumer:
        (record,) = read(consumer, 1)
    assert (record.timestamp_type, record.timestamp) == (1, reported.timestamp)


def test_offsets_are_found_by_time_beginning_and_end(
    bootstrap: str, admin: KafkaAdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique())
    partition = TopicPartition(topic, 0)
    send(bootstrap, topic, [{"value": b"x", "timestamp_ms": 10_000 + 100 * index} for index in range(10)])
    with assigned(bootstrap, topic) as consumer:
        assert consumer.beginning_offsets([partition]) == {partition: 0}
        assert consumer.end_offsets([partition]) == {partition: 10}
        for timestamp, offset in ((0, 0), (10_000, 0), (10_050, 1), (10_900, 9)):
            found = consumer.offsets_for_times({partition: timestamp})[partition]
            assert (found.offset, found.timestamp) == (offset, 10_000 + 100 * offset)
        assert consumer.offsets_for_times({partition: 10_901})[partition] is None


def test_fetch_session_follows_seek_pause_and_new_assignments(
    bootstrap: str, admin: KafkaAdminClient, unique: UniqueName
) -> None:
    """Each step changes what the session holds: partitions added, forgotten, moved."""
    topic = create_topic(admin, unique(), partitions=3)
    first, second, third = (TopicPartition(topic, number) for number in range(3))
    send(bootstrap, topic, [{"value": b"%d" % i, "partition": p} for i in range(30) for p in range(3)])
    with assigned(bootstrap, topic, 0, 1, fetch_max_wait_ms=50) as consumer:
        read(consumer, 60)
        consumer.seek(first, 25)
        consumer.pause(second)
        assert [(one.partition, one.offset) for one in read(consumer, 5)] == [(0, o) for o in range(25, 30)]
        consumer.assign([third])
        assert [(one.partition, one.offset) for one in read(consumer, 30)] == [(2, o) for o in range(30)]
        send(bootstrap, topic, [{"value": b"late", "partition": p} for p in range(3)])
        assert [(one.partition, one.offset) for one in read(consumer, 1)] == [(2, 30)]
        consumer.assign([first, second])
        consumer.seek(first, 29)
        consumer.seek(second, 30)
        found = {(one.partition, one.offset) for one in read(consumer, 3)}
        assert found == {(0, 29), (0, 30), (1, 30)}


def test_idle_session_is_answered_in_time_and_wakes_up_for_data(
    bootstrap: str, admin: KafkaAdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique())
    with assigned(bootstrap, topic, fetch_max_wait_ms=200) as consumer:
        assert consumer.poll(timeout_ms=700) == {}
        send(bootstrap, topic, [{"value": b"x"}])
        assert [record.value for record in read(consumer, 1)] == [b"x"]


def test_record_larger_than_the_fetch_limits_comes_through(
    bootstrap: str, admin: KafkaAdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique(), max_message_bytes="2000000")
    big = random.Random(3).randbytes(700_000)
    send(bootstrap, topic, [{"value": big}, {"value": b"small"}], max_request_size=2_000_000)
    with assigned(bootstrap, topic, max_partition_fetch_bytes=1000, fetch_max_bytes=1000) as consumer:
        assert [record.value for record in read(consumer, 2)] == [big, b"small"]


def test_record_over_the_topics_limit_is_refused(
    bootstrap: str, admin: KafkaAdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique(), max_message_bytes="1000")
    with pytest.raises(errors.MessageSizeTooLargeError):
        send(bootstrap, topic, [{"value": random.Random(4).randbytes(50_000)}], retries=0)


@pytest.mark.parametrize("acks", [0, 1, "all"])
def test_acks_level_delivers_everything(
    bootstrap: str, admin: KafkaAdminClient, unique: UniqueName, acks: int | str
) -> None:
    topic = create_topic(admin, unique())
    wanted = [b"%d" % index for index in range(200)]
    send(bootstrap, topic, [{"value": value} for value in wanted], acks=acks, enable_idempotence=False)
    with assigned(bootstrap, topic) as consumer:
        assert [record.value for record in read(consumer, 200)] == wanted


def test_idempotent_producer_keeps_order_over_many_batches(
    bootstrap: str, admin: KafkaAdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique(), partitions=2)
    messages = [{"value": b"%d" % index, "partition": index % 2} for index in range(1000)]
    send(bootstrap, topic, messages, enable_idempotence=True, acks="all", batch_size=256)
    with assigned(bootstrap, topic, 0, 1) as consumer:
        found = read(consumer, 1000)
    for number in (0, 1):
        values = [int(record.value) for record in found if record.partition == number]
        assert values == list(range(number, 1000, 2))


@pytest.mark.parametrize("version", OLD_BROKERS, ids=lambda version: ".".join(map(str, version)))
def test_client_pinned_to_an_old_broker_is_served(
    bootstrap: str, admin: KafkaAdminClient, unique: UniqueName, version: tuple[int, int]
) -> None:
    topic = create_topic(admin, unique())
    partition = TopicPartition(topic, 0)
    wanted = [b"%d" % index for index in range(20)]
    send(bootstrap, topic, [{"value": value, "timestamp_ms": 5000} for value in wanted], api_version=version)
    with assigned(bootstrap, topic, api_version=version) as consumer:
        assert [record.value for record in read(consumer, 20)] == wanted
        assert consumer.end_offsets([partition]) == {partition: 20}
        assert consumer.offsets_for_times({partition: 4000})[partition].offset == 0


def test_topics_are_created_described_grown_and_deleted(admin: KafkaAdminClient, unique: UniqueName) -> None:
    topic = create_topic(admin, unique(), partitions=3)
    (described,) = admin.describe_topics([topic])
    assert sorted(one["partition_index"] for one in described["partitions"]) == [0, 1, 2]
    with pytest.raises(errors.TopicAlreadyExistsError):
        admin.create_topics({topic: {"num_partitions": 3, "replication_factor": 1}})

    admin.create_partitions({topic: 4})
    wait_until(lambda: len(admin.describe_topics([topic])[0]["partitions"]) == 4, what="four partitions")
    paged = admin.describe_topic_partitions([topic], response_partition_limit=3)
    assert [one["partition_index"] for one in paged["topics"][0]["partitions"]] == [0, 1, 2]
    assert paged["next_cursor"] == {"topic_name": topic, "partition_index": 3}

    admin.delete_topics([topic])
    wait_until(lambda: topic not in admin.list_topics(), what="the topic to go")
    with pytest.raises(errors.UnknownTopicOrPartitionError):
        admin.delete_topics([topic])


def test_settings_are_shown_and_changed(admin: KafkaAdminClient, unique: UniqueName) -> None:
    topic = create_topic(admin, unique(), retention_ms="555000")

    def modified() -> dict[str, str]:
        (shown,) = admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])["topic"].values()
        return {key: entry["value"] for key, entry in shown.items()}

    assert modified() == {"retention.ms": "555000"}
    admin.alter_configs(
        [ConfigResource(ConfigResourceType.TOPIC, topic, configs={"segment.bytes": "2000000"})]
    )
    wait_until(lambda: modified().get("segment.bytes") == "2000000", what="the new setting")
    assert modified() == {"retention.ms": "555000", "segment.bytes": "2000000"}


def test_records_are_deleted_up_to_an_offset(
    bootstrap: str, admin: KafkaAdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique())
    partition = TopicPartition(topic, 0)
    send(bootstrap, topic, [{"value": b"%d" % index} for index in range(10)])

    admin.delete_records({partition: 6})

    with assigned(bootstrap, topic) as consumer:
        assert consumer.beginning_offsets([partition]) == {partition: 6}
        assert [record.offset for record in read(consumer, 4)] == [6, 7, 8, 9]


def test_offsets_are_listed_by_the_admin_client(
    bootstrap: str, admin: KafkaAdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique())
    partition = TopicPartition(topic, 0)
    send(bootstrap, topic, [{"value": b"x", "timestamp_ms": stamp} for stamp in (1000, 5000, 3000)])

    def listed(specification: OffsetSpec) -> int:
        offset: int = admin.list_partition_offsets({partition: specification})[partition].offset
        return offset

    assert listed(OffsetSpec.EARLIEST) == 0
    assert listed(OffsetSpec.LATEST) == 3
    assert listed(OffsetSpec.MAX_TIMESTAMP) == 1
    assert listed(OffsetSpec.EARLIEST_LOCAL) == 0


def test_log_directories_are_described_with_sizes(
    bootstrap: str, admin: KafkaAdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique())
    send(bootstrap, topic, [{"value": b"x" * 1000}])

    holding = [
        broker["log_dirs"]
        for broker in admin.describe_log_dirs({topic: [0]})
        if any(shown["name"] == topic for each in broker["log_dirs"] for shown in each["topics"])
    ]

    assert len(holding) == REPLICATION_FACTOR
    (directory,) = holding[0]
    assert directory["error_code"] == 0
    assert directory["total_bytes"] > directory["usable_bytes"] > 0
    ((size, lag),) = [
        (partition["partition_size"], partition["offset_lag"])
        for shown in directory["topics"]
        for partition in shown["partitions"]
        if shown["name"] == topic
    ]
    assert 1000 < size < 2000
    assert lag == 0
