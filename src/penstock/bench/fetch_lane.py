"""A connection that reads partitions from one offset to another with prebuilt fetches.

Of an answer only the few header fields of its batches are read: how many records, and where the next one
begins. The bytes of the records are received, as a real consumer must, and not looked at.
"""

import struct
from collections.abc import Sequence
from typing import Any

from penstock.bench.connection import Connection
from penstock.bench.errors import BenchError, check
from penstock.bench.prebuilt import CORRELATION_ID_AT, fetch_offset_position, fetch_request
from penstock.bench.topics import BenchPartition
from penstock.records.batch import HEADER_BYTES, LOG_OVERHEAD
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import decode_response

_LENGTH = struct.Struct(">i")
_CORRELATION_ID = struct.Struct(">i")
_OFFSET = struct.Struct(">q")
_BATCH = struct.Struct(">qi")
_LAST_OFFSET_DELTA = struct.Struct(">i")
_LAST_OFFSET_DELTA_AT = 23
_RECORD_COUNT = struct.Struct(">i")
_RECORD_COUNT_AT = 57
_ANSWER_OVERHEAD_BYTES = 64 * 1024


class _Cursor:
    """How far one partition is read, and the request that asks for more."""

    def __init__(self, partition: BenchPartition, *, start: int, end: int, request: bytearray) -> None:
        self.partition = partition
        self.next_offset = start
        self.end_offset = end
        self.request = request

    @property
    def is_finished(self) -> bool:
        return self.next_offset >= self.end_offset


class FetchLane:
    """One fetch in flight for each of its partitions, until all are read to their end."""

    def __init__(
        self,
        connection: Connection,
        ranges: Sequence[tuple[BenchPartition, int, int]],
        *,
        fetch_bytes: int,
        max_wait_ms: int = 500,
    ) -> None:
        self._version = connection.version(ApiKey.FETCH)
        self._offset_at = fetch_offset_position(ranges[0][0], version=self._version)
        self._cursors = [
            _Cursor(
                partition,
                start=start,
                end=end,
                request=bytearray(
                    fetch_request(
                        partition,
                        offset=start,
                        version=self._version,
                        max_bytes=fetch_bytes,
                        max_wait_ms=max_wait_ms,
                    )
                ),
            )
            for partition, start, end in ranges
        ]
        self._socket = connection.socket
        self._socket.setblocking(False)
        # A broker sends a first batch even when it is larger than asked for; then the buffer grows.
        self._input = bytearray(fetch_bytes + _ANSWER_OVERHEAD_BYTES)
        self._filled = 0
        self._in_flight = 0
        self.records = 0
        self.bytes = 0
        self.requests = 0

    @property
    def is_done(self) -> bool:
        """Whether every partition is read to its end."""
        return not self._in_flight and all(cursor.is_finished for cursor in self._cursors)

    @property
    def wants_room(self) -> bool:
        """Requests are small: the socket always has room for them."""
        return False

    def fileno(self) -> int:
        """The socket's descriptor."""
        return self._socket.fileno()

    def start(self) -> None:
        """Ask for the first bytes of every partition."""
        for number, cursor in enumerate(self._cursors):
            self._ask(number, cursor)

    def on_readable(self, now_ns: int) -> None:
        """Take what has arrived; every complete answer leads to the next question."""
        try:
            received = self._socket.recv_into(memoryview(self._input)[self._filled :])
        except BlockingIOError:
            return
        if not received:
            raise BenchError("The broker closed the connection in the middle of fetching.")
        self._filled += received
        while self._filled >= _LENGTH.size:
            size = _LENGTH.size + _LENGTH.unpack_from(self._input)[0]
            if self._filled < size:
                self._make_room(size)
                return
            self._take_answer(size)
            self._input[: self._filled - size] = self._input[size : self._filled]
            self._filled -= size

    def on_writable(self, now_ns: int) -> None:
        """Nothing ever waits."""

    def _make_room(self, size: int) -> None:
        if size > len(self._input):
            self._input.extend(bytes(size - len(self._input)))

    def _ask(self, number: int, cursor: _Cursor) -> None:
        if cursor.is_finished:
            return
        _CORRELATION_ID.pack_into(cursor.request, CORRELATION_ID_AT, number)
        _OFFSET.pack_into(cursor.request, self._offset_at, cursor.next_offset)
        self._socket.send(cursor.request)
        self._in_flight += 1
        self.requests += 1

    def _take_answer(self, size: int) -> None:
        frame = memoryview(self._input)[_LENGTH.size : size]
        number, answer = decode_response(ApiKey.FETCH, self._version, frame)
        self._in_flight -= 1
        check(answer.error_code, doing="fetch")
        cursor = self._cursors[number]
        for topic in answer.responses:
            for partition in topic.partitions:
                check(partition.error_code, doing=f"fetch from offset {cursor.next_offset}")
                if partition.records is not None:
                    self._take_records(partition.records, cursor)
        self._ask(number, cursor)

    def _take_records(self, data: Any, cursor: _Cursor) -> None:
        position, end, last = 0, len(data), -1
        while position + HEADER_BYTES <= end:
            _, length = _BATCH.unpack_from(data, position)
            following = position + LOG_OVERHEAD + length
            if following > end:
                break
            self.records += _RECORD_COUNT.unpack_from(data, position + _RECORD_COUNT_AT)[0]
            last, position = position, following
        if last < 0:
            return
        self.bytes += position
        (delta,) = _LAST_OFFSET_DELTA.unpack_from(data, last + _LAST_OFFSET_DELTA_AT)
        cursor.next_offset = _OFFSET.unpack_from(data, last)[0] + delta + 1
