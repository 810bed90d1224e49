"""Headers and golden bytes, worked out by hand from the protocol's rules."""

import pytest

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import DecodeError, InvariantError, UsageError
from penstock.model.ids import TopicId
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import (
    RequestHeader,
    decode_request,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
    encode_response_parts,
    encode_unknown_api_versions,
    is_unknown_api_versions,
)
from penstock.wire.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from penstock.wire.messages.describe_topic_partitions import DescribeTopicPartitionsRequest, RequestCursor
from penstock.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceLeader,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)


class InFile:
    """Records that lie elsewhere."""

    def __init__(self, size: int) -> None:
        self.size = size


def framed(*pieces: str) -> bytes:
    body = bytes.fromhex("".join(pieces))
    return len(body).to_bytes(4) + body


def test_classic_request_has_these_bytes() -> None:
    encoded = encode_request(
        ApiKey.METADATA, 1, 5, MetadataRequest(topics=(MetadataRequestTopic(name="ab"),)), client_id="me"
    )
    assert encoded == framed("0003 0001 00000005 0002 6d65", "00000001 0002 6162")


def test_flexible_request_keeps_the_long_client_id_and_adds_tags() -> None:
    encoded = encode_request(
        ApiKey.API_VERSIONS,
        3,
        6,
        ApiVersionsRequest(client_software_name="k", client_software_version="1.0"),
        client_id="me",
    )
    assert encoded == framed("0012 0003 00000006 0002 6d65 00", "02 6b 04 312e30 00")


def test_produce_request_by_topic_id_has_these_bytes() -> None:
    request = ProduceRequest(
        acks=-1,
        timeout_ms=1000,
        topic_data=(
            TopicProduceData(
                topic_id=TopicId(b"\x11" * 16),
                partition_data=(PartitionProduceData(index=2, records=bytearray(b"abc")),),
            ),
        ),
    )
    encoded = encode_request(ApiKey.PRODUCE, 13, 1, request)
    header = "0000 000d 00000001 ffff 00"
    body = "00 ffff 000003e8 02" + "11" * 16 + "02 00000002 04 616263 00 00 00"
    assert encoded == framed(header, body)


def test_api_versions_response_never_has_header_tags() -> None:
    answer = ApiVersionsResponse(
        api_keys=(ApiVersion(api_key=18, min_version=0, max_version=4),), finalized_features_epoch=7
    )
    encoded = encode_response(ApiKey.API_VERSIONS, 3, 9, answer)
    assert encoded == framed("00000009", "0000 02 0012 0000 0004 00 00000000 01 01 08 0000000000000007")
    assert decode_response(ApiKey.API_VERSIONS, 3, encoded[4:]) == (9, answer)


def test_flexible_response_has_header_tags_and_leader_in_a_tag() -> None:
    answer = ProduceResponse(
        responses=(
            TopicProduceResponse(
                name="t",
                partition_responses=(
                    PartitionProduceResponse(
                        index=1,
                        error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER,
                        base_offset=-1,
                        current_leader=ProduceLeader(leader_id=3, leader_epoch=8),
                    ),
                ),
            ),
        )
    )
    partition = "00000001 0006" + "ff" * 24 + "01 00 01 00 09 00000003 00000008 00"
    expected = framed("0000000a 00", "02 02 74 02", partition, "00 00000000 00")
    assert encode_response(ApiKey.PRODUCE, 10, 10, answer) == expected


def test_nullable_struct_is_marked() -> None:
    request = DescribeTopicPartitionsRequest(cursor=RequestCursor(topic_name="t", partition_index=1))
    encoded = encode_request(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, 1, request)
    assert encoded.endswith(bytes.fromhex("01 000007d0 01 02 74 00000001 00 00"))
    absent = encode_request(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, 1, DescribeTopicPartitionsRequest())
    assert absent.endswith(bytes.fromhex("01 000007d0 ff 00"))


def fetched(*records: object) -> FetchResponse:
    partitions = tuple(
        PartitionData(partition_index=i, records=payload)  # type: ignore[arg-type]  # any payload
        for i, payload in enumerate(records)
    )
    return FetchResponse(responses=(FetchableTopicResponse(topic="t", partitions=partitions),))


@pytest.mark.parametrize("version", range(4, 19))
def test_parts_of_fetch_response_carry_payloads_uncopied_and_the_right_length(version: int) -> None:
    first, second = InFile(1000), memoryview(b"x" * 300)
    parts = encode_response_parts(ApiKey.FETCH, version, 1, fetched(first, None, second, b""))
    assert parts[1] is first
    assert parts[3] is second
    ours = [part for part in parts[::2] if isinstance(part, bytearray)]
    assert len(ours) == (len(parts) + 1) // 2
    assert int.from_bytes(ours[0][:4]) == sum(map(len, ours)) - 4 + 1300


