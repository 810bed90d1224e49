"""Whether records of one Avro schema can be read as another: the specification's schema resolution, 1.12.

Stricter than the specification's words, and than other registries, in one thing: where both sides say what a
number means, they must say the same. Milliseconds read as microseconds are no error that anybody would be
told of.
"""

from dataclasses import dataclass, field
from typing import TypeVar

from penstock.model.limits import SCHEMA_COMPARISON_STEPS_MAX
from penstock.schemas.avro.parsing import ParsedTypes
from penstock.schemas.avro.schema import (
    MISSING,
    Array,
    AvroType,
    Enumeration,
    Field,
    Fixed,
    Logical,
    Map,
    Named,
    Primitive,
    Record,
    RecordWithin,
    Union,
    type_name,
)
from penstock.schemas.errors import TooComplexError
from penstock.schemas.incompatibility import Incompatibility

PROMOTIONS = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}
"""What may be read as what else."""

Found = list[Incompatibility]
_Named = TypeVar("_Named", bound=Named)


def avro_incompatibilities(*, reader: ParsedTypes, writer: ParsedTypes) -> Found:
    """Every place where a reader does not find what it needs.

    A pair of records that is met within itself is taken for compatible at first. What follows from that is
    wrong if it is not, so the comparison is repeated with what is known, until nothing new comes to light.
    """
    known: dict[tuple[str, str], Found] = {}
    steps = 0
    while True:
        resolution = _Resolution(reader=reader, writer=writer, known=known, steps=steps)
        found = resolution.compare(reader.root, writer.root, "")
        incompatible = {pair: reasons for pair, reasons in resolution.seen.items() if reasons}
        if not resolution.has_assumed or incompatible.keys() == known.keys():
            return list(dict.fromkeys(found))
        known, steps = incompatible, resolution.steps


@dataclass(slots=True, kw_only=True)
class _Resolution:
    """Remembers the pairs of records that it has compared, or is comparing: a record may contain itself."""

    reader: ParsedTypes
    writer: ParsedTypes
    known: dict[tuple[str, str], Found]
    """What an earlier comparison found of pairs; what is not in it is taken for compatible."""
    seen: dict[tuple[str, str], Found] = field(default_factory=dict)
    under_way: set[tuple[str, str]] = field(default_factory=set)
    has_assumed: bool = False
    steps: int = 0
    """Branches of unions looked at: all of one side for each of the other."""

    def compare(self, reader: AvroType, writer: AvroType, path: str) -> Found:
        """What keeps a reader's type from reading a writer's."""
        if isinstance(writer, Union):
            return self._from_union(reader, writer, path)
        if isinstance(reader, Union):
            return self._into_union(reader, writer, path)
        match reader, writer:
            case Primitive(), Primitive():
                return _primitives(reader, writer, path)
            case Array(), Array():
                return self.compare(reader.items, writer.items, f"{path}/items")
            case Map(), Map():
                return self.compare(reader.values, writer.values, f"{path}/values")
            case Record(), Record():
                return self._records(_whole(reader, self.reader), _whole(writer, self.writer), path)
            case Enumeration(), Enumeration():
                return _name_mismatch(reader, writer, path) + _enumerations(reader, writer, path)
            case Fixed(), Fixed():
                return _name_mismatch(reader, writer, path) + _fixed(reader, writer, path)
        return [_type_mismatch(reader, writer, path)]

    def _from_union(self, reader: AvroType, writer: Union, path: str) -> Found:
        """Every branch may have been written, so every branch must be readable."""
        found: Found = []
        for index, branch in enumerate(writer.branches):
            found += self.compare(reader, branch, f"{path}/{index}")
        return found

    def _into_union(self, reader: Union, writer: AvroType, path: str) -> Found:
        # Readers take the branch that is the same by kind or by name, and any other only if there is none.
        same = [branch for branch in reader.branches if _is_same(branch, writer)]
        self.steps += len(reader.branches)
        if self.steps > SCHEMA_COMPARISON_STEPS_MAX:
            raise TooComplexError
        reasons = [self.compare(branch, writer, path) for branch in same or reader.branches]
        if any(not each for each in reasons):
            return []
        return reasons[0] if len(same) == 1 else [_missing_branch(reader, writer, path)]

    def _records(self, reader: Record, writer: Record, path: str) -> Found:
        pair = reader.name, writer.name
        if pair in self.under_way:
            self.has_assumed = True
            return self.known.get(pair, [])[:1]
        if pair in self.seen:
            return self.seen[pair][:1]  # All of them have been told; the first says that there are some.
        self.under_way.add(pair)
        found = _name_mismatch(reader, writer, path)
        written = {each.name: each for each in writer.fields}
        for index, each in enumerate(reader.fields):
            found += self._field(each, writer, written, f"{path}/fields/{index}")
        self.under_way.discard(pair)
        self.seen[pair] = found
        return found

    def _field(self, reader: Field, record: Record, fields: dict[str, Field], path: str) -> Found:
        names = dict.fromkeys((reader.name, *reader.aliases))
        written = [fields[name] for name in names if name in fields]
        if len(written) > 1:
            return [_ambiguous(reader, written, path)]
        if written:
            return self.compare(reader.type, written[0].type, f"{path}/type")
        return [] if reader.default is not MISSING else [_missing_default(reader, record, path)]


