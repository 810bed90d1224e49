"""A column of tagged records, sorted into groups that one schema wrote.

Schema ids in front of payloads are read for the whole column at once; GUIDs, headers, and message indexes
other than the usual one row by row. Rows whose tag cannot be read are in no group and have a reason instead.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.spark.registry.payloads import Offsets, Payloads, payloads_of
from penstock.spark.registry.wire_format import (
    ID_MAGIC,
    ID_PREFIX_BYTES,
    Tag,
    WireFormatError,
    read_tag,
)

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The rows that one schema wrote, and their records without the tags."""

    tag: Tag
    rows: Offsets
    payloads: Payloads


@dataclass(frozen=True, slots=True, kw_only=True)
class Tagged:
    """A whole column: its groups, the rows that are in none because of a reason, and which rows were null."""

    groups: list[Group] = field(default_factory=list)
    reasons: dict[int, str] = field(default_factory=dict)


def split(values: Any, header_values: Any | None = None, *, has_indexes: bool) -> Tagged:
    """Sort a binary column by schema. ``header_values`` has the schema's header of each row, null where none.

    Null rows are in no group and have no reason.
    """
    payloads = payloads_of(values)
    present = _is_valid(values)
    in_header = _is_valid(header_values) if header_values is not None else np.zeros(len(payloads), bool)
    plain = _plain_rows(payloads, present & ~in_header, has_indexes=has_indexes)
    tagged = Tagged()
    _add_plain(tagged, payloads, plain, tag_bytes=ID_PREFIX_BYTES + has_indexes)
    others = np.flatnonzero(present & ~_mask(plain, len(payloads)))
    _add_others(tagged, payloads, others, header_values, has_indexes=has_indexes)
    return tagged


def _plain_rows(payloads: Payloads, candidates: Mask, *, has_indexes: bool) -> Offsets:
    """Rows that begin with magic byte 0 and an id, and for Protobuf with the index of the first message."""
    needed = ID_PREFIX_BYTES + has_indexes
    rows = np.flatnonzero(candidates & (payloads.ends - payloads.starts >= needed))
    starts = payloads.starts[rows]
    is_plain = payloads.data[starts] == ID_MAGIC
    if has_indexes:
        is_plain &= payloads.data[starts + ID_PREFIX_BYTES] == 0
    plain: Offsets = rows[is_plain]
    return plain


def _add_plain(tagged: Tagged, payloads: Payloads, rows: Offsets, *, tag_bytes: int) -> None:
    starts = payloads.starts[rows]
    ids = np.zeros(len(rows), np.uint32)
    for index in range(1, ID_PREFIX_BYTES):
        ids = (ids << np.uint32(8)) | payloads.data[starts + index]
    for schema_id in np.unique(ids).tolist():
        chosen = rows[ids == schema_id]
        tagged.groups.append(
            Group(
                tag=Tag(schema_id=schema_id),
                rows=chosen,
                payloads=Payloads(
                    data=payloads.data, starts=payloads.starts[chosen] + tag_bytes, ends=payloads.ends[chosen]
                ),
            )
        )


def _add_others(
    tagged: Tagged, payloads: Payloads, rows: Offsets, header_values: Any | None, *, has_indexes: bool
) -> None:
    members: dict[Tag, list[tuple[int, int]]] = {}
    for row, payload in zip(rows.tolist(), payloads.part(rows), strict=True):
        header = header_values[row].as_py() if header_values is not None else None
        try:
            tag, end = read_tag(payload if header is None else header, has_indexes=has_indexes)
        except WireFormatError as error:
            tagged.reasons[row] = str(error) if header is None else f"header: {error}"
            continue
        members.setdefault(tag, []).append((row, end if header is None else 0))
    for tag, found in members.items():
        tagged.groups.append(_group(tag, payloads, np.array(found, np.int64)))


def _group(tag: Tag, payloads: Payloads, found: Offsets) -> Group:
    rows, tag_bytes = found[:, 0], found[:, 1]
    chosen = Payloads(data=payloads.data, starts=payloads.starts[rows] + tag_bytes, ends=payloads.ends[rows])
    return Group(tag=tag, rows=rows, payloads=chosen)


def _is_valid(values: Any) -> Mask:
    return np.asarray(values.is_valid().to_numpy(zero_copy_only=False), bool)


def _mask(rows: Offsets, length: int) -> Mask:
    mask = np.zeros(length, bool)
    mask[rows] = True
    return mask
