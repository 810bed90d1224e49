"""Four codecs, their framings, and inputs made to hurt."""

import gzip
import random
import struct
import subprocess
import sys
import tracemalloc
import zlib
from pathlib import Path

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.limits import DECOMPRESSED_BYTES_MAX
from penstock.records.compression import CODEC_NAMES, Codec, compress, decompress
from penstock.records.errors import CorruptBatchError

MIB = 1024 * 1024
COMPRESSING = [codec for codec in Codec if codec]
SAMPLE = b"".join(b"line %d of something that repeats\n" % (number % 97) for number in range(5000))


@given(st.sampled_from(Codec), st.binary(max_size=3000), st.integers(1, 60))
def test_codec_of_any_data_gives_it_back(codec: Codec, data: bytes, times: int) -> None:
    repeated = data * times
    assert decompress(codec, compress(codec, repeated), len(repeated)) == repeated


@pytest.mark.parametrize("codec", COMPRESSING)
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_codec_takes_any_kind_of_buffer_and_makes_it_smaller(codec: Codec, kind: type[bytes]) -> None:
    compressed = compress(codec, kind(SAMPLE))
    assert len(compressed) < len(SAMPLE) / 2
    assert decompress(codec, kind(compressed), len(SAMPLE)) == SAMPLE


@pytest.mark.parametrize("codec", list(Codec))
def test_codec_limit_is_exact(codec: Codec) -> None:
    compressed = compress(codec, SAMPLE)
    assert decompress(codec, compressed, len(SAMPLE)) == SAMPLE
    with pytest.raises(CorruptBatchError, match=f"more than {len(SAMPLE) - 1} bytes"):
        decompress(codec, compressed, len(SAMPLE) - 1)


