"""Kafka's partitioner for keys, over a whole column: murmur2 as its Java client computes it."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.model.errors import UsageError
from penstock.spark.columns.varints import Integers, Octets

Hashes = npt.NDArray[np.uint32]

_SEED = np.uint32(0x9747B28C)
_MULTIPLIER = np.uint32(0x5BD1E995)
_WORD_BYTES = 4
_ROWS_MIN = 8
"""Fewer keys are hashed sooner one by one than as columns."""

_POSITIVE = np.uint32(0x7FFFFFFF)


def murmur2_partitions(keys: Any, partition_count: int) -> npt.NDArray[np.int32]:
    """The partition of each key; -1 where it is null, which is for the caller to place."""
    if partition_count < 1:
        raise UsageError(f"A topic with {partition_count} partitions takes no records.")
    partitions = ((murmur2(keys) & _POSITIVE) % np.uint32(partition_count)).astype(np.int32)
    if keys.null_count:
        partitions[keys.is_null().to_numpy(zero_copy_only=False)] = -1
    return partitions


def murmur2(keys: Any) -> Hashes:
    """The hash of each key of a binary array, chunked or not; that of no bytes where it is null."""
    if isinstance(keys, pa.ChunkedArray):
        hashes = [murmur2(chunk) for chunk in keys.chunks]
        return np.concatenate(hashes) if hashes else np.zeros(0, np.uint32)
    keys = keys if keys.type == pa.binary() else keys.cast(pa.binary())
    keys = keys.fill_null(b"") if keys.null_count else keys
    if not len(keys):
        return np.zeros(0, np.uint32)
    offsets = np.frombuffer(keys.buffers()[1], np.int32)[keys.offset : keys.offset + len(keys) + 1]
    first, end = int(offsets[0]), int(offsets[-1])
    content = keys.buffers()[2]
    octets = np.zeros(end - first + _WORD_BYTES, np.uint8)
    if end > first:
        octets[: end - first] = np.frombuffer(content, np.uint8)[first:end]
    starts = offsets[:-1].astype(np.int64) - first
    return _hash(octets, starts, np.diff(offsets))


def _hash(octets: Octets, starts: Integers, lengths: Any) -> Hashes:
    """Of each piece of ``octets``, behind which there is a word of padding."""
    hashes: Hashes = _SEED ^ lengths.astype(np.uint32)
    _mix_words(hashes, octets, starts, lengths // _WORD_BYTES)
    _mix_rest(hashes, octets, starts + lengths // _WORD_BYTES * _WORD_BYTES, lengths % _WORD_BYTES)
    hashes ^= hashes >> np.uint32(13)
    hashes *= _MULTIPLIER
    hashes ^= hashes >> np.uint32(15)
    return hashes


def _mix_words(hashes: Hashes, octets: Octets, starts: Integers, counts: Any) -> None:
    """The first word of every key, then the second of those that have one.

    When few keys have more, as where one has megabytes, the rest is mixed one after another.
    """
    rows = np.flatnonzero(counts)
    index = 0
    while len(rows) >= _ROWS_MIN:
        words = _mixed(_words(octets, starts[rows] + _WORD_BYTES * index))
        hashes[rows] = hashes[rows] * _MULTIPLIER ^ words
        index += 1
        rows = rows[counts[rows] > index]
    for row in rows.tolist():
        rest = starts[row] + _WORD_BYTES * np.arange(index, counts[row])
        hashes[row] = _mix_into(int(hashes[row]), _mixed(_words(octets, rest)).tolist())


def _mixed(words: Hashes) -> Hashes:
    words = words * _MULTIPLIER
    words ^= words >> np.uint32(24)
    return words * _MULTIPLIER


def _mix_into(value: int, words: list[int]) -> int:
    multiplier = int(_MULTIPLIER)
    for word in words:
        value = (value * multiplier & 0xFFFFFFFF) ^ word
    return value


def _mix_rest(hashes: Hashes, octets: Octets, starts: Integers, counts: Any) -> None:
    """The one to three bytes behind the last whole word."""
    rows = np.flatnonzero(counts)
    if not len(rows):
        return
    bits = (8 * counts[rows]).astype(np.uint32)
    rest = _words(octets, starts[rows]) & ((np.uint32(1) << bits) - np.uint32(1))
    hashes[rows] = (hashes[rows] ^ rest) * _MULTIPLIER


def _words(octets: Octets, positions: Integers) -> Hashes:
    """The little-endian words at ``positions``, which need not be aligned."""
    words = np.lib.stride_tricks.as_strided(
        octets[:_WORD_BYTES].view("<u4"),
        shape=(len(octets) - _WORD_BYTES + 1,),
        strides=(1,),
        writeable=False,
    )
    return words[positions]
