"""Readers of Avro columns: each takes one value from every record of a cursor and gives an array of them.

``planning`` builds a tree of them for a writer's and a reader's schema. What a reader gives for a record that
is marked as bad means nothing. ``NotInColumnsError`` says that these records must be read one by one.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from penstock.schemas.avro.schema import Logical
from penstock.spark.registry.avro.decimal_bytes import decimals
from penstock.spark.registry.column_lists import NotInColumnsError, lists_of
from penstock.spark.registry.cursor import Cursor, Mask
from penstock.spark.registry.payloads import Offsets, Payloads, column_of

ITEMS_MAX = 256
"""In one array or map. Items are read in rounds, one of each record; a single long one would cost dearly."""


class ColumnReader(Protocol):
    """Takes one value from every record."""

    def read(self, cursor: Cursor) -> Any:
        """An Arrow array of one value for each record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """Nothing is written: the value is always the same."""

    value: Any
    """An array of that one value."""

    def read(self, cursor: Cursor) -> Any:
        """The value for each record."""
        return self.value.take(pa.array(np.zeros(len(cursor), np.int64)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Booleans:
    """One byte, 0 or 1."""

    def read(self, cursor: Cursor) -> Any:
        """True where the byte is 1."""
        table = cursor.fixed(1)[:, 0]
        cursor.mark_bad(table > 1)
        return pa.array(table == 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Integers:
    """Varints. ``factor`` makes microseconds of milliseconds; ``is_int`` is for those of 32 bits."""

    wanted: Any
    is_int: bool
    factor: int = 1

    def read(self, cursor: Cursor) -> Any:
        """The numbers, as the type that is wanted."""
        values = cursor.longs()
        limit = 2**31 if self.is_int else 2**63 // self.factor
        if self.is_int or self.factor > 1:
            is_beyond = (values < -limit) | (values >= limit)
            cursor.mark_bad(is_beyond)
            values = np.where(is_beyond, 0, values * self.factor)
        return _as_type(values.astype(np.int32) if self.is_int else values, self.wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Floats:
    """Four or eight bytes, lowest first."""

    wanted: Any
    size: int

    def read(self, cursor: Cursor) -> Any:
        """The numbers, as the type that is wanted."""
        values = cursor.fixed(self.size).view("<f4" if self.size == 4 else "<f8")[:, 0]
        return pa.array(values).cast(self.wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Strings:
    """Bytes after their length, as bytes, as text, or as the decimal that they are."""

    wanted: Any
    decimal: Logical | None = None

    def read(self, cursor: Cursor) -> Any:
        """What is between the bounds; text is checked to be text."""
        begins, ends = cursor.spans(cursor.longs())
        values = _slices(cursor, begins, ends)
        return values.cast(self.wanted) if self.decimal is None else _decimals(cursor, values, self.decimal)


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedBytes:
    """Always so many bytes."""

    size: int
    decimal: Logical | None = None

    def read(self, cursor: Cursor) -> Any:
        """The bytes, or the decimal that they are."""
        begins = cursor.positions.copy()
        cursor.fixed(self.size)
        values = _slices(cursor, begins, cursor.positions)
        return values if self.decimal is None else _decimals(cursor, values, self.decimal)


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbols:
    """The index of a word; ``words`` has null where the reader knows neither the word nor a default."""

    words: Any

    def read(self, cursor: Cursor) -> Any:
        """The words."""
        indexes = cursor.longs()
        is_wrong = (indexes < 0) | (indexes >= len(self.words))
        cursor.mark_bad(is_wrong)
        found = self.words.take(pa.array(np.where(is_wrong, 0, indexes)))
        cursor.mark_bad(found.is_null().to_numpy(zero_copy_only=False))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """The fields of a record as written; ``places`` says which of the reader's each is, None for none."""

    readers: tuple[ColumnReader, ...]
    places: tuple[int | None, ...]
    constants: tuple[tuple[int, ColumnReader], ...]
    wanted: Any

    def read(self, cursor: Cursor) -> Any:
        """A struct of the reader's fields."""
        columns: list[Any] = [None] * self.wanted.num_fields
        for reader, place in zip(self.readers, self.places, strict=True):
            column = reader.read(cursor)
            if place is not None:
                columns[place] = column
        for place, constant in self.constants:
            columns[place] = constant.read(cursor)
        return pa.Array.from_buffers(self.wanted, len(cursor), [None], 0, 0, columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Branches:
    """The index of a branch and its value. None stands for a branch that is not planned."""

    readers: tuple[ColumnReader | None, ...]
    wanted: Any

    def read(self, cursor: Cursor) -> Any:
        """Each record's value out of its own branch."""
        indexes = cursor.longs()
        chosen = np.full(len(cursor), -1, np.int64)
        parts: list[Any] = []
        for branch, reader in enumerate(self.readers):
            rows = np.flatnonzero(indexes == branch)
            if not len(rows):
                continue
            if reader is None:
                raise NotInColumnsError(f"branch {branch} of a union")
            part = cursor.part(rows)
            chosen[rows] = sum(map(len, parts)) + np.arange(len(rows))
            parts.append(reader.read(part))
            cursor.join(rows, part)
        cursor.mark_bad(chosen < 0)
        return _assembled(parts, chosen, self.wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A value in its place in the struct that a union of several types becomes."""

    reader: ColumnReader
    place: int
    wanted: Any

    def read(self, cursor: Cursor) -> Any:
        """A struct in which one field is set."""
        columns = [pa.nulls(len(cursor), field.type) for field in self.wanted]
        columns[self.place] = self.reader.read(cursor)
        return pa.Array.from_buffers(self.wanted, len(cursor), [None], 0, 0, columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """The blocks of an array, or of a map if there is a reader of keys."""

    items: ColumnReader
    wanted: Any
    keys: ColumnReader | None = None

    def read(self, cursor: Cursor) -> Any:
        """A list or map for each record."""
        remaining = np.zeros(len(cursor), np.int64)
        self._next_blocks(cursor, np.arange(len(cursor)), remaining)
        owners: list[Offsets] = []
        parts: list[Any] = []
        while (remaining > 0).any():
            if len(owners) == ITEMS_MAX:
                raise NotInColumnsError(f"over {ITEMS_MAX} items")
            rows = np.flatnonzero(remaining > 0)
            part = cursor.part(rows)
            parts.append(self._item(part))
            owners.append(rows)
            cursor.join(rows, part)
            remaining[rows] -= 1
            remaining[cursor.is_bad] = 0
            self._next_blocks(cursor, rows[(remaining[rows] == 0) & ~cursor.is_bad[rows]], remaining)
        return lists_of(self.wanted, owners, parts, length=len(cursor))

    def _next_blocks(self, cursor: Cursor, rows: Offsets, remaining: Offsets) -> None:
        """A count of items; after a negative one comes the block's size in bytes, for who would skip it."""
        if not len(rows):
            return
        part = cursor.part(rows)
        counts = part.longs()
        with_size = np.flatnonzero(counts < 0)
        if len(with_size):
            sized = part.part(with_size)
            sized.longs()
            part.join(with_size, sized)
        # An item takes a byte at least, so a larger count is a lie.
        part.mark_bad(np.abs(counts) > part.ends - part.positions)
        cursor.join(rows, part)
        remaining[rows] = np.where(part.is_bad, 0, np.abs(counts))

    def _item(self, part: Cursor) -> Any:
        if self.keys is None:
            return self.items.read(part)
        columns = [self.keys.read(part), self.items.read(part)]
        return pa.StructArray.from_arrays(columns, fields=[self.wanted.key_field, self.wanted.item_field])


def _slices(cursor: Cursor, begins: Offsets, ends: Offsets) -> Any:
    return column_of(Payloads(data=cursor.data, starts=begins, ends=ends))


def _decimals(cursor: Cursor, values: Any, decimal: Logical) -> Any:
    if cursor.is_bad.any():  # What was read for them is no number.
        values = pa.array(values.to_pylist(), pa.binary(), mask=cursor.is_bad)
    try:
        return decimals(values, decimal.precision, decimal.scale)
    except ValueError as error:
        raise NotInColumnsError(str(error)) from error


def _as_type(values: Any, wanted: Any) -> Any:
    column = pa.array(values)
    if pa.types.is_timestamp(wanted) or pa.types.is_date32(wanted):
        return column.view(wanted)
    return column.cast(wanted, safe=False)  # Promotion rounds long numbers to floats, as Avro's rules allow.


def _assembled(parts: list[Any], chosen: Offsets, wanted: Any) -> Any:
    if not parts:
        return pa.nulls(len(chosen), wanted)
    together = parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
    is_chosen: Mask = chosen >= 0
    if len(together) == len(chosen) and len(parts) == 1 and is_chosen.all():
        return together
    return together.take(pa.array(chosen, mask=~is_chosen))
