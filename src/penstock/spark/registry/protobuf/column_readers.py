"""Readers of Protobuf columns, over the records of a cursor at once.

A message is fields in any order, each with its number in front. So messages are read in rounds: the next
number of every record, and for each number that came up its value from the records that have it. Where a
message's fields stand in the usual order, there is one number in a round. What is unusual but allowed, such
as a message field given twice, is not read here: ``NotInColumnsError``.
"""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.spark.registry.column_lists import NotInColumnsError, lists_of
from penstock.spark.registry.cursor import Cursor, Mask
from penstock.spark.registry.payloads import Offsets, Payloads, column_of

ROUNDS_MAX = 512
"""Fields, counted as often as they come, in one message; a single long one would cost dearly."""
VARINT, FIXED64, SPAN, FIXED32 = 0, 1, 2, 5
FIELD_NUMBER_MAX = 2**29 - 1
_SIZES = {FIXED64: 8, FIXED32: 4}


class ValueReader(Protocol):
    """Takes one value from every record of a cursor."""

    @property
    def wire_type(self) -> int:
        """How the value is written: as a varint, as so many bytes, or after its length."""

    def read(self, cursor: Cursor) -> Any:
        """An Arrow array of one value for each record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Varints:
    """Numbers of the kinds that are varints; ``kind`` is their name in .proto files."""

    kind: str
    names: Any = None
    wire_type: int = VARINT

    def read(self, cursor: Cursor) -> Any:
        """The numbers, or for enumerations the names; ``names`` are the numbers' own."""
        raw = cursor.varints()
        match self.kind:
            case "int32":
                return pa.array(raw.astype(np.int32))
            case "uint32":
                return pa.array(raw.astype(np.uint32).astype(np.int64))
            case "sint32":
                low = raw.astype(np.uint32)
                return pa.array(
                    ((low >> np.uint32(1)) ^ (np.uint32(0) - (low & np.uint32(1)))).view(np.int32)
                )
            case "sint64":
                return pa.array(
                    ((raw >> np.uint64(1)) ^ (np.uint64(0) - (raw & np.uint64(1)))).view(np.int64)
                )
            case "uint64":
                return _decimals(raw)
            case "bool":
                return pa.array(raw != 0)
            case "enum":
                return self._named(raw.astype(np.int32))
        return pa.array(raw.view(np.int64))

    def _named(self, numbers: Any) -> Any:
        known, words, is_closed = self.names
        column = pa.array(numbers)
        found = words.take(pc.index_in(column, value_set=known))
        if found.null_count and is_closed:
            raise NotInColumnsError("a number that is none of a closed enumeration's")
        return pc.coalesce(found, column.cast(pa.string())) if found.null_count else found


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedNumbers:
    """Numbers of four or eight bytes, lowest first."""

    dtype: str
    wire_type: int

    def read(self, cursor: Cursor) -> Any:
        """The numbers."""
        values = cursor.fixed(_SIZES[self.wire_type]).view(self.dtype)[:, 0]
        if self.dtype == "<u4":
            return pa.array(values.astype(np.int64))
        return _decimals(values) if self.dtype == "<u8" else pa.array(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """Bytes or text after their length."""

    wanted: Any
    wire_type: int = SPAN

    def read(self, cursor: Cursor) -> Any:
        """What is between the bounds; text is checked to be text."""
        begins, ends = _spans(cursor)
        return column_of(Payloads(data=cursor.data, starts=begins, ends=ends)).cast(self.wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Messages:
    """Messages within messages."""

    body: "Body"
    wire_type: int = SPAN

    def read(self, cursor: Cursor) -> Any:
        """A struct of the fields, or what the message stands for."""
        begins, ends = _spans(cursor)
        inner = Cursor(data=cursor.data, positions=begins, ends=ends, is_bad=cursor.is_bad.copy())
        column = self.body.read(inner)
        cursor.mark_bad(inner.is_bad)
        return column


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldPlan:
    """One field of a message. ``default`` is an array of the value for "not set", null if the field knows."""

    number: int
    reader: ValueReader
    wanted: Any
    default: Any = None
    is_repeated: bool = False
    is_needed: bool = False
    oneof: str | None = None


@dataclass(slots=True, kw_only=True)
class _Found:
    """The values of one field that came up, and whose they are."""

    owners: list[Offsets] = field(default_factory=list)
    parts: list[Any] = field(default_factory=list)

    def rows(self) -> Offsets:
        return np.concatenate(self.owners) if self.owners else np.empty(0, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The fields of a message, up to its end. ``finish`` makes of the struct what the message stands for."""

    fields: tuple[FieldPlan, ...]
    wanted: Any
    finish: Any = None

    def read(self, cursor: Cursor) -> Any:
        """One message from each record."""
        found = {plan.number: _Found() for plan in self.fields}
        by_number = {plan.number: plan for plan in self.fields}
        for _ in range(ROUNDS_MAX):
            rows = np.flatnonzero((cursor.positions < cursor.ends) & ~cursor.is_bad)
            if not len(rows):
                break
            self._round(cursor, rows, by_number, found)
        else:
            raise NotInColumnsError(f"over {ROUNDS_MAX} fields in a message")
        self._check_oneofs(len(cursor), found)
        columns = [_assembled(plan, found[plan.number], len(cursor)) for plan in self.fields]
        if self.finish is not None:
            return self.finish(cursor, *columns)
        return pa.Array.from_buffers(self.wanted, len(cursor), [None], 0, 0, columns)

    def _round(
        self, cursor: Cursor, rows: Offsets, by_number: dict[int, FieldPlan], found: dict[int, _Found]
    ) -> None:
        part = cursor.part(rows)
        tags = part.varints()
        for tag in np.unique(tags).tolist():
            own = np.flatnonzero(tags == tag)
            piece = part.part(own)
            plan = by_number.get(tag >> 3)
            if plan is None or not _read_into(
                found[plan.number], plan, piece, rows=rows[own], wire_type=tag & 7
            ):
                _skip(piece, tag)
            part.join(own, piece)
        cursor.join(rows, part)

    def _check_oneofs(self, length: int, found: dict[int, _Found]) -> None:
        """Of a oneof only the last is set; two in one message are left to the runtime."""
        seen: dict[str, Mask] = {}
        for plan in self.fields:
            if plan.oneof is None or not found[plan.number].owners:
                continue
            is_set = np.bincount(found[plan.number].rows(), minlength=length) > 0
            if np.any(is_set & seen.get(plan.oneof, np.zeros(length, bool))):
                raise NotInColumnsError(f"two fields of oneof {plan.oneof}")
            seen[plan.oneof] = is_set | seen.get(plan.oneof, np.zeros(length, bool))


def _read_into(found: _Found, plan: FieldPlan, piece: Cursor, *, rows: Offsets, wire_type: int) -> bool:
    """Whether the field was read; one that is written in another way than its type is an unknown one."""
    if wire_type == plan.reader.wire_type:
        found.owners.append(rows)
        found.parts.append(plan.reader.read(piece))
        return True
    if plan.is_repeated and wire_type == SPAN:
        items, owners = _packed(piece, plan.reader.wire_type)
        values = plan.reader.read(items)
        if items.is_bad.any():
            piece.is_bad[owners[items.is_bad]] = True
        found.owners.append(rows[owners])
        found.parts.append(values)
        return True
    return False


def _packed(piece: Cursor, wire_type: int) -> tuple[Cursor, Offsets]:
    """A cursor with a record for every number of packed ones, and whose each is."""
    begins, ends = _spans(piece)
    sizes = ends - begins
    owners = np.repeat(np.arange(len(piece)), sizes)
    places = np.arange(len(owners)) + np.repeat(begins - (np.cumsum(sizes) - sizes), sizes)
    if wire_type == VARINT:
        # A varint begins where a span begins, and after each byte without the upper bit.
        is_first = np.ones(len(places), bool)
        is_first[1:] = (piece.data[places[:-1]] < 0x80) | (owners[1:] != owners[:-1])
    else:
        is_first = (places - begins[owners]) % _SIZES[wire_type] == 0
    starts, owners = places[is_first], owners[is_first]
    is_bad = np.zeros(len(starts), bool)
    return Cursor(data=piece.data, positions=starts, ends=ends[owners], is_bad=is_bad), owners


def _skip(piece: Cursor, tag: int) -> None:
    wire_type = tag & 7
    if not 0 < tag >> 3 <= FIELD_NUMBER_MAX or wire_type > FIXED32:
        piece.mark_bad(np.ones(len(piece), bool))
    elif wire_type == VARINT:
        piece.varints()
    elif wire_type == SPAN:
        _spans(piece)
    elif wire_type in _SIZES:
        piece.fixed(_SIZES[wire_type])
    else:
        raise NotInColumnsError("a group")


def _assembled(plan: FieldPlan, found: _Found, length: int) -> Any:
    if plan.is_repeated:
        return lists_of(plan.wanted, found.owners, found.parts, length=length)
    rows = found.rows()
    if plan.is_needed and len(np.unique(rows)) < length:
        raise NotInColumnsError("a map's value left out, which is an empty message then")
    if not found.parts:
        return _all_default(plan, length)
    together = found.parts[0] if len(found.parts) == 1 else pa.concat_arrays(found.parts)
    if isinstance(plan.reader, Messages) and len(np.unique(rows)) < len(rows):
        raise NotInColumnsError("a message field twice, which are one message then")
    chosen = np.full(length, -1, np.int64)
    chosen[rows] = np.arange(len(rows))
    if len(rows) == length and np.array_equal(chosen, np.arange(length)):
        return together
    taken = together.take(pa.array(chosen, mask=chosen < 0))
    return taken if plan.default is None else pc.coalesce(taken, plan.default[0])


def _all_default(plan: FieldPlan, length: int) -> Any:
    if plan.default is None:
        return pa.nulls(length, plan.wanted)
    return plan.default.take(pa.array(np.zeros(length, np.int64)))


def _spans(cursor: Cursor) -> tuple[Offsets, Offsets]:
    return cursor.spans(cursor.varints().view(np.int64))


def _decimals(values: Any) -> Any:
    """Unsigned numbers as decimals of 20 digits: 16 bytes, of which the upper eight are 0."""
    halves = np.zeros((len(values), 2), np.uint64)
    halves[:, 0] = values
    return pa.Array.from_buffers(pa.decimal128(20, 0), len(values), [None, pa.py_buffer(halves)])
