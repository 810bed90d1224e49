"""Arrays and maps of a column, out of items that came up in rounds, one of each record at a time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.spark.registry.payloads import Offsets


class NotInColumnsError(Exception):
    """These records, or records of these schemas, are not read by columns but one by one."""


def lists_of(wanted: Any, owners: Sequence[Offsets], parts: Sequence[Any], *, length: int) -> Any:
    """Lists or maps of that type; ``owners`` says of each item in ``parts`` whose it is."""
    rows = np.concatenate(owners) if owners else np.empty(0, np.int64)
    offsets = np.zeros(length + 1, np.int32)
    np.cumsum(np.bincount(rows, minlength=length), out=offsets[1:])
    items = pa.concat_arrays(parts) if parts else pa.array([], _item_type(wanted))
    if pa.types.is_map(wanted) and _has_twice(rows, items.field(0)):
        raise NotInColumnsError("a key twice in a map")
    in_order = items.take(pa.array(np.argsort(rows, kind="stable")))
    return pa.Array.from_buffers(wanted, length, [None, pa.py_buffer(offsets)], 0, 0, [in_order])


def _item_type(wanted: Any) -> Any:
    if pa.types.is_map(wanted):
        return pa.struct([wanted.key_field, wanted.item_field])
    return wanted.value_type


def _has_twice(rows: Offsets, keys: Any) -> bool:
    encoded = keys.dictionary_encode()
    pairs = rows * max(len(encoded.dictionary), 1) + encoded.indices.to_numpy()
    return len(np.unique(pairs)) < len(pairs)
