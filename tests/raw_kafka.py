"""Kafka's protocol by hand: just enough to send what no real client would.

Written from the protocol alone and sharing no code with the broker, so that a mistake in the broker's codec
cannot hide here. Only classic (non-flexible) versions are spoken; frames are plain bytes a test may bend.
"""

import socket
import struct
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import crc32c
from tests.cluster_size import REPLICATION_FACTOR

PRODUCE, FETCH, LIST_OFFSETS, METADATA = 0, 1, 2, 3
API_VERSIONS, CREATE_TOPICS, DELETE_TOPICS, INIT_PRODUCER_ID = 18, 19, 20, 22

COORDINATOR_LOAD_IN_PROGRESS = 14

BATCH_HEADER = struct.Struct(">qiibIhiqqqhii")
CLIENT_ID = "raw"


# Writing.


def string(text: str | None) -> bytes:
    """A classic string: two bytes of length, -1 for null."""
    if text is None:
        return struct.pack(">h", -1)
    raw = text.encode()
    return struct.pack(">h", len(raw)) + raw


def blob(data: bytes | None) -> bytes:
    """Classic bytes: four bytes of length, -1 for null."""
    return struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data


def array(items: Sequence[bytes] | None) -> bytes:
    """A classic array: four bytes of count, -1 for null."""
    return struct.pack(">i", -1) if items is None else struct.pack(">i", len(items)) + b"".join(items)


def zigzag(number: int) -> bytes:
    """The variable-length integers inside records."""
    return unsigned_varint((number << 1) ^ (number >> 63))


def unsigned_varint(number: int) -> bytes:
    """The variable-length integers of flexible messages."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def request_frame(
    api_key: int, version: int, body: bytes, *, correlation_id: int = 1, tagged_header: bytes = b""
) -> bytes:
    """A whole request, length prefix included; ``tagged_header`` is ``b"\\0"`` for flexible versions."""
    header = struct.pack(">hhi", api_key, version, correlation_id) + string(CLIENT_ID) + tagged_header
    return struct.pack(">i", len(header) + len(body)) + header + body


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One record as a producer makes it."""

    value: bytes | None = b""
    key: bytes | None = None
    timestamp_delta: int = 0
    offset_delta: int | None = None
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFields:
    """Everything in a batch's header, so that each can be a lie; None means the truth."""

    base_offset: int = 0
    length: int | None = None
    leader_epoch: int = -1
    magic: int = 2
    crc: int | None = None
    attributes: int = 0
    last_offset_delta: int | None = None
    base_timestamp: int | None = None
    max_timestamp: int | None = None
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    record_count: int | None = None


def encode_record(record: Record, index: int) -> bytes:
    """The bytes of one record."""
    offset_delta = index if record.offset_delta is None else record.offset_delta
    body = b"\0" + zigzag(record.timestamp_delta) + zigzag(offset_delta)
    for part in (record.key, record.value):
        body += zigzag(-1) if part is None else zigzag(len(part)) + part
    body += zigzag(len(record.headers))
    for header in record.headers:
        body += b"".join(zigzag(len(part)) + part for part in header)
    return zigzag(len(body)) + body


def build_batch(
    records: Sequence[Record] = (Record(value=b"x"),),
    fields: BatchFields = BatchFields(),
    *,
    payload: bytes | None = None,
) -> bytes:
    """A batch of version 2; ``payload`` replaces the encoded records (compressed, or nonsense)."""
    body = payload if payload is not None else b"".join(encode_record(r, i) for i, r in enumerate(records))
    now = int(time.time() * 1000)
    base_timestamp = now if fields.base_timestamp is None else fields.base_timestamp
    count = len(records)
    checked = (
        struct.pack(
            ">hiqqqhii",
            fields.attributes,
            count - 1 if fields.last_offset_delta is None else fields.last_offset_delta,
            base_timestamp,
            base_timestamp if fields.max_timestamp is None else fields.max_timestamp,
            fields.producer_id,
            fields.producer_epoch,
            fields.base_sequence,
            count if fields.record_count is None else fields.record_count,
        )
        + body
    )
    crc = crc32c.crc32c(checked) if fields.crc is None else fields.crc
    length = 9 + len(checked) if fields.length is None else fields.length
    return struct.pack(">qiibI", fields.base_offset, length, fields.leader_epoch, fields.magic, crc) + checked


def values_batch(*values: bytes, producer_id: int = -1, epoch: int = -1, sequence: int = -1) -> bytes:
    """An honest batch of these values."""
    return build_batch(
        [Record(value=value) for value in values],
        BatchFields(producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence),
    )


