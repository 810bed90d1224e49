"""confluent-kafka (librdkafka) produces and consumes."""

import hashlib
import random
import time

import pytest
from confluent_kafka import (
    OFFSET_END,
    TIMESTAMP_CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from tests.conftest import UniqueName
from tests.interop.confluent import (
    admin_client,
    consumer,
    create_topic,
    delivery_error,
    error_code,
    make_producer,
    partition_count,
    read,
    read_all,
    send,
)
from tests.raw_kafka import Connection

pytestmark = pytest.mark.interop

CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}


@pytest.fixture(scope="module")
def admin(bootstrap: str) -> AdminClient:
    return admin_client(bootstrap)


@pytest.mark.parametrize("codec", CODECS)
def test_codec_round_trip_keeps_every_record(
    bootstrap: str, admin: AdminClient, unique: UniqueName, codec: str
) -> None:
    topic = create_topic(admin, unique(codec))
    noise = random.Random(codec).randbytes(3000)
    payloads = [noise[:10], b"", b"a" * 5000, noise, b"%032d" % 7 * 100, None]
    wanted = [payloads[index % len(payloads)] for index in range(300)]
    producer = make_producer(bootstrap, compression_type=codec, linger_ms=50)

    send(producer, topic, [{"key": b"%d" % index, "value": value} for index, value in enumerate(wanted)])

    found = read_all(bootstrap, topic)
    assert [message.value() for message in found] == wanted
    assert [message.offset() for message in found] == list(range(300))
    with Connection(bootstrap) as raw:
        stored = raw.fetch_all(topic)
    # librdkafka leaves a batch as it is when compressing does not make it smaller.
    assert max(stored, key=lambda batch: len(batch.payload)).codec == CODECS[codec]
    assert {batch.codec for batch in stored} <= {CODECS[codec], 0}
    assert all(batch.crc_is_right for batch in stored)


def test_consumer_assigned_inside_a_compressed_batch_starts_at_that_offset(
    bootstrap: str, admin: AdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique())
    producer = make_producer(bootstrap, compression_type="gzip", linger_ms=200)
    send(producer, topic, [{"value": b"%d" % index} for index in range(100)])
    with Connection(bootstrap) as raw:
        assert len(raw.fetch_all(topic)) < 100, "nothing was batched: the test would show nothing"

    with consumer(bootstrap) as client:
        client.assign([TopicPartition(topic, 0, 77)])
        found = read(client, 23)

    assert [message.offset() for message in found] == list(range(77, 100))


@pytest.mark.parametrize(
    ("topic_codec", "producer_codec", "stored_codec"),
    [("gzip", "lz4", "gzip"), ("uncompressed", "zstd", "none"), ("producer", "snappy", "snappy")],
)
def test_topic_with_its_own_compression_stores_that_codec(
    bootstrap: str,
    admin: AdminClient,
    unique: UniqueName,
    topic_codec: str,
    producer_codec: str,
    stored_codec: str,
) -> None:
    topic = create_topic(admin, unique(), config={"compression.type": topic_codec})
    wanted = [b"v%d" % index * 50 for index in range(100)]
    producer = make_producer(bootstrap, compression_type=producer_codec, linger_ms=50)

    send(producer, topic, [{"value": value} for value in wanted])

    assert [message.value() for message in read_all(bootstrap, topic)] == wanted
    with Connection(bootstrap) as raw:
        assert {batch.codec for batch in raw.fetch_all(topic)} == {CODECS[stored_codec]}


def test_topic_with_its_own_compression_and_its_own_time_keeps_both(
    bootstrap: str, admin: AdminClient, unique: UniqueName
) -> None:
    settings = {"compression.type": "gzip", "message.timestamp.type": "LogAppendTime"}
    topic = create_topic(admin, unique(), config=settings)

    send(make_producer(bootstrap, compression_type="lz4"), topic, [{"value": b"v" * 500, "timestamp": 1000}])

    (message,) = read_all(bootstrap, topic)
    assert message.value() == b"v" * 500
    assert message.timestamp()[0] == TIMESTAMP_LOG_APPEND_TIME
    with Connection(bootstrap) as raw:
        assert {batch.codec for batch in raw.fetch_all(topic)} == {CODECS["gzip"]}


