"""Prebuilt requests are what they claim to be, in every version we speak."""

import pytest

from penstock.bench.connection import Address
from penstock.bench.prebuilt import (
    CORRELATION_ID_AT,
    fetch_offset_position,
    fetch_request,
    first_difference,
    make_batch,
    produce_error_position,
    produce_request,
)
from penstock.bench.stamped_batch import StampedBatch
from penstock.bench.topics import BenchPartition
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicId
from penstock.records.batch import read_header
from penstock.records.compression import Codec
from penstock.records.record import decode_records
from penstock.wire.api_keys import APIS, ApiKey
from penstock.wire.framing import decode_request, decode_request_header, encode_response
from penstock.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)

PARTITION = BenchPartition("orders", bytes(range(16)), 3, Address("127.0.0.1", 9092))
LENGTH_BYTES = 4


def versions(api: ApiKey) -> range:
    return range(APIS[api].min_version, APIS[api].max_version + 1)


@pytest.mark.parametrize("batch_bytes", [1, 200, 16_384, 1_000_000])
def test_make_batch_of_any_size_is_valid_and_within_it(batch_bytes: int) -> None:
    batch = make_batch(record_bytes=100, batch_bytes=batch_bytes)

    records = decode_records(batch.data)
    assert len(records) == batch.records
    assert {len(record.value or b"") for record in records} == {100}
    assert len(batch.data) <= batch_bytes or batch.records == 1


def test_make_batch_of_16_kilobytes_is_nearly_full() -> None:
    batch = make_batch(record_bytes=100, batch_bytes=16_384)

    assert len(batch.data) > 0.98 * 16_384


def test_make_batch_with_codec_is_compressed_by_it() -> None:
    assert (
        read_header(make_batch(record_bytes=100, batch_bytes=1000, codec=Codec.LZ4).data).codec == Codec.LZ4
    )


@pytest.mark.parametrize("version", versions(ApiKey.PRODUCE))
def test_produce_request_every_version_carries_the_batch_and_its_correlation_id(version: int) -> None:
    batch = make_batch(record_bytes=10, batch_bytes=500)
    frame = produce_request(PARTITION, batch.data, acks=-1, version=version, correlation_id=77)

    header = decode_request_header(frame[LENGTH_BYTES:])
    request = decode_request(ApiKey.PRODUCE, version, bytearray(frame[LENGTH_BYTES:]), header.body_position)
    (topic,) = request.topic_data
    assert header.correlation_id == 77
    assert frame[CORRELATION_ID_AT : CORRELATION_ID_AT + 4] == (77).to_bytes(4, "big")
    assert topic.name == "orders" or topic.topic_id == PARTITION.topic_id
    assert topic.partition_data[0].index == 3
    assert bytes(topic.partition_data[0].records) == batch.data


@pytest.mark.parametrize("version", versions(ApiKey.PRODUCE))
def test_produce_error_position_every_version_is_where_the_code_stands(version: int) -> None:
    outcome = PartitionProduceResponse(index=3, error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER, base_offset=5)
    topic = TopicProduceResponse(
        name="orders", topic_id=TopicId(PARTITION.topic_id), partition_responses=(outcome,)
    )
    answer = encode_response(ApiKey.PRODUCE, version, 9, ProduceResponse(responses=(topic,)))

    position = produce_error_position(PARTITION, version=version)
    assert int.from_bytes(answer[position : position + 2], "big") == ErrorCode.NOT_LEADER_OR_FOLLOWER


@pytest.mark.parametrize("version", versions(ApiKey.FETCH))
def test_fetch_offset_position_every_version_can_be_overwritten(version: int) -> None:
    frame = bytearray(fetch_request(PARTITION, offset=0, version=version, max_bytes=1024, max_wait_ms=500))
    position = fetch_offset_position(PARTITION, version=version)
    frame[position : position + 8] = (123_456_789).to_bytes(8, "big")

    header = decode_request_header(frame[LENGTH_BYTES:])
    request = decode_request(ApiKey.FETCH, version, frame[LENGTH_BYTES:], header.body_position)
    assert request.topics[0].partitions[0].fetch_offset == 123_456_789
    assert request.topics[0].partitions[0].partition_max_bytes == 1024
    assert (request.session_id, request.session_epoch) == (0, -1)


def test_first_difference_is_the_first_of_several() -> None:
    assert first_difference(b"abcdef", b"abXdYf") == 2


def test_stamped_batch_stamps_are_in_valid_records_and_read_back() -> None:
    version = APIS[ApiKey.PRODUCE].max_version
    stamped = StampedBatch(PARTITION, count=3, record_bytes=20, acks=-1, version=version)

    for due_ns in ([1, 2, 3], [10**15, 5, -1]):
        frame = bytes(stamped.stamped(due_ns, correlation_id=8))
        header = decode_request_header(frame[LENGTH_BYTES:])
        request = decode_request(ApiKey.PRODUCE, version, frame[LENGTH_BYTES:], header.body_position)
        batch = request.topic_data[0].partition_data[0].records
        assert header.correlation_id == 8
        assert stamped.read_stamps(memoryview(batch), 0) == due_ns
        values = [record.value or b"" for record in decode_records(batch)]
        assert [int.from_bytes(value[:8], "big", signed=True) for value in values] == due_ns
