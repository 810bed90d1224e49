"""Pieces of a buffer as an Arrow array, copied once and in C++.

An Arrow array of n pieces that need not touch is a view of 2n pieces that do: every second one is a gap.
Taking the even ones copies the bytes that are wanted, and nothing of the fetched buffer stays in memory.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from penstock.spark.columns.cursors import Slices


def gather(whole: Any, slices: Slices) -> Any:
    """The ``slices`` of the Arrow buffer ``whole`` as a binary array."""
    count = len(slices.starts)
    if not count:
        return pa.array([], pa.binary())
    nulls = slices.lengths < 0
    offsets = np.empty(2 * count + 1, np.int32)
    offsets[0:-1:2] = slices.starts
    np.add(slices.starts, np.maximum(slices.lengths, 0), out=offsets[1::2], casting="unsafe")
    offsets[-1] = offsets[-2]
    view = pa.Array.from_buffers(pa.binary(), 2 * count, [None, pa.py_buffer(offsets), whole])
    even = np.arange(0, 2 * count, 2, dtype=np.int32)
    return view.take(pa.array(even, mask=nulls) if nulls.any() else pa.array(even))


def gather_text(whole: Any, slices: Slices) -> Any:
    """The ``slices`` as a string array; what is no UTF-8 is replaced as Java does it."""
    content = gather(whole, slices)
    try:
        return content.cast(pa.string())
    except pa.ArrowInvalid:
        texts = [None if one is None else one.decode("utf-8", "replace") for one in content.to_pylist()]
        return pa.array(texts, pa.string())