def test_headers_and_empty_parts_survive(bootstrap: str, admin: AdminClient, unique: UniqueName) -> None:
    topic = create_topic(admin, unique())
    headers = [
        ("a", b"1"),
        ("a", b"2"),
        ("empty", b""),
        ("null", None),
        ("binary", bytes(range(256))),
        ("ünï", "ç".encode()),
    ]

    send(
        make_producer(bootstrap),
        topic,
        [
            {"key": None, "value": None, "headers": headers},
            {"key": b"", "value": b""},
            {"key": b"k", "value": b"v"},
        ],
    )

    first, second, third = read_all(bootstrap, topic)
    assert (first.key(), first.value(), first.headers()) == (None, None, headers)
    assert (second.key(), second.value(), second.headers()) == (b"", b"", None)
    assert (third.key(), third.value()) == (b"k", b"v")


def test_create_time_is_the_producers(bootstrap: str, admin: AdminClient, unique: UniqueName) -> None:
    topic = create_topic(admin, unique())
    before = time.time() * 1000

    send(make_producer(bootstrap), topic, [{"value": b"x", "timestamp": 1234567890123}, {"value": b"y"}])

    old, new = read_all(bootstrap, topic)
    assert old.timestamp() == (TIMESTAMP_CREATE_TIME, 1234567890123)
    assert new.timestamp()[0] == TIMESTAMP_CREATE_TIME
    assert before - 1 <= new.timestamp()[1] <= time.time() * 1000 + 1


def test_log_append_time_is_the_brokers(bootstrap: str, admin: AdminClient, unique: UniqueName) -> None:
    topic = create_topic(admin, unique(), config={"message.timestamp.type": "LogAppendTime"})
    before = time.time() * 1000

    send(make_producer(bootstrap), topic, [{"value": b"x", "timestamp": 1000}] * 3)

    for message in read_all(bootstrap, topic, check_crcs=True):
        kind, timestamp = message.timestamp()
        assert kind == TIMESTAMP_LOG_APPEND_TIME
        assert before - 1000 <= timestamp <= time.time() * 1000 + 1000


def test_offsets_for_times_look_inside_batches(
    bootstrap: str, admin: AdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique(), partitions=2)
    producer = make_producer(bootstrap, linger_ms=50)
    for index in range(6):  # Flushed one by one: look-ups cross batches.
        send(producer, topic, [{"value": b"x", "partition": 0, "timestamp": 10_000 + index * 100}])
    send(producer, topic, [{"value": b"x", "partition": 1, "timestamp": 50_000 + i * 10} for i in range(50)])

    with consumer(bootstrap) as client:

        def offset_at(partition: int, timestamp: int) -> int:
            (answer,) = client.offsets_for_times([TopicPartition(topic, partition, timestamp)], timeout=10)
            assert answer.error is None
            offset: int = answer.offset
            return offset

        assert [offset_at(0, timestamp) for timestamp in (0, 10_000, 10_001, 10_450)] == [0, 0, 1, 5]
        assert offset_at(0, 10_501) == OFFSET_END
        assert [offset_at(1, timestamp) for timestamp in (50_000, 50_115, 50_490)] == [0, 12, 49]


