"""The four codecs of record batches, in the framing that Kafka's clients write and read.

Whoever decompresses names a limit, and no input makes it hold more than about that much: a thousand bytes may
claim to be a gigabyte. zlib stops by itself; snappy's claim is read before anything is allocated (in xerial's
framing block by block); lz4 and zstd write into a mapping that is as large as the limit, of which the system
gives only the pages that are filled. Making one takes longer than decompressing a small batch, so these try a
buffer first that is there already. What a zstd frame keeps as its window counts too.

gzip is the standard library's; the rest is ``cramjam``, imported when the first such batch comes.
"""

import mmap
import threading
import zlib
from collections.abc import Callable, Iterator
from enum import IntEnum
from functools import cache
from struct import Struct
from types import ModuleType

from penstock.model.limits import ZSTD_WINDOW_BYTES_FREE
from penstock.records.errors import CorruptBatchError
from penstock.records.zstd_frame import largest_window_bytes

Buffer = bytes | bytearray | memoryview


class Codec(IntEnum):
    """Numbers as they stand in a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


CODEC_NAMES = {codec.name.lower(): codec for codec in Codec} | {"uncompressed": Codec.NONE}
"""By the names ``compression.type`` uses."""

_GZIP_WINDOW_BITS = 31
"""zlib's way to ask for the gzip framing."""

_GZIP_PIECE_BYTES = 1024 * 1024
_GZIP_SOURCE_BYTES_MIN = 1024
_GZIP_SOURCE_BYTES_MAX = 64 * 1024
"""zlib copies what it was given and did not use: little at the beginning of a member, more if it goes on."""

_ZSTD_LEVEL = 3

_SCRATCH_BYTES = 1024 * 1024
_SCRATCH_SOURCE_BYTES_MAX = 128 * 1024
"""What is larger would often not fit, and be decompressed twice."""

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_VERSIONS = b"\x00\x00\x00\x01\x00\x00\x00\x01"
_XERIAL_HEADER_BYTES = 16
_XERIAL_BLOCK_BYTES = 32 * 1024
_XERIAL_LENGTH = Struct(">i")

# Version 1, independent blocks of 64 KiB, no checksums, and the header's own checksum: the one frame header
# that every client reads (Java refuses linked blocks).
_LZ4_FRAME_HEADER = b"\x04\x22\x4d\x18\x60\x40\x82"
_LZ4_BLOCK_BYTES = 64 * 1024
_LZ4_STORED = 0x80000000
_LZ4_LENGTH = Struct("<I")
_LZ4_END = b"\x00\x00\x00\x00"


def compress(codec: int, data: Buffer) -> bytes:
    """``data`` in the framing of ``codec``; NONE gives it back as it is."""
    if codec == Codec.NONE:
        return bytes(data)
    return _COMPRESSORS[_known(codec)](data)


def decompress(codec: int, data: Buffer, limit: int) -> bytes:
    """What was compressed, or CorruptBatchError when that is malformed or more than ``limit`` bytes."""
    if codec == Codec.NONE:
        if len(data) > limit:
            raise _too_large(Codec.NONE, limit)
        return bytes(data)
    return _DECOMPRESSORS[_known(codec)](data, limit)


def _known(codec: int) -> Codec:
    try:
        return Codec(codec)
    except ValueError as error:
        raise CorruptBatchError(f"Compression codec {codec} does not exist.") from error


@cache
def _cramjam() -> ModuleType:
    import cramjam

    module: ModuleType = cramjam
    return module


def _too_large(codec: Codec, limit: int) -> CorruptBatchError:
    return CorruptBatchError(f"{codec.name.lower()} data is more than {limit} bytes when decompressed.")


def _malformed(codec: Codec, cause: object) -> CorruptBatchError:
    return CorruptBatchError(f"Malformed {codec.name.lower()} data: {cause}.")


def _compress_gzip(data: Buffer) -> bytes:
    return zlib.compress(data, wbits=_GZIP_WINDOW_BITS)


def _decompress_gzip(data: Buffer, limit: int) -> bytes:
    pieces: list[bytes] = []
    room = limit
    for piece in _inflate(memoryview(data)):
        room -= len(piece)
        if room < 0:
            raise _too_large(Codec.GZIP, limit)
        pieces.append(piece)
    return b"".join(pieces)


def _inflate(data: memoryview) -> Iterator[bytes]:
    """All members of a gzip file, in pieces small enough that the limit is noticed in time."""
    member, position, source_bytes = zlib.decompressobj(_GZIP_WINDOW_BITS), 0, _GZIP_SOURCE_BYTES_MIN
    try:
        while not member.eof or position < len(data):
            if member.eof:
                member, source_bytes = zlib.decompressobj(_GZIP_WINDOW_BITS), _GZIP_SOURCE_BYTES_MIN
            source = data[position : position + source_bytes]
            piece = member.decompress(source, _GZIP_PIECE_BYTES)
            yield piece
            if not source and not piece:
                raise _malformed(Codec.GZIP, "it ends too early")
            position += len(source) - len(member.unconsumed_tail) - len(member.unused_data)
            source_bytes = min(2 * source_bytes, _GZIP_SOURCE_BYTES_MAX)
    except zlib.error as error:
        raise _malformed(Codec.GZIP, error) from error


