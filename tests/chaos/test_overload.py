"""Clients that want too much: connections, pipelines, memory."""

import random
import select
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest
from tests.broker_process import Server, wait_until
from tests.chaos.vitals import IS_LONG_RUN, check_pulse, unharmed
from tests.conftest import MakeServer, UniqueName
from tests.raw_kafka import (
    API_VERSIONS,
    FETCH,
    PRODUCE,
    Connection,
    Record,
    array,
    build_batch,
    produce_body,
    request_frame,
    string,
    values_batch,
)

pytestmark = pytest.mark.chaos

MEBIBYTE = 1024 * 1024
PIPELINED_REQUESTS = 100_000 if IS_LONG_RUN else 20_000


@contextmanager
def many_connections(server: Server, count: int) -> Iterator[list[Connection]]:
    connections = [Connection(server.bootstrap) for _ in range(count)]
    try:
        yield connections
    finally:
        for connection in connections:
            connection.close()


def is_served(connection: Connection) -> bool:
    """Whether a request on it is answered; a refused connection is closed instead."""
    try:
        connection.api_versions()
    except ConnectionError:
        return False
    return True


PROMPT_SECONDS_MAX = 15.0
"""Half of the time after which the first attacker is timed out; a busy machine is slow without any."""


def check_is_prompt(server: Server) -> None:
    """Other clients are served now, not after the attackers have been timed out."""
    began = time.monotonic()
    check_pulse(server)
    assert time.monotonic() - began < PROMPT_SECONDS_MAX


@pytest.mark.parametrize("setting", ["max.connections", "max.connections.per.ip"])
def test_connections_over_the_limit_are_closed_and_room_is_given_back(
    make_server: MakeServer, setting: str
) -> None:
    server = make_server({setting: 20})
    with many_connections(server, 30) as connections:
        served = [is_served(connection) for connection in connections]
        assert served.count(True) == 20
        assert served == [True] * 20 + [False] * 10, "those who came first stay"
        assert all(is_served(connection) for connection in connections[:20])

    def one_more_is_served() -> bool:
        with Connection(server.bootstrap) as connection:
            return is_served(connection)

    wait_until(one_more_is_served, what="room after the others left")


def test_connections_faster_than_the_creation_rate_are_closed(make_server: MakeServer) -> None:
    server = make_server({"max.connection.creation.rate": 10})
    with Connection(server.bootstrap) as early:
        with many_connections(server, 60) as connections:
            served = [is_served(connection) for connection in connections].count(True)
        assert served < 30, f"{served} of 60 connections made at once were served at 10 per second"
        assert is_served(early), "who is already in is not disturbed"

    def another_is_served() -> bool:
        with Connection(server.bootstrap) as connection:
            return is_served(connection)

    wait_until(another_is_served, what="the rate to allow another", every_seconds=0.3)


@pytest.mark.slow
def test_thousand_idle_connections_cost_little_and_disturb_nobody(victim: Server) -> None:
    before = victim.resident_bytes()
    with many_connections(victim, 1000) as connections:
        assert all(is_served(connection) for connection in connections[::100])
        assert victim.resident_bytes() - before < 32 * MEBIBYTE
        check_is_prompt(victim)
    wait_until(lambda: victim.open_file_count() < 200, what="descriptors to be given back")


def test_idle_connection_is_closed_after_the_configured_time(make_server: MakeServer) -> None:
    server = make_server({"connections.max.idle.ms": 1000})
    with Connection(server.bootstrap) as connection:
        connection.api_versions()
        assert connection.is_closed_by_peer(seconds=10)


@pytest.mark.slow
def test_endless_pipelined_requests_are_answered_in_order_in_flat_memory(victim: Server) -> None:
    count = PIPELINED_REQUESTS
    frames = b"".join(request_frame(API_VERSIONS, 0, b"", correlation_id=number) for number in range(count))
    before = victim.resident_bytes()
    highest = 0
    expected = 0
    buffer = bytearray()
    with Connection(victim.bootstrap) as connection:
        connection.socket.setblocking(False)
        position = 0
        while expected < count:
            readable, writable, _ = select.select(
                [connection.socket], [connection.socket] if position < len(frames) else [], [], 20
            )
            assert readable or writable, f"stuck at answer {expected}"
            if writable:
                position += connection.socket.send(frames[position : position + 65536])
            if readable:
                buffer += connection.socket.recv(1 << 20)
                before_number, expected = expected, take_answers(buffer, expected)
                if expected // 2000 > before_number // 2000:
                    highest = max(highest, victim.resident_bytes())
    assert highest - before < 48 * MEBIBYTE