def test_watermarks_and_end_of_partition_follow_the_log(
    bootstrap: str, admin: AdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique())
    partition = TopicPartition(topic, 0)
    producer = make_producer(bootstrap, linger_ms=0)
    with consumer(bootstrap, enable_partition_eof=True) as client:
        assert client.get_watermark_offsets(partition, timeout=10) == (0, 0)
        send(producer, topic, [{"value": b"x"}] * 7)
        assert client.get_watermark_offsets(partition, timeout=10) == (0, 7)

        client.assign([TopicPartition(topic, 0, OFFSET_END)])
        end = client.poll(10)
        assert end is not None
        assert end.error().code() == KafkaError._PARTITION_EOF
        assert end.offset() == 7

        send(producer, topic, [{"value": b"y"}])
        (message,) = read(client, 1)
        assert (message.offset(), message.value()) == (7, b"y")


def test_parked_fetch_wakes_up_when_a_record_arrives(
    bootstrap: str, admin: AdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique())
    producer = make_producer(bootstrap, linger_ms=0)
    with consumer(bootstrap, fetch_wait_max_ms=10_000, fetch_min_bytes=1) as client:
        client.assign([TopicPartition(topic, 0, 0)])
        assert client.poll(0.7) is None
        for _ in range(3):
            began = time.monotonic()
            send(producer, topic, [{"value": b"x"}])
            read(client, 1)
            assert time.monotonic() - began < 2.0


def test_message_larger_than_every_fetch_limit_still_comes_through(
    bootstrap: str, admin: AdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique(), config={"max.message.bytes": "3000000"})
    big = random.Random(1).randbytes(900_000)
    values = [b"small", big, b"tail"]
    send(make_producer(bootstrap, message_max_bytes=2_000_000), topic, [{"value": value} for value in values])

    with consumer(
        bootstrap, fetch_message_max_bytes=1000, fetch_max_bytes=1_000_000, message_max_bytes=1_000_000
    ) as client:
        client.assign([TopicPartition(topic, 0, 0)])
        found = read(client, 3)

    assert [hashlib.sha256(message.value()).digest() for message in found] == [
        hashlib.sha256(value).digest() for value in values
    ]


def test_message_over_the_topics_limit_is_refused_and_the_next_one_taken(
    bootstrap: str, admin: AdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique(), config={"max.message.bytes": "2000"})
    producer = make_producer(bootstrap, message_max_bytes=100_000)

    refused = delivery_error(producer, topic, value=random.Random(2).randbytes(20_000))

    assert refused.code() == KafkaError.MSG_SIZE_TOO_LARGE
    send(producer, topic, [{"value": b"fits"}])
    assert [message.value() for message in read_all(bootstrap, topic)] == [b"fits"]


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_acks_level_delivers_everything_in_order(
    bootstrap: str, admin: AdminClient, unique: UniqueName, acks: str
) -> None:
    topic = create_topic(admin, unique(f"acks-{acks}"))
    wanted = [b"%d" % index for index in range(500)]
    producer = make_producer(bootstrap, acks=acks)

    delivered = send(producer, topic, [{"value": value} for value in wanted])

    assert len(delivered) == 500
    with consumer(bootstrap) as client:  # With acks=0 nothing says when the records are there.
        client.assign([TopicPartition(topic, 0, 0)])
        assert [message.value() for message in read(client, 500)] == wanted


def test_keyed_records_keep_their_order_and_offsets_have_no_holes(
    bootstrap: str, admin: AdminClient, unique: UniqueName
) -> None:
    topic, count = create_topic(admin, unique(), partitions=4), 10_000
    messages = [{"key": b"k%d" % (index % 97), "value": b"%d" % index} for index in range(count)]

    reported = send(make_producer(bootstrap), topic, messages)

    for partition in range(4):
        offsets = sorted(message.offset() for message in reported if message.partition() == partition)
        assert offsets == list(range(len(offsets)))
    found = read_all(bootstrap, topic, partitions=4)
    assert sorted(int(message.value()) for message in found) == list(range(count))
    for key in {message.key() for message in found}:
        numbers = [int(message.value()) for message in found if message.key() == key]
        assert numbers == sorted(numbers)


