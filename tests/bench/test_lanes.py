"""Lanes against a broker of a few lines: what they send, count and refuse."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from penstock.bench.connection import Address, Connection, parse_address
from penstock.bench.errors import BenchError
from penstock.bench.raw_produce import ProduceLoad, fill, measure_produce
from penstock.bench.topics import BenchPartition
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import UsageError
from penstock.wire.api_keys import ApiKey, advertised_versions
from penstock.wire.framing import decode_request_header, encode_response
from penstock.wire.messages.api_versions import ApiVersionsResponse
from penstock.wire.messages.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse

Answer = Callable[[bytes], bytes | None]

QUICK = ProduceLoad(batch_bytes=500, connections=2, in_flight=3, seconds=0.1, warm_up_seconds=0.02)

RECORDS_PER_BATCH = 3
"""Of 100 bytes in a batch of at most 500."""


def agree_on_versions(frame: bytes) -> bytes:
    header = decode_request_header(frame)
    answer = ApiVersionsResponse(api_keys=advertised_versions())
    return encode_response(ApiKey.API_VERSIONS, header.api_version, header.correlation_id, answer)


def acknowledge(frame: bytes, error_code: ErrorCode = ErrorCode.NONE, shift: int = 0) -> bytes:
    header = decode_request_header(frame)
    outcome = PartitionProduceResponse(index=0, error_code=error_code)
    topic = TopicProduceResponse(name="orders", partition_responses=(outcome,))
    answer = ProduceResponse(responses=(topic,))
    return encode_response(ApiKey.PRODUCE, header.api_version, header.correlation_id + shift, answer)


@contextmanager
def broker(answer_produce: Answer) -> Iterator[tuple[BenchPartition, list[int]]]:
    """A listening socket whose connections are answered by ``answer_produce``; how many requests each had."""
    counts: list[int] = []
    listener = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            counts.append(0)
            thread = threading.Thread(target=serve, args=(connection, len(counts) - 1))
            threads.append(thread)
            thread.start()

    def serve(connection: socket.socket, number: int) -> None:
        # A benchmark that has seen enough hangs up in the middle.
        with suppress(ConnectionError), connection, connection.makefile("rb") as stream:
            while length := stream.read(4):
                frame = stream.read(struct.unpack(">i", length)[0])
                if frame[:2] != b"\0\0":
                    connection.sendall(agree_on_versions(frame))
                    continue
                counts[number] += 1
                if (answer := answer_produce(frame)) is None:
                    return
                connection.sendall(answer)

    accepting = threading.Thread(target=accept)
    accepting.start()
    host, port = listener.getsockname()
    try:
        yield BenchPartition("orders", bytes(16), 0, Address(host, port)), counts
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for thread in [accepting, *threads]:
            thread.join(5)


def test_measure_produce_every_request_is_answered_and_counted() -> None:
    with broker(acknowledge) as (partition, counts):
        measured = measure_produce([partition], QUICK)

    assert len(counts) == 2
    assert measured.requests is not None
    assert 0 < measured.requests <= sum(counts)
    assert measured.latency is not None
    assert measured.latency.count >= measured.requests
    assert measured.records == measured.requests * RECORDS_PER_BATCH
    assert measured.seconds >= 0.1


def test_measure_produce_without_acks_waits_until_all_were_read() -> None:
    with broker(lambda frame: b"") as (partition, counts):
        measured = measure_produce([partition], ProduceLoad(acks=0, seconds=0.1, warm_up_seconds=0.02))
        assert measured.requests is not None
        assert sum(counts) >= measured.requests > 0

    assert measured.latency is None


def test_fill_writes_exactly_the_whole_batches_asked_for() -> None:
    with broker(acknowledge) as (partition, counts):
        records = fill([partition], QUICK, total_bytes=5_000)

    assert counts == [7, 7]
    assert records == 14 * RECORDS_PER_BATCH


def test_measure_produce_error_code_fails_naming_it() -> None:
    with (
        broker(lambda frame: acknowledge(frame, ErrorCode.NOT_LEADER_OR_FOLLOWER)) as (partition, _),
        pytest.raises(BenchError, match="NOT_LEADER_OR_FOLLOWER"),
    ):
        measure_produce([partition], QUICK)


def test_measure_produce_answer_out_of_order_fails() -> None:
    with (
        broker(lambda frame: acknowledge(frame, shift=1)) as (partition, _),
        pytest.raises(BenchError, match="answer to request 0 came as 1"),
    ):
        measure_produce([partition], QUICK)


def test_measure_produce_closed_connection_fails() -> None:
    with broker(lambda frame: None) as (partition, _), pytest.raises(BenchError, match="closed"):
        measure_produce([partition], QUICK)


def test_connection_refused_fails_naming_the_address(unused_port: int) -> None:
    with pytest.raises(BenchError, match=f"127.0.0.1:{unused_port}"):
        Connection(Address("127.0.0.1", unused_port))


@pytest.fixture
def unused_port() -> Iterator[int]:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield int(holder.getsockname()[1])


def test_parse_address_takes_the_first_and_ipv6_brackets() -> None:
    assert parse_address("a:1,b:2") == Address("a", 1)
    assert parse_address("[::1]:9092") == Address("::1", 9092)


@pytest.mark.parametrize("text", ["", "host", ":9092", "host:x"])
def test_parse_address_nonsense_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="HOST:PORT"):
        parse_address(text)
