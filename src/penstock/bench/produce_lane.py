"""A connection that keeps a fixed number of prebuilt produce requests in flight."""

import struct
from collections import deque
from collections.abc import Sequence

from penstock.bench.connection import Connection
from penstock.bench.errors import BenchError, check
from penstock.bench.prebuilt import ACKS_NONE, PrebuiltBatch, produce_error_position, produce_request
from penstock.bench.topics import BenchPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import encode_request
from penstock.wire.messages.api_versions import ApiVersionsRequest

_INPUT_BYTES = 256 * 1024
_LENGTH_AND_ID = struct.Struct(">ii")
_ERROR_CODE = struct.Struct(">h")
_UNACKNOWLEDGED_PER_TURN = 16
"""How many requests of acks=0, which nobody answers, are sent before the loop looks around."""


class ProduceLane:
    """Requests go out as soon as earlier ones are answered.

    All frames of a lane have one size, so they lie in one ring of bytes and any run of them is one slice. A
    frame's correlation id is its place in the ring; an answer out of order is noticed.
    """

    def __init__(
        self,
        connection: Connection,
        partitions: Sequence[BenchPartition],
        batch: PrebuiltBatch,
        *,
        acks: int,
        in_flight: int,
    ) -> None:
        version = connection.version(ApiKey.PRODUCE)
        slots = -(-in_flight // len(partitions)) * len(partitions)
        frames = [
            produce_request(
                partitions[slot % len(partitions)],
                batch.data,
                acks=acks,
                version=version,
                correlation_id=slot,
            )
            for slot in range(slots)
        ]
        self._ring = memoryview(b"".join(frames))
        self._frame_bytes = len(frames[0])
        self._slots = slots
        self._error_at = produce_error_position(partitions[0], version=version)
        self._is_answered = acks != ACKS_NONE
        self._in_flight_max = in_flight
        self._socket = connection.socket
        self._socket.setblocking(False)
        self._output: deque[memoryview] = deque()
        self._input = bytearray(_INPUT_BYTES)
        self._input_view = memoryview(self._input)
        self._input_filled = 0
        self._sent_at: deque[int] = deque()
        self._next_slot = 0
        self._answer_slot = 0
        self._is_stopping = False
        self._barrier = encode_request(ApiKey.API_VERSIONS, 0, slots, ApiVersionsRequest())
        self._awaits_barrier = False

        self.records_per_request = batch.records
        self.batch_bytes = len(batch.data)
        #: Requests that may still be begun; shared out by whoever runs the lanes.
        self.budget = 0
        #: Requests answered without an error; with acks=0, requests given to the socket.
        self.completed = 0
        #: How long each answer took, when ``keeps_waits``.
        self.waits_ns: list[int] = []
        self.keeps_waits = False

    @property
    def is_done(self) -> bool:
        """Whether all that was begun is answered and no more may begin."""
        return (
            (self._is_stopping or not self.budget)
            and not self._output
            and not self._sent_at
            and not self._awaits_barrier
        )

    @property
    def wants_room(self) -> bool:
        """Whether output waits; without answers to wait for there is always more to send."""
        return bool(self._output) or (not self._is_answered and not self._is_stopping and self.budget > 0)

    def fileno(self) -> int:
        """The socket's descriptor."""
        return self._socket.fileno()

    def start(self, now_ns: int) -> None:
        """Fill the window."""
        self._begin(min(self._in_flight_max, self.budget), now_ns)

    def stop(self) -> None:
        """Begin nothing more; what is in flight is still awaited."""
        if self._is_stopping:
            return
        self._is_stopping = True
        if not self._is_answered:
            # The broker answers in order, so this answer says that it has read all the unanswered ones.
            self._awaits_barrier = True
            self._output.append(memoryview(self._barrier))
            self._flush()

    def on_readable(self, now_ns: int) -> None:
        """Count the answers that have arrived and send as many new requests."""
        try:
            received = self._socket.recv_into(self._input_view[self._input_filled :])
        except BlockingIOError:
            return
        if not received:
            raise BenchError("The broker closed the connection in the middle of producing.")
        self._input_filled += received
        answered = self._take_answers(now_ns)
        if answered and not self._is_stopping:
            self._begin(min(answered, self.budget), now_ns)

    def on_writable(self, now_ns: int) -> None:
        """Send what waited; without answers to wait for, send more."""
        self._flush()
        if not self._is_answered and not self._output and not self._is_stopping:
            count = min(_UNACKNOWLEDGED_PER_TURN, self.budget)
            self._begin(count, now_ns)
            self.completed += count

    def _begin(self, count: int, now_ns: int) -> None:
        self.budget -= count
        if self._is_answered:
            self._sent_at.extend([now_ns] * count)
        size = self._frame_bytes
        while count:
            run = min(count, self._slots - self._next_slot)
            start = self._next_slot * size
            self._output.append(self._ring[start : start + run * size])
            self._next_slot = (self._next_slot + run) % self._slots
            count -= run
        self._flush()

    def _flush(self) -> None:
        output = self._output
        while output:
            try:
                sent = self._socket.send(output[0])
            except BlockingIOError:
                return
            if sent == len(output[0]):
                output.popleft()
            else:
                output[0] = output[0][sent:]

    def _take_answers(self, now_ns: int) -> int:
        data, position, end, answered = self._input, 0, self._input_filled, 0
        while position + 8 <= end:
            length, correlation_id = _LENGTH_AND_ID.unpack_from(data, position)
            following = position + 4 + length
            if following > end:
                break
            if correlation_id == self._slots:
                self._awaits_barrier = False
            else:
                self._take_answer(position, correlation_id, now_ns)
                answered += 1
            position = following
        if position:
            data[: end - position] = data[position:end]
            self._input_filled = end - position
        return answered

    def _take_answer(self, position: int, correlation_id: int, now_ns: int) -> None:
        if correlation_id != self._answer_slot:
            raise BenchError(f"The answer to request {self._answer_slot} came as {correlation_id}.")
        self._answer_slot = (self._answer_slot + 1) % self._slots
        (error_code,) = _ERROR_CODE.unpack_from(self._input, position + self._error_at)
        if error_code:
            check(error_code, doing="append a batch")
        self.completed += 1
        wait_ns = now_ns - self._sent_at.popleft()
        if self.keeps_waits:
            self.waits_ns.append(wait_ns)
