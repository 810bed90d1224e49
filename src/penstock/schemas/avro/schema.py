"""The types of an Avro schema as a tree. Names are resolved, so a type that is used twice stands there twice.

The one exception is a record within itself: inside, only its name stands (``RecordWithin``). Types that are
used several times are shared, so the tree is small in memory, but walking it without remembering where one
has been may take for ever: twenty records that each use the one before twice have a million leaves.
"""

from dataclasses import dataclass
from typing import Any, Final


class _Missing:
    """The default of a field that has none; None is a default like any other."""

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()


@dataclass(frozen=True, slots=True, kw_only=True)
class Logical:
    """What a number or some bytes stand for; ``precision`` and ``scale`` belong to decimals."""

    name: str
    precision: int = 0
    scale: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Primitive:
    """``null``, ``boolean``, ``int``, ``long``, ``float``, ``double``, ``bytes`` or ``string``."""

    kind: str
    logical: Logical | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """So many bytes."""

    name: str
    size: int
    logical: Logical | None = None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Enumeration:
    """One of some words, written as its index; ``default`` stands for words that a reader does not know."""

    name: str
    symbols: tuple[str, ...]
    default: str | None = None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """Any number of items of one type."""

    items: "AvroType"


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    """Values of one type under strings."""

    values: "AvroType"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a record. Its default is a value of its type: bytes, not text that stands for them."""

    name: str
    type: "AvroType"
    default: Any = MISSING
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Named fields, one after the other."""

    name: str
    fields: tuple[Field, ...]
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordWithin(Record):
    """A record used inside itself: its name alone. Its fields are where it begins."""

    fields: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Union:
    """One of several types, written after the index of its branch."""

    branches: "tuple[AvroType, ...]"


Named = Fixed | Enumeration | Record
AvroType = Primitive | Named | Array | Map | Union

NULL = Primitive(kind="null")


def type_name(avro: AvroType) -> str:
    """How an error calls a type."""
    match avro:
        case Primitive():
            return avro.kind if avro.logical is None else avro.logical.name
        case Fixed() | Enumeration() | Record():
            return f"{type(avro).__name__.lower()} {avro.name}"
        case Array():
            return f"array of {type_name(avro.items)}"
        case Map():
            return f"map of {type_name(avro.values)}"
        case Union():
            return f"[{', '.join(type_name(branch) for branch in avro.branches)}]"
