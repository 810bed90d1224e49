"""Record batches that lie: each is refused with Kafka's code, and the log stays as it was."""

import struct
import time
from collections.abc import Callable

import pytest
from tests.broker_process import Server
from tests.conftest import UniqueName
from tests.raw_kafka import (
    PRODUCE,
    BatchFields,
    Connection,
    Record,
    array,
    blob,
    build_batch,
    produce_body,
    request_frame,
    string,
    values_batch,
)

from penstock.model.error_codes import ErrorCode

pytestmark = pytest.mark.chaos

HOUR_MS = 3_600_000


def now_ms() -> int:
    return int(time.time() * 1000)


LIES: dict[str, tuple[Callable[[], bytes], set[ErrorCode]]] = {
    "crc": (lambda: build_batch(fields=BatchFields(crc=1)), {ErrorCode.CORRUPT_MESSAGE}),
    "payload-changed": (lambda: values_batch(b"honest")[:-3] + b"lie", {ErrorCode.CORRUPT_MESSAGE}),
    "length-too-long": (
        lambda: build_batch(fields=BatchFields(length=1000)),
        {ErrorCode.INVALID_RECORD, ErrorCode.CORRUPT_MESSAGE},
    ),
    "length-too-short": (lambda: build_batch(fields=BatchFields(length=20)), {ErrorCode.CORRUPT_MESSAGE}),
    "length-negative": (lambda: build_batch(fields=BatchFields(length=-1)), {ErrorCode.CORRUPT_MESSAGE}),
    "length-2GiB": (
        lambda: build_batch(fields=BatchFields(length=0x7FFFFFFF)),
        {ErrorCode.INVALID_RECORD, ErrorCode.CORRUPT_MESSAGE, ErrorCode.MESSAGE_TOO_LARGE},
    ),
    "header-cut": (lambda: values_batch(b"x")[:40], {ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD}),
    "count-too-high": (
        lambda: build_batch(fields=BatchFields(record_count=2, last_offset_delta=1)),
        {ErrorCode.INVALID_RECORD},
    ),
    "count-against-delta": (
        lambda: build_batch(fields=BatchFields(record_count=2)),
        {ErrorCode.INVALID_RECORD},
    ),
    "count-zero": (lambda: build_batch(fields=BatchFields(record_count=0)), {ErrorCode.INVALID_RECORD}),
    "count-negative": (lambda: build_batch(fields=BatchFields(record_count=-1)), {ErrorCode.INVALID_RECORD}),
    "count-largest": (
        lambda: build_batch(fields=BatchFields(record_count=2**31 - 1, last_offset_delta=2**31 - 2)),
        {ErrorCode.INVALID_RECORD},
    ),
    "no-room-for-a-record": (lambda: build_batch(payload=b"\x7f\xff\xff"), {ErrorCode.INVALID_RECORD}),
    "magic-0": (lambda: build_batch(fields=BatchFields(magic=0)), {ErrorCode.INVALID_RECORD}),
    "magic-1": (lambda: build_batch(fields=BatchFields(magic=1)), {ErrorCode.INVALID_RECORD}),
    "magic-3": (lambda: build_batch(fields=BatchFields(magic=3)), {ErrorCode.CORRUPT_MESSAGE}),
    "control": (
        lambda: build_batch(fields=BatchFields(attributes=0x20, producer_id=1, producer_epoch=0)),
        {ErrorCode.INVALID_RECORD},
    ),
    "base-offset": (lambda: build_batch(fields=BatchFields(base_offset=5)), {ErrorCode.INVALID_RECORD}),
    "producer-without-sequence": (
        lambda: build_batch(fields=BatchFields(producer_id=5, producer_epoch=0)),
        {ErrorCode.INVALID_RECORD},
    ),
    "two-batches": (lambda: values_batch(b"a") + values_batch(b"b"), {ErrorCode.INVALID_RECORD}),
    "nothing": (lambda: b"", {ErrorCode.INVALID_RECORD}),
    "too-far-in-the-future": (
        lambda: build_batch(fields=BatchFields(base_timestamp=now_ms() + 2 * HOUR_MS)),
        {ErrorCode.INVALID_TIMESTAMP},
    ),
    "too-large": (lambda: values_batch(bytes(1_100_000)), {ErrorCode.MESSAGE_TOO_LARGE}),
    "unknown-codec": (
        # Kafka answers UNKNOWN_SERVER_ERROR, which helps nobody.
        lambda: build_batch(fields=BatchFields(attributes=5)),
        {ErrorCode.INVALID_RECORD, ErrorCode.CORRUPT_MESSAGE, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE},
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_lying_batch_is_refused_and_leaves_the_log_alone(client: Connection, topic: str, lie: str) -> None:
    make, expected = LIES[lie]
    assert client.produce(topic, 0, values_batch(b"before")).error_code == 0

    answer = client.produce(topic, 0, make())

    assert ErrorCode(answer.error_code) in expected
    assert answer.base_offset == -1
    assert client.produce(topic, 0, values_batch(b"after")).base_offset == 1
    assert client.fetch_values(topic) == [b"before", b"after"]


def test_null_record_set_is_refused(client: Connection, topic: str) -> None:
    answer = client.produce(topic, 0, None)
    assert ErrorCode(answer.error_code) in (ErrorCode.INVALID_RECORD, ErrorCode.CORRUPT_MESSAGE)


def test_timestamp_before_the_topics_limit_names_the_record(client: Connection, unique: UniqueName) -> None:
    topic = unique()
    assert client.create_topic(topic, message_timestamp_before_max_ms=str(HOUR_MS)) == 0

    answer = client.produce(topic, 0, build_batch(fields=BatchFields(base_timestamp=now_ms() - 2 * HOUR_MS)))

    assert answer.error_code == ErrorCode.INVALID_TIMESTAMP
    assert [index for index, _ in answer.record_errors] == [0]
    assert client.produce(topic, 0, values_batch(b"now")).base_offset == 0


def test_record_without_key_on_a_compacted_topic_names_the_record(
    client: Connection, unique: UniqueName
) -> None:
    topic = unique()
    assert client.create_topic(topic, cleanup_policy="compact") == 0

    answer = client.produce(topic, 0, build_batch([Record(key=b"k", value=b"v"), Record(value=b"no key")]))

    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert [index for index, _ in answer.record_errors] == [1]
    assert client.end_offset(topic) == 0


def test_limit_of_the_topic_counts_to_the_byte(client: Connection, unique: UniqueName) -> None:
    batch = values_batch(bytes(500))
    exact, below = unique(), unique()
    assert client.create_topic(exact, max_message_bytes=str(len(batch))) == 0
    assert client.create_topic(below, max_message_bytes=str(len(batch) - 1)) == 0
    assert client.produce(exact, 0, batch).error_code == 0
    assert client.produce(below, 0, batch).error_code == ErrorCode.MESSAGE_TOO_LARGE


@pytest.mark.parametrize("acks", [-2, 2, 5, 0x7FFF])
def test_unknown_acks_are_refused(client: Connection, topic: str, acks: int) -> None:
    assert (
        client.produce(topic, 0, values_batch(b"x"), acks=acks).error_code == ErrorCode.INVALID_REQUIRED_ACKS
    )
    assert client.end_offset(topic) == 0


@pytest.mark.parametrize("partition", [-1, 1, 0x7FFFFFFF])
def test_partition_that_is_not_there_is_refused(client: Connection, topic: str, partition: int) -> None:
    answer = client.produce(topic, partition, values_batch(b"x"))
    assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert client.fetch(topic, partition, 0).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("offset", [-5, 1, 2**62])
def test_fetch_outside_the_log_is_out_of_range(client: Connection, topic: str, offset: int) -> None:
    answer = client.fetch(topic, 0, offset)
    assert (answer.error_code, answer.records) == (ErrorCode.OFFSET_OUT_OF_RANGE, b"")


def test_zstd_needs_a_produce_version_that_knows_it(client: Connection, topic: str) -> None:
    batch = build_batch(fields=BatchFields(attributes=4), payload=b"whatever")
    answer = client.request(PRODUCE, 3, produce_body(topic, 0, batch))
    answer.count()
    answer.string()
    answer.count()
    _, error = answer.take("ih")
    assert error == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def test_bad_batch_without_acknowledgement_closes_the_connection(victim: Server, topic: str) -> None:
    """With acks=0 there is no reply to carry the error: hanging up is the only way to tell."""
    with Connection(victim.bootstrap) as connection:
        bad = build_batch(fields=BatchFields(crc=1))
        connection.send(request_frame(PRODUCE, 8, produce_body(topic, 0, bad, acks=0)))
        assert connection.is_closed_by_peer()


def test_one_bad_partition_does_not_spoil_its_neighbour(client: Connection, unique: UniqueName) -> None:
    topic = unique()
    assert client.create_topic(topic, partitions=2) == 0
    batches = [values_batch(b"good"), build_batch(fields=BatchFields(crc=1))]
    partitions = [struct.pack(">i", number) + blob(batch) for number, batch in enumerate(batches)]
    body = string(None) + struct.pack(">hi", -1, 10_000) + array([string(topic) + array(partitions)])

    answer = client.request(PRODUCE, 3, body)

    answer.count()
    answer.string()
    errors = {}
    for _ in range(answer.count()):
        partition, error, _, _ = answer.take("ihqq")
        errors[partition] = error
    assert errors == {0: ErrorCode.NONE, 1: ErrorCode.CORRUPT_MESSAGE}
    assert client.fetch_values(topic, 0) == [b"good"]
    assert client.end_offset(topic, 1) == 0


def test_sequence_with_a_gap_is_out_of_order(client: Connection, topic: str) -> None:
    producer_id, epoch = client.init_producer_id()

    def send(sequence: int) -> int:
        batch = values_batch(b"%d" % sequence, producer_id=producer_id, epoch=epoch, sequence=sequence)
        return client.produce(topic, 0, batch).error_code

    assert send(0) == 0
    assert send(2) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert send(1) == 0
    assert client.fetch_values(topic) == [b"0", b"1"]


def test_repeated_batches_keep_their_first_offset_within_the_window(client: Connection, topic: str) -> None:
    producer_id, epoch = client.init_producer_id()
    batches = [values_batch(b"%d" % n, producer_id=producer_id, epoch=epoch, sequence=n) for n in range(6)]
    assert [client.produce(topic, 0, batch).base_offset for batch in batches] == list(range(6))

    for index in (5, 4, 3, 2, 1):  # The last five are recognised.
        again = client.produce(topic, 0, batches[index])
        assert (again.error_code, again.base_offset) == (0, index)
    assert client.produce(topic, 0, batches[0]).error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert client.end_offset(topic) == 6


def test_older_epoch_of_a_producer_is_fenced(client: Connection, topic: str) -> None:
    producer_id, _ = client.init_producer_id()
    newer = values_batch(b"new", producer_id=producer_id, epoch=5, sequence=0)
    older = values_batch(b"old", producer_id=producer_id, epoch=4, sequence=0)
    assert client.produce(topic, 0, newer).error_code == 0
    assert client.produce(topic, 0, older).error_code == ErrorCode.INVALID_PRODUCER_EPOCH
    assert client.fetch_values(topic) == [b"new"]
