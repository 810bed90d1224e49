"""Bytes that are no request: what is closed, what is answered, and that nobody else notices."""

import random
import socket
import struct
import time

import pytest
from tests.broker_process import Server, wait_until
from tests.raw_kafka import (
    API_VERSIONS,
    CREATE_TOPICS,
    FETCH,
    LIST_OFFSETS,
    METADATA,
    PRODUCE,
    Connection,
    array,
    request_frame,
    string,
    unsigned_varint,
)

pytestmark = pytest.mark.chaos

REQUEST_BYTES_MAX = 16 * 1024 * 1024
UNSUPPORTED_VERSION = 35
INVALID_REQUEST = 42
HEADER_TAGS_NONE = b"\0"


def is_dropped(server: Server, data: bytes) -> bool:
    """Whether a connection that sends this is closed without an answer."""
    with Connection(server.bootstrap) as connection:
        try:
            connection.send(data)
        except ConnectionError:
            return True
        return connection.is_closed_by_peer()


@pytest.mark.parametrize("seed", range(10))
def test_random_bytes_are_dropped(victim: Server, seed: int) -> None:
    # The first byte makes the length prefix larger than any allowed frame, else we would wait for the rest.
    assert is_dropped(victim, b"\x7e" + random.Random(seed).randbytes(5000))


@pytest.mark.parametrize(
    "prefix", [0x7FFFFFFF, -1, 0, -0x80000000, REQUEST_BYTES_MAX + 1], ids=["2GiB", "-1", "0", "min", "max+1"]
)
def test_impossible_length_is_dropped_on_many_connections_without_reserving_memory(
    victim: Server, prefix: int
) -> None:
    before = victim.resident_bytes()
    connections = [Connection(victim.bootstrap) for _ in range(200)]
    try:
        for connection in connections:
            connection.send(struct.pack(">i", prefix))
        assert all(connection.is_closed_by_peer() for connection in connections)
    finally:
        for connection in connections:
            connection.close()
    assert victim.resident_bytes() - before < 16 * 1024 * 1024


@pytest.mark.parametrize(
    "greeting",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /topics HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500),
        b"SSH-2.0-OpenSSH_9.2\r\n",
    ],
    ids=["http-get", "http-post", "tls", "ssh"],
)
def test_another_protocol_is_dropped(victim: Server, greeting: bytes) -> None:
    assert is_dropped(victim, greeting)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8, 9])
def test_frame_too_short_for_a_header_is_dropped(victim: Server, length: int) -> None:
    assert is_dropped(victim, struct.pack(">i", length) + bytes(length))


@pytest.mark.parametrize("api_key", [-1, 4, 52, 58, 999, 0x7FFF])
def test_unknown_api_is_dropped(victim: Server, api_key: int) -> None:
    assert is_dropped(victim, request_frame(api_key, 0, b""))


@pytest.mark.parametrize(
    ("api_key", "version"), [(METADATA, 99), (METADATA, -1), (FETCH, 3), (PRODUCE, 2), (CREATE_TOPICS, 1)]
)
def test_version_that_is_not_served_is_dropped(victim: Server, api_key: int, version: int) -> None:
    assert is_dropped(victim, request_frame(api_key, version, bytes(50)))


def test_unknown_version_of_api_versions_is_answered_in_version_0(victim: Server) -> None:
    with Connection(victim.bootstrap) as connection:
        connection.send(request_frame(API_VERSIONS, 99, b"rest", tagged_header=HEADER_TAGS_NONE))
        answer = connection.answer(1)
        assert answer.number("h") == UNSUPPORTED_VERSION
        assert answer.count() == 1
        key, low, high = answer.take("hhh")
        assert (key, low) == (API_VERSIONS, 0)
        assert high >= 4
        assert answer.position == len(answer.data)
        connection.api_versions()  # And the same connection is still good.


@pytest.mark.parametrize("name", [b"", b"-x", b"x-", b"a b", b"x\n"])
def test_client_software_name_that_is_none_is_refused(victim: Server, name: bytes) -> None:
    """KIP-511 lets names into logs and metrics, so they are checked."""
    body = unsigned_varint(len(name) + 1) + name + b"\x02v" + b"\0"
    with Connection(victim.bootstrap) as connection:
        connection.send(request_frame(API_VERSIONS, 3, body, tagged_header=HEADER_TAGS_NONE))
        assert connection.answer(1).number("h") == INVALID_REQUEST


@pytest.mark.parametrize(
    "body",
    [
        struct.pack(">i", 5),
        struct.pack(">ih", 1, 200) + b"short",
        struct.pack(">ih", 1, -5),
        struct.pack(">ih", 1, 2) + b"\xff\xfe\0",
        b"\0\0",
        b"",
    ],
    ids=["array-cut", "string-cut", "string-negative", "not-utf8", "count-cut", "empty"],
)
def test_body_that_does_not_parse_is_dropped(victim: Server, body: bytes) -> None:
    assert is_dropped(victim, request_frame(METADATA, 4, body))