@pytest.mark.parametrize("version", [4, 12, 18])
def test_parts_joined_are_the_response(version: int) -> None:
    message = fetched(b"abc", None, bytearray(b"d" * 200), b"")
    parts = encode_response_parts(ApiKey.FETCH, version, 1, message)
    joined = b"".join(part for part in parts if isinstance(part, bytes | bytearray))
    assert joined == encode_response(ApiKey.FETCH, version, 1, message)
    _, decoded = decode_response(ApiKey.FETCH, version, joined[4:])
    assert [p.records for p in decoded.responses[0].partitions] == [b"abc", None, b"d" * 200, b""]


def test_classic_response_ending_in_a_payload_has_no_empty_part() -> None:
    parts = encode_response_parts(ApiKey.FETCH, 4, 1, fetched(b"abc"))
    assert parts[1:] == [b"abc"]


def test_response_in_one_piece_refuses_records_that_lie_elsewhere() -> None:
    with pytest.raises(InvariantError, match="in memory"):
        encode_response(ApiKey.FETCH, 12, 1, fetched(InFile(3)))


def test_produced_records_are_a_view_of_the_frame_that_can_be_stamped() -> None:
    request = ProduceRequest(
        topic_data=(
            TopicProduceData(partition_data=(PartitionProduceData(records=bytearray(b"0123456789")),)),
        )
    )
    frame = bytearray(encode_request(ApiKey.PRODUCE, 9, 1, request)[4:])
    header = decode_request_header(frame)
    decoded = decode_request(header.api_key, header.api_version, frame, header.body_position)
    decoded.topic_data[0].partition_data[0].records[0:2] = b"XY"
    assert b"XY23456789" in frame


@pytest.mark.parametrize("frame_type", [bytes, bytearray, memoryview])
def test_header_is_read_from_any_buffer(frame_type: type) -> None:
    frame = encode_request(ApiKey.METADATA, 12, 5, MetadataRequest(), client_id="né")[4:]
    assert decode_request_header(frame_type(frame)) == RequestHeader(3, 12, 5, "né", 14)


def test_header_tags_of_the_future_are_skipped() -> None:
    frame = bytes.fromhex("0012 0003 00000006 ffff 02 0001aa 070100") + b"body"
    assert decode_request_header(frame) == RequestHeader(18, 3, 6, None, 17)


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "0012 0000 0000",
        "0012 0000 00000001",
        "0012 0000 00000001 fffe",  # a client id of length -2
        "0012 0000 00000001 0005 6162",  # a client id beyond the frame
        "0012 0000 00000001 0001 ff",  # a client id that is not UTF-8
        "0012 0003 00000001 ffff",  # no tagged section
        "0012 0003 00000001 ffff 41",  # too many tags
        "0012 0003 00000001 ffff 01 00 05 00",  # a tag beyond the frame
    ],
)
def test_broken_header_is_refused(frame: str) -> None:
    with pytest.raises(DecodeError):
        decode_request_header(bytes.fromhex(frame))


@pytest.mark.parametrize("frame", ["", "000000", "00000001", "00000001 01", "00000001 01 00 05 00"])
def test_broken_response_header_is_refused(frame: str) -> None:
    with pytest.raises(DecodeError):
        decode_response(ApiKey.METADATA, 12, bytes.fromhex(frame))


def test_unknown_version_of_api_versions_is_seen_without_reading_on() -> None:
    header = decode_request_header(bytes.fromhex("0012 0063 00000007"))
    assert header == RequestHeader(18, 99, 7, None, 8)
    assert is_unknown_api_versions(header)
    assert encode_unknown_api_versions(7) == framed("00000007 0023 00000001 0012 0000 0004")


@pytest.mark.parametrize(("api_key", "version"), [(18, 4), (18, 0), (3, 99), (999, 0)])
def test_other_requests_are_not_taken_for_unknown_api_versions(api_key: int, version: int) -> None:
    assert not is_unknown_api_versions(RequestHeader(api_key, version, 1, None, 8))


def test_http_request_is_an_api_nobody_knows() -> None:
    header = decode_request_header(b"GET / HTTP/1.1\r\n")
    with pytest.raises(DecodeError, match="not known"):
        decode_request(header.api_key, header.api_version, b"GET / HTTP/1.1\r\n", header.body_position)


@pytest.mark.parametrize(("api_key", "version"), [(0, 2), (0, 14), (-1, 0), (999, 0), (18, -1)])
def test_unknown_api_or_version_is_refused_for_peers_and_callers_alike(api_key: int, version: int) -> None:
    with pytest.raises(DecodeError, match="not known"):
        decode_request(api_key, version, b"", 0)
    with pytest.raises(UsageError, match="not known"):
        encode_response(api_key, version, 1, ApiVersionsResponse())
    with pytest.raises(UsageError, match="not known"):
        decode_response(api_key, version, b"")


def test_metadata_request_of_librdkafka_for_all_topics_is_read_as_kafka_reads_it() -> None:
    # Seen on the wire from librdkafka 2.16: null topics as four zero bytes, then the flags and the tags.
    frame = bytes.fromhex("0003000d00000003000772646b61666b610000000000010000")
    header = decode_request_header(frame)
    request = decode_request(header.api_key, header.api_version, frame, header.body_position)
    assert request == MetadataRequest(topics=None, allow_auto_topic_creation=False)