def test_idempotent_producer_writes_unbroken_sequences(
    bootstrap: str, admin: AdminClient, unique: UniqueName
) -> None:
    topic, count = create_topic(admin, unique()), 3000
    producer = make_producer(bootstrap, enable_idempotence=True, linger_ms=0, batch_num_messages=20)

    send(producer, topic, [{"value": b"%d" % index} for index in range(count)])

    assert [int(message.value()) for message in read_all(bootstrap, topic)] == list(range(count))
    with Connection(bootstrap) as raw:
        stored = raw.fetch_all(topic)
    assert len({batch.producer_id for batch in stored}) == 1
    assert stored[0].producer_id >= 0
    assert [batch.base_sequence for batch in stored] == [batch.base_offset for batch in stored]


def test_topic_is_made_by_the_first_record_sent_to_it(
    bootstrap: str, admin: AdminClient, unique: UniqueName
) -> None:
    topic = unique("auto")

    send(make_producer(bootstrap), topic, [{"value": b"x"}])

    assert partition_count(admin, topic) == 1
    assert [message.value() for message in read_all(bootstrap, topic)] == [b"x"]


def test_asking_about_a_missing_topic_fails_and_creates_nothing(
    bootstrap: str, admin: AdminClient, unique: UniqueName
) -> None:
    missing = unique("missing")
    with consumer(bootstrap) as client:
        metadata = client.list_topics(missing, timeout=10).topics[missing]
        with pytest.raises(KafkaException) as failure:
            client.get_watermark_offsets(TopicPartition(missing, 0), timeout=5)
    assert metadata.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART
    assert error_code(failure.value) in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_PARTITION)
    assert partition_count(admin, missing) == 0


def test_paused_partition_is_silent_and_seek_moves_the_position(
    bootstrap: str, admin: AdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique(), partitions=2)
    producer = make_producer(bootstrap)
    send(producer, topic, [{"value": b"%d" % i, "partition": p} for i in range(50) for p in (0, 1)])
    with consumer(bootstrap) as client:
        client.assign([TopicPartition(topic, 0, 0), TopicPartition(topic, 1, 0)])
        read(client, 20)
        client.pause([TopicPartition(topic, 0)])
        client.seek(TopicPartition(topic, 1, 30))
        found = read(client, 20)
        assert [(message.partition(), message.offset()) for message in found] == [
            (1, o) for o in range(30, 50)
        ]
        client.seek(TopicPartition(topic, 0, 45))
        client.resume([TopicPartition(topic, 0)])
        found = read(client, 5)
        assert [(message.partition(), message.offset()) for message in found] == [
            (0, o) for o in range(45, 50)
        ]


def test_offset_beyond_the_end_is_reset_to_the_earliest(
    bootstrap: str, admin: AdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique())
    send(make_producer(bootstrap), topic, [{"value": b"%d" % index} for index in range(10)])
    with consumer(bootstrap, auto_offset_reset="earliest") as client:
        client.assign([TopicPartition(topic, 0, 5000)])
        assert [message.offset() for message in read(client, 10)] == list(range(10))


def test_offset_beyond_the_end_is_reset_to_the_latest(
    bootstrap: str, admin: AdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique())
    send(make_producer(bootstrap), topic, [{"value": b"%d" % index} for index in range(10)])
    with consumer(bootstrap, auto_offset_reset="latest", enable_partition_eof=True) as client:
        client.assign([TopicPartition(topic, 0, 5000)])
        message = client.poll(10)
    assert message is not None
    assert (message.error().code(), message.offset()) == (KafkaError._PARTITION_EOF, 10)


@pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
def test_plain_records_are_stable_at_once(
    bootstrap: str, admin: AdminClient, unique: UniqueName, isolation: str
) -> None:
    topic = create_topic(admin, unique())
    send(make_producer(bootstrap), topic, [{"value": b"%d" % index} for index in range(20)])
    assert len(read_all(bootstrap, topic, isolation_level=isolation)) == 20
