"""One connection to a peer: questions out, answers matched by their numbers.

Every answer comes in a buffer of its own, which nobody else uses afterwards: records in it may be kept, and
written to a log, without being copied.

Whatever is not the answer to a question that is open ends the connection. Once it has ended, every question
still open has failed, and the connection is never used again.
"""

import asyncio
from collections.abc import Callable
from typing import cast

from penstock.broker.frames import FrameReader
from penstock.broker.peers.address import Address
from penstock.broker.peers.question import Question
from penstock.model.errors import DecodeError
from penstock.wire.framing import decode_response

NUMBER_BYTES = 4


class PeerConnection(asyncio.BufferedProtocol):
    """The protocol object of one socket; asyncio turns Nagle's algorithm off for all of them."""

    def __init__(
        self,
        address: Address,
        reader: FrameReader,
        *,
        questions_max: int,
        on_room: Callable[[], None],
        on_lost: "Callable[[PeerConnection], None]",
    ) -> None:
        self._address = address
        self._reader = reader
        self._questions_max = questions_max
        self._on_room = on_room
        self._on_lost = on_lost
        self._transport: asyncio.Transport | None = None
        self._open: dict[int, Question] = {}
        self._is_paused = False
        #: Whether the other side has proved that it speaks our protocol.
        self.has_answered = False
        self.is_closed = False
        #: Why it ended.
        self.reason = ""

    # The transport's side.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connected, if anybody still wants it."""
        self._transport = cast(asyncio.Transport, transport)
        if self.is_closed:
            self._transport.abort()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the transport may put what it receives."""
        return self._reader.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes have arrived."""
        if self.is_closed:
            return
        try:
            frames = self._reader.received(nbytes)
            for frame in frames:
                self._take_answer(frame)
        except DecodeError as error:
            self.close(f"sent what is no answer: {error}")
            return
        if frames:
            self._on_room()

    def pause_writing(self) -> None:
        """The peer reads slower than we ask."""
        self._is_paused = True

    def resume_writing(self) -> None:
        """The peer has caught up."""
        self._is_paused = False
        self._on_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """The conversation is over, however it ended."""
        self._end("closed the connection" if exc is None else f"broke the connection: {exc}")

    # The line's side.

    @property
    def has_room(self) -> bool:
        """Whether one more question may be sent now."""
        return (
            len(self._open) < self._questions_max
            and not self._is_paused
            and self._transport is not None
            and not self._transport.is_closing()
        )

    def is_asked(self, question: Question) -> bool:
        """Whether this question waits for its answer here."""
        return self._open.get(question.number) is question

    def send(self, question: Question) -> None:
        """Ask; there must be room."""
        assert self._transport is not None
        question.was_sent = True
        self._open[question.number] = question
        self._transport.write(question.frame)
        question.frame = b""  # the transport has it; whoever waits for the answer must not hold it too

    def close(self, reason: str) -> None:
        """Hang up; ``reason`` completes a sentence that begins with the peer's address."""
        self._end(reason)
        if self._transport is not None:
            self._transport.abort()

    def _take_answer(self, frame: bytearray) -> None:
        number = int.from_bytes(frame[:NUMBER_BYTES], "big", signed=True)
        question = self._open.get(number)
        if question is None:
            raise DecodeError(f"an answer to question {number}, which is not open")
        _, message = decode_response(question.api_key, question.version, frame)
        del self._open[number]
        self.has_answered = True
        question.answer(message)

    def _end(self, reason: str) -> None:
        if self.is_closed:
            return
        self.is_closed = True
        self.reason = reason
        unanswered, self._open = self._open, {}
        for question in unanswered.values():
            question.fail(f"{self._address} did not answer {question}: it {reason}")
        self._on_lost(self)