@pytest.mark.parametrize("count", [0x7FFFFFFF, 10_000_000])
@pytest.mark.parametrize("api_key", [PRODUCE, FETCH, METADATA, CREATE_TOPICS])
def test_array_count_beyond_the_frame_is_dropped_at_once(victim: Server, api_key: int, count: int) -> None:
    heads = {
        PRODUCE: (8, string(None) + struct.pack(">hi", -1, 1000)),
        FETCH: (11, struct.pack(">iiiibii", -1, 0, 1, 1000, 0, 0, -1)),
        METADATA: (4, b""),
        CREATE_TOPICS: (4, b""),
    }
    version, head = heads[api_key]
    began = time.monotonic()
    assert is_dropped(victim, request_frame(api_key, version, head + struct.pack(">i", count) + bytes(100)))
    assert time.monotonic() - began < 2


def test_array_of_millions_of_empty_elements_is_dropped_cheaply(victim: Server) -> None:
    """Each two-byte topic name would become a hundred bytes of objects."""
    count = 7_000_000
    before = victim.resident_bytes()
    began = time.monotonic()
    assert is_dropped(victim, request_frame(METADATA, 4, struct.pack(">i", count) + bytes(2 * count + 1)))
    assert time.monotonic() - began < 3
    assert victim.resident_bytes() - before < 64 * 1024 * 1024


@pytest.mark.parametrize("where", ["header", "body"])
def test_bomb_of_tagged_fields_is_dropped_cheaply(victim: Server, where: str) -> None:
    tags = b"".join(unsigned_varint(tag) + b"\0" for tag in range(1, 500_000))
    bomb = unsigned_varint(499_999) + tags
    body = b"\x02n\x02v"
    if where == "header":
        frame = request_frame(API_VERSIONS, 3, body + b"\0", tagged_header=bomb)
    else:
        frame = request_frame(API_VERSIONS, 3, body + bomb, tagged_header=HEADER_TAGS_NONE)
    began = time.monotonic()
    assert is_dropped(victim, frame)
    assert time.monotonic() - began < 2


def test_few_unknown_tagged_fields_are_skipped(victim: Server) -> None:
    tags = b"\x02" + b"\x7d\x03abc" + b"\x7e\0"
    with Connection(victim.bootstrap) as connection:
        connection.send(request_frame(API_VERSIONS, 3, b"\x02n\x02v" + tags, tagged_header=tags))
        assert connection.answer(1).number("h") == 0


@pytest.mark.parametrize("cut", [1, 3, 4, 10, 20])
def test_half_a_request_and_silence_keeps_nobody_else_waiting(victim: Server, cut: int) -> None:
    frame = request_frame(METADATA, 4, array([string("pulse")]) + b"\0")
    with Connection(victim.bootstrap) as half:
        half.send(frame[:cut])
        with Connection(victim.bootstrap) as other:
            other.api_versions()
        half.send(frame[cut:])  # The slow one was not forgotten either.
        half.answer(1)


def test_request_sent_byte_by_byte_is_served(victim: Server) -> None:
    frame = request_frame(METADATA, 4, array([string("pulse")]) + b"\0")
    with Connection(victim.bootstrap) as drip:
        drip.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in frame:
            drip.send(bytes([byte]))
        drip.answer(1)


def test_client_gone_in_the_middle_leaves_no_descriptor_behind(victim: Server) -> None:
    frame = request_frame(METADATA, 4, array([string("pulse")]) + b"\0")
    before = victim.open_file_count()
    for cut in range(0, len(frame), 3):
        with Connection(victim.bootstrap) as connection:
            connection.send(frame[:cut])
            connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wait_until(lambda: victim.open_file_count() <= before, what="sockets to be closed")


@pytest.mark.parametrize("seed", range(3))
def test_mutated_requests_never_stop_the_broker(victim: Server, seed: int) -> None:
    """Hundreds of damaged requests; each is answered or dropped, none hangs or kills."""
    dice = random.Random(f"mutated {seed}")
    latest_offset = array([string("pulse") + array([struct.pack(">iq", 0, -1)])])
    models = [
        request_frame(METADATA, 4, array([string("pulse")]) + b"\0"),
        request_frame(API_VERSIONS, 3, b"\x02n\x02v\0", tagged_header=HEADER_TAGS_NONE),
        request_frame(LIST_OFFSETS, 1, struct.pack(">i", -1) + latest_offset),
        request_frame(FETCH, 11, struct.pack(">iiiibii", -1, 0, 1, 1000, 0, 0, -1) + bytes(8) + string("")),
    ]
    for _ in range(300):
        body = bytearray(dice.choice(models)[4:])
        for _ in range(dice.randint(1, 6)):
            body[dice.randrange(8, len(body))] = dice.randrange(256)
        with Connection(victim.bootstrap) as connection:
            connection.send(struct.pack(">i", len(body)) + body)
            connection.hang_up_sending()
            assert connection.is_drained()