def take_answers(buffer: bytearray, expected: int) -> int:
    """Remove whole answers from the front, checking their order; the next number expected."""
    position = 0
    while len(buffer) - position >= 8:
        length, correlation_id = struct.unpack_from(">ii", buffer, position)
        if len(buffer) - position < 4 + length:
            break
        assert correlation_id == expected
        expected += 1
        position += 4 + length
    del buffer[:position]
    return expected


@pytest.mark.slow
def test_client_that_never_reads_its_replies_costs_bounded_memory(
    make_server: MakeServer, unique: UniqueName
) -> None:
    """Each of eight clients asks for a megabyte a thousand times and reads nothing of it."""
    server = make_server()
    frame = fetch_frame(fill_topic(server, unique(), records=40, record_bytes=100_000))
    with unharmed(server, growth_bytes_max=300 * MEBIBYTE):
        deaf = [Connection(server.bootstrap, receive_buffer=4096) for _ in range(8)]
        try:
            for connection in deaf:
                send_until_blocked(connection, frame * 1000)
            check_is_prompt(server)
            assert server.resident_bytes() < 400 * MEBIBYTE
        finally:
            for connection in deaf:
                connection.close()


@pytest.mark.skipif(not IS_LONG_RUN, reason="waits for deadlines of half a minute and more")
@pytest.mark.timeout(200)
def test_half_a_request_and_silence_ends_at_the_deadline(victim: Server) -> None:
    with Connection(victim.bootstrap) as half:
        half.send(request_frame(API_VERSIONS, 0, b"")[:9])
        assert not half.is_closed_by_peer(seconds=20)
        assert half.is_closed_by_peer(seconds=30)


@pytest.mark.skipif(not IS_LONG_RUN, reason="waits for deadlines of half a minute and more")
@pytest.mark.timeout(200)
def test_client_that_never_reads_is_closed_at_the_deadline(
    make_server: MakeServer, unique: UniqueName
) -> None:
    server = make_server()
    frame = fetch_frame(fill_topic(server, unique(), records=40, record_bytes=100_000))
    with Connection(server.bootstrap, receive_buffer=4096) as deaf:
        send_until_blocked(deaf, frame * 1000)
        wait_until(
            lambda: "replies were not read" in server.stderr_text(), what="the broker to hang up", seconds=90
        )
    check_pulse(server)


def fetch_frame(topic: str, *, offset: int = 0, max_bytes: int = MEBIBYTE) -> bytes:
    """Asks for a megabyte from the beginning, unless told otherwise."""
    wanted = struct.pack(">iiqqi", 0, -1, offset, -1, max_bytes)
    body = struct.pack(">iiiibii", -1, 0, 1, max_bytes, 0, 0, -1)
    body += array([string(topic) + array([wanted])]) + array([]) + string("")
    return request_frame(FETCH, 11, body)


def fill_topic(server: Server, topic: str, *, records: int, record_bytes: int) -> str:
    noise = random.Random(7).randbytes(record_bytes)
    with Connection(server.bootstrap) as connection:
        assert connection.create_topic(topic) == 0
        for _ in range(records):
            assert connection.produce(topic, 0, build_batch([Record(value=noise)])).error_code == 0
    return topic


def send_until_blocked(connection: Connection, data: bytes) -> None:
    """Send as much as the broker takes in; it must stop reading at some point, or take all."""
    connection.socket.settimeout(0.5)
    view = memoryview(data)
    try:
        while view:
            view = view[connection.socket.send(view[:65536]) :]
    except TimeoutError:
        return


@pytest.mark.slow
def test_readers_that_stop_reading_do_not_keep_all_that_was_written_in_memory(
    make_server: MakeServer, unique: UniqueName
) -> None:
    """Each of them asks for what is newest, and takes nothing: 160 MB if all of it stayed."""
    server = make_server({"tail.cache.bytes": 16 * MEBIBYTE})
    topic = unique()
    with Connection(server.bootstrap) as writer, ExitStack() as stalled:
        assert writer.create_topic(topic) == 0
        before = server.resident_bytes()
        batch = values_batch(bytes(1_000_000))
        for _ in range(10):
            begin = writer.end_offset(topic)
            for _ in range(16):
                assert writer.produce(topic, 0, batch).error_code == 0
            reader = stalled.enter_context(Connection(server.bootstrap, receive_buffer=4096))
            reader.send(fetch_frame(topic, offset=begin, max_bytes=16 * MEBIBYTE))
        assert server.resident_bytes() - before < 100 * MEBIBYTE
        check_pulse(server)


