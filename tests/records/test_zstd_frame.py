"""Window sizes read from zstd frame headers."""

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.records.zstd_frame import largest_window_bytes

MAGIC = b"\x28\xb5\x2f\xfd"
EMPTY_LAST_BLOCK = b"\x01\x00\x00"


def frame(descriptor: int, rest: bytes, blocks: bytes = EMPTY_LAST_BLOCK) -> bytes:
    return MAGIC + bytes((descriptor,)) + rest + blocks


@pytest.mark.parametrize(
    ("data", "window"),
    [
        pytest.param(frame(0x00, b"\x00"), 1024, id="smallest window"),
        pytest.param(frame(0x00, b"\x0f"), 2048 + 7 * 256, id="window with a mantissa"),
        pytest.param(frame(0x00, b"\x88"), 128 * 1024 * 1024, id="large window"),
        pytest.param(frame(0x20, b"\x63"), 99, id="single segment, size in one byte"),
        pytest.param(frame(0xA0, b"\x00\x00\x00\x10"), 2**28, id="single segment, size in four"),
        pytest.param(
            frame(0xE1, b"d" + bytes(4) + b"\x01" + bytes(3)), 2**32, id="single segment, dictionary"
        ),
        pytest.param(b"", 0, id="nothing"),
        pytest.param(b"no zstd at all", 0, id="no frame"),
    ],
)
def test_window_of_a_known_frame_is_read(data: bytes, window: int) -> None:
    assert largest_window_bytes(data) == window


def test_window_of_a_later_frame_is_seen_behind_blocks_checksums_and_skippable_frames() -> None:
    raw_block, run_block = b"\x18\x00\x00abc", b"\xfa\xff\x0fz"
    first = frame(0x44, b"\x00\x05\x00", raw_block + run_block + EMPTY_LAST_BLOCK) + b"sum!"
    skippable = b"\x5a\x2a\x4d\x18\x05\x00\x00\x00hello"
    assert largest_window_bytes(first + skippable + frame(0x00, b"\x50")) == 1 << 20


@given(st.binary(max_size=2000), st.integers(1, 19))
def test_window_of_real_frames_is_walked_to_the_end(content: bytes, level: int) -> None:
    data = bytes(cramjam.zstd.compress(content, level=level))
    assert largest_window_bytes(data + frame(0x00, b"\x90")) == 1 << 28


@given(st.binary(max_size=60))
def test_window_of_rubbish_behind_a_magic_never_fails(rubbish: bytes) -> None:
    assert largest_window_bytes(MAGIC + rubbish) >= 0