def produce_body(
    topic: str, partition: int, records: bytes | None, *, acks: int = -1, timeout_ms: int = 10_000
) -> bytes:
    """Produce version 3 to 8, one partition."""
    partitions = array([struct.pack(">i", partition) + blob(records)])
    return string(None) + struct.pack(">hi", acks, timeout_ms) + array([string(topic) + partitions])


def create_topics_body(
    *names: str,
    partitions: int = 1,
    replicas: int = REPLICATION_FACTOR,
    configs: Sequence[tuple[str, str]] = (),
    timeout_ms: int = 10_000,
) -> bytes:
    """CreateTopics version 4."""
    settings = array([string(key) + string(value) for key, value in configs])
    topics = [
        string(name) + struct.pack(">ih", partitions, replicas) + array([]) + settings for name in names
    ]
    return array(topics) + struct.pack(">ib", timeout_ms, 0)


# Reading.


class Reader:
    """Takes an answer apart, field by field."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def take(self, layout: str) -> tuple[int, ...]:
        """Fixed-size numbers, as ``struct`` names them."""
        packed = struct.Struct(">" + layout)
        values: tuple[int, ...] = packed.unpack_from(self.data, self.position)
        self.position += packed.size
        return values

    def number(self, layout: str) -> int:
        """One of them."""
        return self.take(layout)[0]

    def string(self) -> str | None:
        """A classic string."""
        length = self.number("h")
        return None if length < 0 else self.raw(length).decode()

    def blob(self) -> bytes | None:
        """Classic bytes."""
        length = self.number("i")
        return None if length < 0 else self.raw(length)

    def count(self) -> int:
        """How many elements follow; null counts as none."""
        return max(0, self.number("i"))

    def varint(self) -> int:
        """A zigzag number of a record."""
        shift = result = 0
        while True:
            byte = self.data[self.position]
            self.position += 1
            result |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (result >> 1) ^ -(result & 1)

    def raw(self, length: int) -> bytes:
        """So many bytes."""
        piece = self.data[self.position : self.position + length]
        if len(piece) != length:
            raise AssertionError(f"answer ends {length - len(piece)} bytes too early")
        self.position += length
        return piece


@dataclass(frozen=True, slots=True, kw_only=True)
class ProduceAnswer:
    """What Produce version 8 says about one partition."""

    error_code: int
    base_offset: int
    log_append_time: int
    log_start_offset: int
    record_errors: tuple[tuple[int, str | None], ...]
    message: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchAnswer:
    """What Fetch version 11 says about one partition."""

    error_code: int
    high_watermark: int
    log_start_offset: int
    records: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBatch:
    """A batch as the broker serves it."""

    base_offset: int
    attributes: int
    crc_is_right: bool
    record_count: int
    max_timestamp: int
    producer_id: int
    base_sequence: int
    payload: bytes

    @property
    def codec(self) -> int:
        """0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd."""
        return self.attributes & 7

    def values(self) -> list[tuple[int, bytes | None]]:
        """Offset and value of every record of an uncompressed batch."""
        reader = Reader(self.payload)
        found = []
        for _ in range(self.record_count):
            reader.varint()
            reader.number("b")
            reader.varint()
            offset = self.base_offset + reader.varint()
            found.append((offset, _key_and_value(reader)[1]))
        return found


def _key_and_value(reader: Reader) -> tuple[bytes | None, bytes | None]:
    parts = []
    for _ in range(2):
        length = reader.varint()
        parts.append(None if length < 0 else reader.raw(length))
    for _ in range(reader.varint()):
        for _ in range(2):
            reader.raw(max(0, reader.varint()))
    return parts[0], parts[1]


def stored_batches(records: bytes) -> Iterator[StoredBatch]:
    """The whole batches in a fetched record set; a cut one at the end is left out, as clients do."""
    position = 0
    while position + BATCH_HEADER.size <= len(records):
        header = BATCH_HEADER.unpack_from(records, position)
        end = position + 12 + header[1]
        if end > len(records):
            return
        yield StoredBatch(
            base_offset=header[0],
            attributes=header[5],
            crc_is_right=crc32c.crc32c(records[position + 21 : end]) == header[4],
            record_count=header[12],
            max_timestamp=header[8],
            producer_id=header[9],
            base_sequence=header[11],
            payload=records[position + BATCH_HEADER.size : end],
        )
        position = end


class Connection:
    """A socket to a broker that speaks in frames.

    Given the addresses of several, it talks to the first, and to leaders about their partitions.
    """

    def __init__(self, bootstrap: str, *, timeout: float = 10.0, receive_buffer: int | None = None) -> None:
        first, _, others = bootstrap.partition(",")
        host, _, port = first.rpartition(":")
        self._knows_others = bool(others)
        self._leaders: dict[str, Connection] = {}
        self._timeout = timeout
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self._correlation_id = 0
        try:
            self.socket.connect((host, int(port)))
        except OSError:
            self.socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self.socket.close()
        for leader in self._leaders.values():
            leader.close()

    def send(self, data: bytes) -> None:
        """Bytes as they are."""
        self.socket.sendall(data)

    def is_closed_by_peer(self, *, seconds: float = 10.0) -> bool:
        """Whether the broker hangs up within this time without another word."""
        self.socket.settimeout(seconds)
        try:
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True
        except TimeoutError:
            return False

    def hang_up_sending(self) -> None:
        """Nothing more will be said; answers may still come."""
        self.socket.shutdown(socket.SHUT_WR)

    def is_drained(self) -> bool:
        """Read whatever comes until the broker hangs up; False when it never does."""
        try:
            while self.socket.recv(65536):
                pass
        except ConnectionError:
            return True
        except TimeoutError:
            return False
        return True

    def receive_frame(self) -> bytes:
        """One answer, without its length."""
        (length,) = struct.unpack(">i", self._exactly(4))
        return self._exactly(length)

    def request(self, api_key: int, version: int, body: bytes) -> Reader:
        """Ask and wait for the answer; the reader stands behind the correlation id."""
        self._correlation_id += 1
        self.send(request_frame(api_key, version, body, correlation_id=self._correlation_id))
        return self.answer(self._correlation_id)

    def answer(self, correlation_id: int) -> Reader:
        """The next answer, which must be to this request."""
        reader = Reader(self.receive_frame())
        got = reader.number("i")
        assert got == correlation_id, f"answer to request {got}, expected {correlation_id}"
        return reader

    def _exactly(self, length: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            piece = self.socket.recv(min(1 << 20, length - len(data)))
            if not piece:
                raise ConnectionResetError(f"closed after {len(data)} of {length} bytes")
            data += piece
        return bytes(data)

    # Whole conversations.

    def leader(self, topic: str, partition: int) -> "Connection":
        """A connection to the leader of a partition; this one when it knows of no other broker."""
        if not self._knows_others:
            return self
        deadline = time.monotonic() + self._timeout
        while True:
            addresses, leaders = read_metadata(self.request(METADATA, 1, array([string(topic)])))
            address = addresses.get(leaders.get((topic, partition), -1))
            if address is not None:
                break
            assert time.monotonic() < deadline, f"nobody leads {topic}-{partition}"
            time.sleep(0.05)
        if address not in self._leaders:
            self._leaders[address] = Connection(address, timeout=self._timeout)
        return self._leaders[address]

    def api_versions(self) -> dict[int, tuple[int, int]]:
        """Served versions by API key."""
        reader = self.request(API_VERSIONS, 0, b"")
        error = reader.number("h")
        assert error == 0, error
        return {key: (low, high) for key, low, high in (reader.take("hhh") for _ in range(reader.count()))}

    def create_topic(
        self, name: str, *, partitions: int = 1, replicas: int = REPLICATION_FACTOR, **configs: str
    ) -> int:
        """The error code; settings are given with underscores for dots."""
        pairs = [(key.replace("_", "."), value) for key, value in configs.items()]
        body = create_topics_body(name, partitions=partitions, replicas=replicas, configs=pairs)
        return read_topic_errors(self.request(CREATE_TOPICS, 4, body))[name]

    def produce(
        self,
        topic: str,
        partition: int,
        records: bytes | None,
        *,
        acks: int = -1,
        timeout_ms: int = 10_000,
    ) -> ProduceAnswer:
        """One batch to one partition."""
        body = produce_body(topic, partition, records, acks=acks, timeout_ms=timeout_ms)
        return read_produce(self.leader(topic, partition).request(PRODUCE, 8, body))

    def init_producer_id(self) -> tuple[int, int]:
        """A fresh producer id and its epoch; asks again while a broker still fetches its block of ids."""
        deadline = time.monotonic() + 10
        while True:
            reader = self.request(INIT_PRODUCER_ID, 1, string(None) + struct.pack(">i", 60_000))
            _, error, producer_id, epoch = reader.take("ihqh")
            if error != COORDINATOR_LOAD_IN_PROGRESS or time.monotonic() > deadline:
                assert error == 0, error
                return producer_id, epoch

    def fetch(
        self, topic: str, partition: int, offset: int, *, max_bytes: int = 50_000_000, wait_ms: int = 0
    ) -> FetchAnswer:
        """What stands from ``offset`` on."""
        head = struct.pack(">iiiibii", -1, wait_ms, 1, max_bytes, 0, 0, -1)
        wanted = struct.pack(">iiqqi", partition, -1, offset, -1, max_bytes)
        body = head + array([string(topic) + array([wanted])]) + array([]) + string("")
        return read_fetch(self.leader(topic, partition).request(FETCH, 11, body))

    def fetch_all(self, topic: str, partition: int = 0, *, offset: int = 0) -> list[StoredBatch]:
        """Every batch up to the high watermark."""
        found: list[StoredBatch] = []
        while True:
            answer = self.fetch(topic, partition, offset)
            assert answer.error_code == 0, f"fetch at {offset}: error {answer.error_code}"
            if offset >= answer.high_watermark:
                return found
            batches = list(stored_batches(answer.records))
            assert batches, f"nothing at {offset} below high watermark {answer.high_watermark}"
            found += batches
            offset = batches[-1].base_offset + batches[-1].record_count

    def fetch_values(self, topic: str, partition: int = 0, *, offset: int = 0) -> list[bytes | None]:
        """Every value of uncompressed batches up to the high watermark, at offsets without a hole."""
        pairs = [pair for batch in self.fetch_all(topic, partition, offset=offset) for pair in batch.values()]
        offsets = [pair[0] for pair in pairs]
        assert offsets == list(range(offsets[0], offsets[0] + len(offsets))) if offsets else True
        return [pair[1] for pair in pairs]

    def end_offset(self, topic: str, partition: int = 0, *, timestamp: int = -1) -> int:
        """ListOffsets: -1 for the end, -2 for the beginning."""
        wanted = array([string(topic) + array([struct.pack(">iq", partition, timestamp)])])
        request = struct.pack(">i", -1) + wanted
        reader = self.leader(topic, partition).request(LIST_OFFSETS, 1, request)
        reader.count()
        reader.string()
        reader.count()
        _, error, _, offset = reader.take("ihqq")
        assert error == 0, error
        return offset


def read_metadata(reader: Reader) -> tuple[dict[int, str], dict[tuple[str | None, int], int]]:
    """Metadata version 1: the addresses of brokers, and who leads which partition."""
    addresses = {}
    for _ in range(reader.count()):
        node_id, host, port = reader.number("i"), reader.string(), reader.number("i")
        reader.string()
        addresses[node_id] = f"{host}:{port}"
    reader.number("i")
    leaders = {}
    for _ in range(reader.count()):
        reader.number("h")
        topic = reader.string()
        reader.number("b")
        for _ in range(reader.count()):
            _, index, leader = reader.take("hii")
            leaders[topic, index] = leader
            for _ in range(2):
                reader.take("i" * reader.count())
    return addresses, leaders


def read_topic_errors(reader: Reader) -> dict[str | None, int]:
    """CreateTopics version 4: error codes by name."""
    reader.number("i")
    errors = {}
    for _ in range(reader.count()):
        name = reader.string()
        errors[name] = reader.number("h")
        reader.string()
    return errors


def read_produce(reader: Reader) -> ProduceAnswer:
    """The only partition of a Produce answer of version 8."""
    assert reader.count() == 1
    reader.string()
    assert reader.count() == 1
    _, error, base_offset, append_time, log_start = reader.take("ihqqq")
    errors = tuple((reader.number("i"), reader.string()) for _ in range(reader.count()))
    return ProduceAnswer(
        error_code=error,
        base_offset=base_offset,
        log_append_time=append_time,
        log_start_offset=log_start,
        record_errors=errors,
        message=reader.string(),
    )


def read_fetch(reader: Reader) -> FetchAnswer:
    """The only partition of a Fetch answer of version 11."""
    _, error, _ = reader.take("ihi")
    assert error == 0, f"fetch failed as a whole: {error}"
    assert reader.count() == 1
    reader.string()
    assert reader.count() == 1
    _, error, high_watermark, _, log_start = reader.take("ihqqq")
    for _ in range(reader.count()):
        reader.take("qq")
    reader.number("i")
    return FetchAnswer(
        error_code=error,
        high_watermark=high_watermark,
        log_start_offset=log_start,
        records=reader.blob() or b"",
    )