def _whole(record: Record, types: ParsedTypes) -> Record:
    whole = types.named[record.name] if isinstance(record, RecordWithin) else record
    return whole if isinstance(whole, Record) else record


def _is_same(reader: AvroType, writer: AvroType) -> bool:
    match reader, writer:
        case Primitive(), Primitive():
            return reader.kind == writer.kind
        case Record(), Record():
            return _has_name_of(reader, writer)
        case Enumeration(), Enumeration():
            return _has_name_of(reader, writer)
        case Fixed(), Fixed():
            return _has_name_of(reader, writer)
        case (Array(), Array()) | (Map(), Map()):
            return True
    return False


def _has_name_of(reader: Named, writer: Named) -> bool:
    return reader.name == writer.name or writer.name in reader.aliases


def _primitives(reader: Primitive, writer: Primitive, path: str) -> Found:
    if reader.kind != writer.kind and reader.kind not in PROMOTIONS.get(writer.kind, ()):
        return [_type_mismatch(reader, writer, path)]
    return _meanings(reader.logical, writer.logical, path)


def _meanings(reader: Logical | None, writer: Logical | None, path: str) -> Found:
    # With a meaning on one side only, the number is what both mean; the specification reads it as it is.
    if reader is None or writer is None or reader == writer:
        return []
    is_decimal = reader.name == writer.name == "decimal"
    if is_decimal and reader.scale == writer.scale and reader.precision >= writer.precision:
        return []
    advice = "keep the scale, and no fewer digits" if is_decimal else "add a field of another name instead"
    return [
        Incompatibility(
            kind="LOGICAL_TYPE_MISMATCH",
            path=path or "/",
            message=f"written as {_meaning(writer)} and read as {_meaning(reader)}, the same bytes stand for"
            f" something else; {advice}.",
        )
    ]


def _meaning(logical: Logical) -> str:
    return f"decimal({logical.precision},{logical.scale})" if logical.name == "decimal" else logical.name


def _name_mismatch(reader: _Named, writer: _Named, path: str) -> Found:
    is_alike = reader.name.rpartition(".")[2] == writer.name.rpartition(".")[2]
    if is_alike or writer.name in reader.aliases:
        return []
    return [
        Incompatibility(
            kind="NAME_MISMATCH",
            path=f"{path}/name",
            message=f"the reader's {type_name(reader)} cannot read {type_name(writer)}; keep the name, or"
            " give the"
            f" reader's type the alias {writer.name!r}.",
        )
    ]


def _enumerations(reader: Enumeration, writer: Enumeration, path: str) -> Found:
    known = set(reader.symbols)
    missing = [symbol for symbol in writer.symbols if symbol not in known]
    if not missing or reader.default is not None:
        return []
    return [
        Incompatibility(
            kind="MISSING_ENUM_SYMBOLS",
            path=f"{path}/symbols",
            message=f"the reader's {type_name(reader)} lacks the symbols {', '.join(missing)} that are"
            " written; keep"
            " them, or give the reader's enum a default, which stands for symbols that it does not know.",
        )
    ]


def _fixed(reader: Fixed, writer: Fixed, path: str) -> Found:
    if reader.size == writer.size:
        return _meanings(reader.logical, writer.logical, path)
    return [
        Incompatibility(
            kind="FIXED_SIZE_MISMATCH",
            path=f"{path}/size",
            message=f"the reader's {type_name(reader)} has {reader.size} bytes and {writer.size} are"
            " written; keep the"
            " size, or use a type of another name in a union.",
        )
    ]


def _type_mismatch(reader: AvroType, writer: AvroType, path: str) -> Incompatibility:
    return Incompatibility(
        kind="TYPE_MISMATCH",
        path=path or "/",
        message=f"{type_name(writer)} is written and {type_name(reader)} read{_readable_as(writer)}.",
    )


def _readable_as(writer: AvroType) -> str:
    wider = PROMOTIONS.get(writer.kind, ()) if isinstance(writer, Primitive) else ()
    return (
        f"; {type_name(writer)} can also be read as {', '.join(wider)}, or in a union with it"
        if wider
        else ""
    )


def _missing_branch(reader: Union, writer: AvroType, path: str) -> Incompatibility:
    return Incompatibility(
        kind="MISSING_UNION_BRANCH",
        path=path or "/",
        message=f"{type_name(writer)} is written, which no branch of the reader's union"
        f" {type_name(reader)} reads; add"
        f" the branch {type_name(writer)}.",
    )


def _missing_default(reader: Field, record: Record, path: str) -> Incompatibility:
    return Incompatibility(
        kind="READER_FIELD_MISSING_DEFAULT_VALUE",
        path=path,
        message=f"field {reader.name!r} of the reader's schema has no default, and {type_name(record)} as"
        " written has no"
        f" such field; give {reader.name!r} a default, or an alias that is the name of a written field.",
    )


def _ambiguous(reader: Field, written: list[Field], path: str) -> Incompatibility:
    names = " and ".join(repr(each.name) for each in written)
    return Incompatibility(
        kind="READER_FIELD_AMBIGUOUS",
        path=path,
        message=f"field {reader.name!r} of the reader's schema is both {names} of the written one by its"
        " aliases; leave"
        " all of them out but one.",
    )
