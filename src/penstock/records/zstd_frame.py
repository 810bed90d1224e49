"""How much history a zstd stream makes its reader keep (RFC 8878, section 3.1.1).

Only frame and block headers are walked, nothing is decompressed. Data that ends too early or is no zstd ends
the walk: saying what is wrong with it is the decompressor's job.
"""

Buffer = bytes | bytearray | memoryview

_MAGIC = 0xFD2FB528
_SKIPPABLE_MAGIC = 0x184D2A50
_SKIPPABLE_MASK = 0xFFFFFFF0

_CHECKSUM_BIT = 0x04
_SINGLE_SEGMENT_BIT = 0x20
_DICTIONARY_ID_BYTES = (0, 1, 2, 4)
_CONTENT_SIZE_BYTES = (1, 2, 4, 8)
_BLOCK_HEADER_BYTES = 3
_RUN_LENGTH_BLOCK = 1


def largest_window_bytes(data: Buffer) -> int:
    """The largest window of all frames in ``data``, 0 when it holds none."""
    largest = position = 0
    while position < len(data):
        magic = _number(data, position, 4)
        position += 4
        if magic & _SKIPPABLE_MASK == _SKIPPABLE_MAGIC:
            position += 4 + _number(data, position, 4)
        elif magic == _MAGIC:
            descriptor = _number(data, position, 1)
            largest = max(largest, _window_bytes(data, position + 1, descriptor))
            position = _skip_blocks(data, position + _frame_header_bytes(descriptor))
            position += 4 if descriptor & _CHECKSUM_BIT else 0
        else:
            break
    return largest


def _number(data: Buffer, position: int, size: int) -> int:
    return int.from_bytes(data[position : position + size], "little")


def _window_bytes(data: Buffer, position: int, descriptor: int) -> int:
    if descriptor & _SINGLE_SEGMENT_BIT:
        # No window is named: it is as large as the content.
        position += _DICTIONARY_ID_BYTES[descriptor & 3]
        return _number(data, position, _CONTENT_SIZE_BYTES[descriptor >> 6])
    window = _number(data, position, 1)
    base = 1 << (10 + (window >> 3))
    return base + (base >> 3) * (window & 7)


def _frame_header_bytes(descriptor: int) -> int:
    """Descriptor, window, dictionary id and content size; the last is absent where it could be one byte."""
    is_single_segment = bool(descriptor & _SINGLE_SEGMENT_BIT)
    size = 1 + _DICTIONARY_ID_BYTES[descriptor & 3] + _CONTENT_SIZE_BYTES[descriptor >> 6]
    if is_single_segment:
        return size
    return size if descriptor >> 6 == 0 else size + 1


def _skip_blocks(data: Buffer, position: int) -> int:
    while position < len(data):
        block = _number(data, position, _BLOCK_HEADER_BYTES)
        is_last, kind, size = block & 1, block >> 1 & 3, block >> 3
        position += _BLOCK_HEADER_BYTES + (1 if kind == _RUN_LENGTH_BLOCK else size)
        if is_last:
            break
    return position
