"""The frame reader, fed whole, drop by drop and with lies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.broker.frames import TRUSTED_BEGINNING_BYTES, FrameReader
from penstock.model.errors import DecodeError

FRAME_MAX = 300_000


def frame(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


def feed(reader: FrameReader, data: bytes, step: int) -> list[bytes]:
    """Hand ``data`` over in pieces of at most ``step`` bytes, as a socket would."""
    frames: list[bytes] = []
    position = 0
    while position < len(data):
        room = reader.buffer()
        count = min(step, len(room), len(data) - position)
        room[:count] = data[position : position + count]
        del room
        frames += [bytes(each) for each in reader.received(count)]
        position += count
    return frames


@given(st.lists(st.binary(min_size=1, max_size=600), max_size=8), st.integers(1, 700))
def test_reader_any_chunking_yields_the_frames_sent(payloads: list[bytes], step: int) -> None:
    reader = FrameReader(bytearray(512), FRAME_MAX)
    assert feed(reader, b"".join(map(frame, payloads)), step) == payloads
    assert reader.is_idle


def test_reader_frame_larger_than_scratch_arrives_whole() -> None:
    payload = bytes(range(256)) * 1000
    reader = FrameReader(bytearray(1024), FRAME_MAX)
    assert feed(reader, frame(payload) + frame(b"next"), 1 << 20) == [payload, b"next"]


@pytest.mark.parametrize("length", [0, -1, FRAME_MAX + 1, 0x7FFFFFFF, -(2**31)])
def test_reader_length_outside_limits_is_refused(length: int) -> None:
    reader = FrameReader(bytearray(64), FRAME_MAX)
    with pytest.raises(DecodeError, match="frame length"):
        feed(reader, length.to_bytes(4, "big", signed=True), 4)


def test_reader_memory_follows_what_arrived_not_what_was_announced() -> None:
    reader = FrameReader(bytearray(64), 1 << 30)
    feed(reader, (1 << 29).to_bytes(4, "big") + b"x" * 10, 14)
    assert reader.held_bytes <= 10 + 16 * 1024
    assert not reader.is_idle
    reader.buffer()
    assert reader.held_bytes <= 10 + 16 * 1024


def test_reader_of_a_trusted_side_gives_a_large_frame_its_whole_room_at_once() -> None:
    payload = bytes(range(256)) * 1_000
    reader = FrameReader(bytearray(1024), 1 << 20, is_trusting=True)
    data = frame(payload)
    assert feed(reader, data[:1000], 1000) == []
    assert reader.held_bytes == len(payload)
    assert feed(reader, data[1000:], 1000) == [payload]
    with pytest.raises(DecodeError):
        feed(reader, ((1 << 20) + 1).to_bytes(4, "big"), 4)


def test_reader_of_a_trusted_side_receives_little_before_it_knows_the_frame() -> None:
    reader = FrameReader(bytearray(1 << 20), 1 << 20, is_trusting=True)
    assert len(reader.buffer()) == TRUSTED_BEGINNING_BYTES
    data = frame(bytes(500_000))
    reader.buffer()[:] = data[:TRUSTED_BEGINNING_BYTES]
    assert reader.received(TRUSTED_BEGINNING_BYTES) == []
    assert len(reader.buffer()) == len(data) - TRUSTED_BEGINNING_BYTES


def test_reader_frames_can_be_changed_in_place() -> None:
    reader = FrameReader(bytearray(64), FRAME_MAX)
    data = frame(b"abc")
    reader.buffer()[: len(data)] = data
    (received,) = reader.received(len(data))
    memoryview(received)[0:1] = b"X"
    assert received == b"Xbc"