def _compress_snappy(data: Buffer) -> bytes:
    """Xerial framing, which is what Java writes; everybody reads it and the raw form."""
    pieces = [_XERIAL_MAGIC, _XERIAL_VERSIONS]
    for block in _blocks(data, _XERIAL_BLOCK_BYTES):
        compressed = bytes(_cramjam().snappy.compress_raw(block))
        pieces.append(_XERIAL_LENGTH.pack(len(compressed)))
        pieces.append(compressed)
    return b"".join(pieces)


def _decompress_snappy(data: Buffer, limit: int) -> bytes:
    if bytes(data[: len(_XERIAL_MAGIC)]) != _XERIAL_MAGIC:
        return bytes(_decompress_snappy_block(data, limit, limit=limit))
    pieces: list[memoryview] = []
    room = limit
    for block in _xerial_blocks(memoryview(data)):
        piece = _decompress_snappy_block(block, room, limit=limit)
        room -= len(piece)
        pieces.append(piece)
    return b"".join(pieces)


def _xerial_blocks(data: memoryview) -> Iterator[memoryview]:
    """The raw blocks. The two version numbers are not looked at: some writers swapped their bytes."""
    position = _XERIAL_HEADER_BYTES
    if position > len(data):
        raise _malformed(Codec.SNAPPY, "the xerial header is cut short")
    while position < len(data):
        start = position + _XERIAL_LENGTH.size
        length = _XERIAL_LENGTH.unpack_from(data, position)[0] if start <= len(data) else -1
        position = start + length
        if length < 0 or position > len(data):
            raise _malformed(Codec.SNAPPY, "a xerial block is cut short")
        yield data[start:position]


def _decompress_snappy_block(block: Buffer, room: int, *, limit: int) -> memoryview:
    """What a block holds, where cramjam has put it: a copy would be a second one beside all the others."""
    snappy = _cramjam().snappy
    try:
        if snappy.decompress_raw_len(block) > room:
            raise _too_large(Codec.SNAPPY, limit)
        return memoryview(snappy.decompress_raw(block))
    except _cramjam().DecompressionError as error:
        raise _malformed(Codec.SNAPPY, error) from error


def _compress_lz4(data: Buffer) -> bytes:
    pieces = [_LZ4_FRAME_HEADER]
    for block in _blocks(data, _LZ4_BLOCK_BYTES):
        compressed = bytes(_cramjam().lz4.compress_block(block, store_size=False))
        if len(compressed) < len(block):
            pieces += (_LZ4_LENGTH.pack(len(compressed)), compressed)
        else:
            pieces += (_LZ4_LENGTH.pack(len(block) | _LZ4_STORED), bytes(block))
    pieces.append(_LZ4_END)
    return b"".join(pieces)


def _decompress_lz4(data: Buffer, limit: int) -> bytes:
    return _decompress_into(Codec.LZ4, _cramjam().lz4.decompress_into, data, limit)


def _compress_zstd(data: Buffer) -> bytes:
    return bytes(_cramjam().zstd.compress(data, level=_ZSTD_LEVEL))


def _decompress_zstd(data: Buffer, limit: int) -> bytes:
    # The window is kept beside the output: a large one leaves half of the limit for each.
    room = limit // 2 if largest_window_bytes(data) > ZSTD_WINDOW_BYTES_FREE else limit
    return _decompress_into(Codec.ZSTD, _cramjam().zstd.decompress_into, data, room)


def _decompress_into(
    codec: Codec, decompress_into: Callable[[Buffer, mmap.mmap | bytearray], int], data: Buffer, limit: int
) -> bytes:
    if len(data) <= _SCRATCH_SOURCE_BYTES_MAX and limit >= _SCRATCH_BYTES:
        try:
            return bytes(memoryview(_scratch.buffer)[: decompress_into(data, _scratch.buffer)])
        except _cramjam().DecompressionError as error:
            if not _is_too_large(error):
                raise _malformed(codec, error) from error
    # A bytearray would be filled with zeros first, which costs 20 ms for 64 MiB.
    with mmap.mmap(-1, max(limit, 1)) as output:
        try:
            return output[: decompress_into(data, output)]
        except _cramjam().DecompressionError as error:
            if _is_too_large(error):
                raise _too_large(codec, limit) from error
            raise _malformed(codec, error) from error


def _is_too_large(error: Exception) -> bool:
    return "whole buffer" in str(error)


class _Scratch(threading.local):
    """Room for what small batches become; each thread that decompresses has its own."""

    def __init__(self) -> None:
        self.buffer = bytearray(_SCRATCH_BYTES)


_scratch = _Scratch()


def _blocks(data: Buffer, size: int) -> Iterator[memoryview]:
    view = memoryview(data)
    for start in range(0, len(view), size):
        yield view[start : start + size]


_COMPRESSORS: dict[Codec, Callable[[Buffer], bytes]] = {
    Codec.GZIP: _compress_gzip,
    Codec.SNAPPY: _compress_snappy,
    Codec.LZ4: _compress_lz4,
    Codec.ZSTD: _compress_zstd,
}

_DECOMPRESSORS: dict[Codec, Callable[[Buffer, int], bytes]] = {
    Codec.GZIP: _decompress_gzip,
    Codec.SNAPPY: _decompress_snappy,
    Codec.LZ4: _decompress_lz4,
    Codec.ZSTD: _decompress_zstd,
}