@pytest.mark.parametrize("codec", COMPRESSING)
def test_codec_of_truncated_data_is_refused(codec: Codec) -> None:
    compressed = compress(codec, SAMPLE)
    for length in (0, 1, 7, len(compressed) // 2, len(compressed) - 1):
        with pytest.raises(CorruptBatchError):
            decompress(codec, compressed[:length], len(SAMPLE))


@pytest.mark.parametrize("codec", COMPRESSING)
def test_codec_of_small_data_with_a_large_limit_gives_it_back_or_refuses_it(codec: Codec) -> None:
    """It goes through a buffer that the next one uses again."""
    first, second = (compress(codec, SAMPLE + ending) for ending in (b"first", b"second"))
    kept = decompress(codec, first, 64 * MIB)
    assert decompress(codec, second, 64 * MIB) == SAMPLE + b"second"
    assert kept == SAMPLE + b"first"
    for length in (0, 1, 7, len(first) // 2, len(first) - 1):
        with pytest.raises(CorruptBatchError):
            decompress(codec, first[:length], 64 * MIB)


@pytest.mark.parametrize("size", [MIB - 1, MIB, MIB + 1, 5 * MIB])
@pytest.mark.parametrize("codec", COMPRESSING)
def test_codec_of_a_little_that_becomes_much_gives_it_back(codec: Codec, size: int) -> None:
    compressed = compress(codec, bytes(size))
    assert decompress(codec, compressed, 5 * MIB) == bytes(size)
    with pytest.raises(CorruptBatchError, match=f"more than {size - 1} bytes"):
        decompress(codec, compressed, size - 1)


@pytest.mark.parametrize("codec", COMPRESSING)
def test_codec_of_rubbish_is_refused(codec: Codec) -> None:
    with pytest.raises(CorruptBatchError):
        decompress(codec, b"\xff" * 100, MIB)


@given(st.sampled_from(COMPRESSING), st.data())
def test_codec_of_damaged_data_gives_bytes_within_the_limit_or_one_kind_of_error(
    codec: Codec, data: st.DataObject
) -> None:
    damaged = bytearray(compress(codec, SAMPLE[:4000]))
    damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    try:
        assert len(decompress(codec, damaged, 8000)) <= 8000
    except CorruptBatchError:
        return


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_codec_that_does_not_exist_is_refused(codec: int) -> None:
    with pytest.raises(CorruptBatchError, match=f"codec {codec}"):
        decompress(codec, b"data", 100)


def test_codec_names_are_those_of_compression_type() -> None:
    names = {"none", "uncompressed", "gzip", "snappy", "lz4", "zstd"}
    assert set(CODEC_NAMES) == names
    assert CODEC_NAMES["uncompressed"] is Codec.NONE


def test_gzip_of_several_members_is_read_to_the_end() -> None:
    assert decompress(Codec.GZIP, gzip.compress(b"one ") + gzip.compress(b"two"), 100) == b"one two"


def test_gzip_of_many_members_is_read_without_copying_the_rest_at_any_of_them() -> None:
    data = gzip.compress(b"") * 100 + bytes(4 * MIB)
    tracemalloc.start()
    try:
        with pytest.raises(CorruptBatchError, match="gzip"):
            decompress(Codec.GZIP, data, 100)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < MIB


@pytest.mark.parametrize("size", [1_000, 1_023, 1_024, 1_025, 70_000, 300_000])
def test_gzip_members_longer_than_what_is_read_at_once_are_read_whole(size: int) -> None:
    parts = [random.Random(size + index).randbytes(size) for index in range(3)]
    data = b"".join(map(gzip.compress, parts)) + gzip.compress(bytes(5 * MIB))
    assert decompress(Codec.GZIP, data, 8 * MIB) == b"".join(parts) + bytes(5 * MIB)


@pytest.mark.parametrize("cut", [1, 8, 9, 30, 1_500])
def test_gzip_that_ends_within_its_last_member_is_refused(cut: int) -> None:
    member = gzip.compress(random.Random(cut).randbytes(2_000))
    with pytest.raises(CorruptBatchError, match="gzip"):
        decompress(Codec.GZIP, member + member[:-cut], 10_000)


@pytest.mark.parametrize("rest", [b"\0", b"rest", b"\0" * 2_000])
def test_gzip_with_something_else_behind_it_is_refused(rest: bytes) -> None:
    with pytest.raises(CorruptBatchError, match="gzip"):
        decompress(Codec.GZIP, gzip.compress(b"data") + rest, 10_000)


def test_gzip_is_what_the_standard_library_reads() -> None:
    assert gzip.decompress(compress(Codec.GZIP, SAMPLE)) == SAMPLE


def test_snappy_raw_block_of_c_clients_is_read() -> None:
    assert decompress(Codec.SNAPPY, bytes(cramjam.snappy.compress_raw(SAMPLE)), len(SAMPLE)) == SAMPLE


@pytest.mark.parametrize("versions", [">ii", "<ii"])
def test_snappy_xerial_is_read_whatever_its_version_numbers_look_like(versions: str) -> None:
    block = bytes(cramjam.snappy.compress_raw(b"block "))
    data = b"\x82SNAPPY\0" + struct.pack(versions, 1, 1) + (struct.pack(">i", len(block)) + block) * 3
    assert decompress(Codec.SNAPPY, data, 100) == b"block " * 3


def test_snappy_that_we_write_is_xerial_in_blocks_of_32_kib() -> None:
    compressed = compress(Codec.SNAPPY, bytes(100_000))
    assert compressed[:16] == b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"
    first = int.from_bytes(compressed[16:20], "big")
    assert len(cramjam.snappy.decompress_raw(compressed[20 : 20 + first])) == 32 * 1024


@pytest.mark.parametrize("length", [-1, 2**31 - 1, 100])
def test_snappy_xerial_block_with_a_length_that_lies_is_refused(length: int) -> None:
    data = b"\x82SNAPPY\0" + struct.pack(">iii", 1, 1, length) + b"short"
    with pytest.raises(CorruptBatchError, match="cut short"):
        decompress(Codec.SNAPPY, data, MIB)


def test_lz4_that_we_write_is_a_frame_of_independent_blocks_that_others_read() -> None:
    compressed = compress(Codec.LZ4, SAMPLE)
    assert compressed[:7] == b"\x04\x22\x4d\x18\x60\x40\x82"
    assert bytes(cramjam.lz4.decompress(compressed)) == SAMPLE


def test_lz4_of_incompressible_data_stores_it() -> None:
    noise = random.Random(0).randbytes(1000)
    compressed = compress(Codec.LZ4, noise)
    assert noise in compressed
    assert decompress(Codec.LZ4, compressed, len(noise)) == noise


def test_lz4_of_linked_blocks_with_checksums_is_read() -> None:
    compressor = cramjam.lz4.Compressor(content_checksum=True, block_linked=True)
    compressor.compress(SAMPLE)
    assert decompress(Codec.LZ4, bytes(compressor.finish()), len(SAMPLE)) == SAMPLE


def test_zstd_with_a_large_window_has_half_of_the_limit() -> None:
    data = bytes(1000)
    frame = b"\x28\xb5\x2f\xfd\x00\x88" + struct.pack("<I", 1 | 1000 << 3)[:3] + data
    assert decompress(Codec.ZSTD, frame, 2000) == data
    with pytest.raises(CorruptBatchError, match="more than 999 bytes"):
        decompress(Codec.ZSTD, frame, 1999)


def test_importing_compression_does_not_import_cramjam() -> None:
    program = "import sys, penstock.records.builder; print('cramjam' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def gzip_bomb() -> bytes:
    """One member of a gibibyte: a flushed mebibyte of zeros, repeated."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = deflate.compress(bytes(MIB)) + deflate.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + block * 1024


def snappy_bomb() -> bytes:
    """A raw block that claims a gibibyte in its first five bytes."""
    return b"\x80\x80\x80\x80\x04" + bytes(cramjam.snappy.compress_raw(bytes(1000)))[2:]


def xerial_bomb() -> bytes:
    block = bytes(cramjam.snappy.compress_raw(bytes(16 * MIB)))
    return b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1) + (struct.pack(">i", len(block)) + block) * 8


def lz4_bomb() -> bytes:
    """256 independent blocks of 4 MiB each."""
    block = bytes(cramjam.lz4.compress_block(bytes(4 * MIB), store_size=False))
    header = bytes(cramjam.lz4.compress(b"", level=0))[:4] + b"\x60\x70\x73"
    return header + (struct.pack("<I", len(block)) + block) * 256 + bytes(4)


def zstd_bomb() -> bytes:
    """8192 blocks of four bytes, each a run of 128 KiB, behind a window of 64 MiB."""
    block = (1 << 1 | 128 * 1024 << 3).to_bytes(3, "little") + b"\0"
    return b"\x28\xb5\x2f\xfd\x00\x80" + block * 8192


BOMBS = [
    pytest.param(Codec.GZIP, gzip_bomb, id="gzip"),
    pytest.param(Codec.SNAPPY, snappy_bomb, id="snappy"),
    pytest.param(Codec.SNAPPY, xerial_bomb, id="xerial"),
    pytest.param(Codec.LZ4, lz4_bomb, id="lz4"),
    pytest.param(Codec.ZSTD, zstd_bomb, id="zstd"),
]


def resident_kib(field: str) -> int:
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith(field)).split()[1])


@pytest.mark.slow
@pytest.mark.parametrize(("codec", "make"), BOMBS)
def test_bomb_of_a_gibibyte_is_refused_within_80_mib_of_memory(codec: Codec, make: type[bytes]) -> None:
    bomb = make()
    Path("/proc/self/clear_refs").write_text("5")  # The peak is counted from here.
    before = resident_kib("VmRSS")
    with pytest.raises(CorruptBatchError, match="more than"):
        decompress(codec, bomb, DECOMPRESSED_BYTES_MAX)
    assert resident_kib("VmHWM") - before < 80 * 1024