@pytest.mark.slow
def test_traffic_leaves_nothing_behind_in_memory(make_server: MakeServer, unique: UniqueName) -> None:
    """Three hundred megabytes in and out: a request or reply that outlives its answer would show."""
    server = make_server({"tail.cache.bytes": 16 * MEBIBYTE})
    before = server.resident_bytes()
    topic = fill_topic(server, unique(), records=300, record_bytes=1_000_000)
    assert server.resident_bytes() - before < 80 * MEBIBYTE
    frame = fetch_frame(topic)
    with Connection(server.bootstrap) as connection:
        for _ in range(300):
            connection.send(frame)
            connection.receive_frame()
    assert server.resident_bytes() - before < 80 * MEBIBYTE


@pytest.mark.slow
def test_producer_without_acks_cannot_outrun_the_disk(make_server: MakeServer) -> None:
    """What nobody waits for must wait for the flush too, or it piles up in memory."""
    stall = "flush:delay=6s:path=orders-0/0"
    server = make_server({"disk.reserve.bytes": 0}, environment={"PENSTOCK_FAILPOINTS": stall})
    with Connection(server.bootstrap, timeout=30) as raw:
        assert raw.create_topic("orders") == 0
        before = server.resident_bytes()
        batch = values_batch(bytes(MEBIBYTE - 1024))
        frame = request_frame(PRODUCE, 3, produce_body("orders", 0, batch, acks=0))
        raw.socket.settimeout(2)
        with pytest.raises(TimeoutError):
            send_often(raw, frame, 400)
        assert server.resident_bytes() - before < 200 * MEBIBYTE
    with Connection(server.bootstrap) as other:
        assert other.api_versions()


@pytest.mark.slow
def test_producers_that_leave_and_come_again_cannot_outrun_the_disk(make_server: MakeServer) -> None:
    """What a client that has left wanted to be written is in memory until it is, and counts."""
    server = make_server(
        {"disk.reserve.bytes": 0, "queued.max.request.bytes": 32 * MEBIBYTE},
        environment={"PENSTOCK_FAILPOINTS": "flush:delay=10s:path=orders-0/0"},
    )
    with Connection(server.bootstrap, timeout=30) as raw:
        assert raw.create_topic("orders") == 0
    before = server.resident_bytes()
    frame = request_frame(PRODUCE, 3, produce_body("orders", 0, values_batch(bytes(1_000_000)), acks=1))
    for _ in range(7):
        with Connection(server.bootstrap, timeout=0.5) as raw, suppress(TimeoutError):
            send_often(raw, frame, 60)
    assert server.resident_bytes() - before < 250 * MEBIBYTE


def send_often(connection: Connection, frame: bytes, count: int) -> None:
    for _ in range(count):
        connection.send(frame)


@pytest.mark.slow
def test_slow_senders_of_large_requests_stay_within_the_memory_bound(make_server: MakeServer) -> None:
    """Sixty clients announce 15 MiB each and send most of it: 900 MiB if all were taken in."""
    server = make_server({"queued.max.request.bytes": 64 * MEBIBYTE})
    with unharmed(server, growth_bytes_max=200 * MEBIBYTE):
        before = server.resident_bytes()
        with many_connections(server, 60) as connections:
            for connection in connections:
                connection.socket.setblocking(False)
                connection.socket.send(struct.pack(">i", 15 * MEBIBYTE))
            push_round_robin(connections, total_bytes_each=14 * MEBIBYTE, seconds=6)
            assert server.resident_bytes() - before < 100 * MEBIBYTE
            check_is_prompt(server)


def push_round_robin(connections: list[Connection], *, total_bytes_each: int, seconds: float) -> None:
    """Send to whoever takes it, until all is sent or nobody takes anything for a while."""
    piece = bytes(256 * 1024)
    left = {connection.socket: total_bytes_each for connection in connections}
    deadline = time.monotonic() + seconds
    while left and time.monotonic() < deadline:
        _, writable, _ = select.select([], list(left), [], 1.0)
        if not writable:
            return
        for one in writable:
            send_piece(one, piece, left)


def send_piece(one: socket.socket, piece: bytes, left: dict[socket.socket, int]) -> None:
    try:
        left[one] -= one.send(piece[: left[one]])
    except BlockingIOError:
        return
    if left[one] <= 0:
        del left[one]
