"""How rows become the bodies of batches: where batches are cut, and the bytes of their records.

Cutting comes first, because deltas count from a batch's first record. It goes by what a record can take at
most, so that no batch is larger than it may be; some are a few bytes per record smaller than they could be.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from penstock.model.errors import UsageError
from penstock.spark.columns.contents import Content
from penstock.spark.columns.fields import Fields
from penstock.spark.columns.varints import (
    VARINT_BYTES_MAX,
    Integers,
    Raw,
    binary_array,
    varint_column,
    varint_sizes,
    write_varints,
    zigzag,
)

LAYOUT_BYTES_MAX = 1024 * 1024 * 1024
"""Laid out at once; Arrow's offsets end at 2 GiB."""

RECORD_BYTES_MAX = LAYOUT_BYTES_MAX


class Span(NamedTuple):
    """One batch: so many rows, and where their bytes are."""

    first_row: int
    record_count: int
    start: int
    end: int
    base_timestamp: int
    max_timestamp: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The records of several batches, one after another."""

    data: memoryview
    spans: list[Span]

    def body(self, span: Span) -> memoryview:
        """The records of one batch."""
        return self.data[span.start : span.end]


def lay_out(fields: Fields, body_bytes_max: int) -> Iterator[Layout]:
    """All rows as batches whose records take at most ``body_bytes_max``, or which hold one record."""
    ends = np.cumsum(_sizes_max(fields))
    cuts = _cut(ends, body_bytes_max)
    for group in _groups(cuts, ends):
        first, end = int(group[0]), int(group[-1])
        yield _lay_out_group(fields.sliced(first, end - first), group - first)


def _sizes_max(fields: Fields) -> Integers:
    """What each record takes at most, whichever batch it is in."""
    if not len(fields):
        return np.zeros(0, np.int64)
    widest_delta = int(fields.timestamps.max()) - int(fields.timestamps.min())
    sizes = _content_sizes(fields.keys) + _content_sizes(fields.values)
    sizes += VARINT_BYTES_MAX + 1 + _varint_size(widest_delta) + _varint_size(len(fields))
    sizes += 1 if fields.tails is None else fields.tails.lengths
    if sizes.max() > RECORD_BYTES_MAX:
        row = int(np.argmax(sizes))
        raise UsageError(f"Row {row} makes a record of {sizes[row]} bytes, the limit is {RECORD_BYTES_MAX}.")
    return sizes


def _content_sizes(content: Content) -> Integers:
    return np.maximum(content.lengths, 0) + varint_sizes(zigzag(content.lengths))


def _varint_size(magnitude: int) -> int:
    return max(1, ((magnitude << 1).bit_length() + 6) // 7)


def _cut(ends: Integers, bytes_max: int) -> Integers:
    """Where batches begin if records end at ``ends``, and behind them where the last one ends."""
    cuts, cut, done = [0], 0, 0
    while cut < len(ends):
        cut = max(cut + 1, int(np.searchsorted(ends, done + bytes_max, side="right")))
        done = int(ends[cut - 1])
        cuts.append(cut)
    return np.array(cuts, np.int64)


def _groups(cuts: Integers, ends: Integers) -> Iterator[Integers]:
    """The cuts of as many batches as can be laid out at once."""
    first = 0
    while first < len(cuts) - 1:
        done = int(ends[cuts[first] - 1]) if cuts[first] else 0
        fitting = int(np.searchsorted(ends[cuts[first + 1 :] - 1], done + LAYOUT_BYTES_MAX, side="right"))
        last = first + max(1, fitting)
        yield cuts[first : last + 1]
        first = last


def _lay_out_group(fields: Fields, cuts: Integers) -> Layout:
    starts, counts = cuts[:-1], np.diff(cuts)
    firsts = starts.repeat(counts)
    records = _records(
        fields,
        timestamp_deltas=fields.timestamps - fields.timestamps[firsts],
        offset_deltas=np.arange(len(fields)) - firsts,
    )
    offsets = np.frombuffer(records.buffers()[1], np.int32, len(fields) + 1)[cuts].tolist()
    times_max = np.maximum.reduceat(fields.timestamps, starts).tolist()
    spans = [
        Span(
            first_row=fields.first_row + start,
            record_count=count,
            start=offsets[index],
            end=offsets[index + 1],
            base_timestamp=int(fields.timestamps[start]),
            max_timestamp=times_max[index],
        )
        for index, (start, count) in enumerate(zip(starts.tolist(), counts.tolist(), strict=True))
    ]
    return Layout(data=memoryview(records.buffers()[2]), spans=spans)


def _records(fields: Fields, *, timestamp_deltas: Integers, offset_deltas: Integers) -> Any:
    """Every row as a record, in a binary array whose bytes are those of the batches."""
    keys, values, tails = fields.keys, fields.values, fields.tails
    numbers = [zigzag(timestamp_deltas), zigzag(offset_deltas), zigzag(keys.lengths)]
    sizes = [varint_sizes(number) for number in numbers]
    raw_value_lengths = zigzag(values.lengths)
    value_length_sizes = varint_sizes(raw_value_lengths)
    lengths = 1 + sum(sizes) + np.maximum(keys.lengths, 0)
    lengths += value_length_sizes + np.maximum(values.lengths, 0)
    lengths += 1 if tails is None else tails.lengths
    return pc.binary_join_element_wise(
        _heads(zigzag(lengths), numbers, sizes),
        keys.filled(),
        varint_column(raw_value_lengths, value_length_sizes),
        values.filled(),
        b"\0" if tails is None else tails.column,
        b"",
    )


def _heads(lengths: Raw, numbers: list[Raw], sizes: list[Integers]) -> Any:
    """What stands before each key: the record's length, no attributes, its deltas, the key's length."""
    length_sizes = varint_sizes(lengths)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(length_sizes + 1 + sum(sizes), out=offsets[1:])
    out = np.zeros(int(offsets[-1]), np.uint8)
    at = offsets[:-1]
    write_varints(out, at, lengths)
    at = at + length_sizes + 1
    for number, size in zip(numbers, sizes, strict=True):
        write_varints(out, at, number)
        at = at + size
    return binary_array(offsets, out)
