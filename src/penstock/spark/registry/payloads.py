"""Records of one schema within the buffer of a column: where each begins and ends, nothing copied."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Offsets = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Payloads:
    """The bytes ``data[starts[i]:ends[i]]`` are record ``i``."""

    data: Bytes
    starts: Offsets
    ends: Offsets

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[bytes]:
        data = self.data.data
        for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True):
            yield bytes(data[start:end])

    def part(self, rows: Offsets) -> "Payloads":
        """Some of the records, in the order given."""
        return Payloads(data=self.data, starts=self.starts[rows], ends=self.ends[rows])


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """What came of records: a value or null for each, and for those that did not decode the reason."""

    values: Any
    reasons: dict[int, str] = field(default_factory=dict)


def payloads_of(values: Any) -> Payloads:
    """All of a binary column, nulls included as empty records."""
    values = values.cast(pa.binary()) if not pa.types.is_binary(values.type) else values
    _, offsets, data = values.buffers()
    first = values.offset
    bounds = np.frombuffer(offsets, np.int32)[first : first + len(values) + 1].astype(np.int64)
    bytes_ = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    return Payloads(data=bytes_, starts=bounds[:-1], ends=bounds[1:])


def column_of(payloads: Payloads) -> Any:
    """Records in rising order as a binary column.

    Arrow copies them, once: their bounds are offsets of every second value of a column that needs no copy.
    """
    if not len(payloads):
        return pa.array([], pa.binary())
    bounds = np.empty(2 * len(payloads), np.int32)
    bounds[0::2], bounds[1::2] = payloads.starts, payloads.ends
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(payloads.data)]
    every = pa.Array.from_buffers(pa.binary(), len(bounds) - 1, buffers)
    return every.take(pa.array(np.arange(0, len(bounds) - 1, 2)))
