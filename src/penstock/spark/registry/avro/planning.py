"""From a writer's and a reader's schema to readers of columns, by Avro's rules of resolution.

They are followed as fastavro does. Pairs that are not planned here are no error: ``NotInColumnsError``
hands them to fastavro, which reads them or says why it cannot.
"""

from typing import Any

import pyarrow as pa

from penstock.schemas.avro.schema import (
    MISSING,
    NULL,
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
    Union,
    type_name,
)
from penstock.spark.registry.arrow_types import arrow_type
from penstock.spark.registry.avro.column_readers import (
    Booleans,
    Branches,
    ColumnReader,
    Constant,
    Fields,
    FixedBytes,
    Floats,
    Integers,
    Items,
    Member,
    Strings,
    Symbols,
)
from penstock.spark.registry.avro.logical_columns import finished, written_type
from penstock.spark.registry.avro.spark_types import members, spark_type
from penstock.spark.registry.avro.union_values import has_members, shape_of
from penstock.spark.registry.column_lists import NotInColumnsError

_PROMOTIONS = {
    "int": {"int", "long", "float", "double"},
    "long": {"long", "float", "double"},
    "float": {"float", "double"},
    "bytes": {"bytes", "string"},
    "string": {"string", "bytes"},
}


def plan(writer: AvroType, reader: AvroType) -> ColumnReader:
    """The reader of a column of what ``writer`` wrote as what ``reader`` says."""
    match writer, reader:
        case Union(), _:
            readers = tuple(_branch(branch, reader) for branch in writer.branches)
            return Branches(readers=readers, wanted=_arrow(reader))
        case _, Union():
            return _into_union(writer, reader)
        case Primitive(), Primitive() if reader.kind in _PROMOTIONS.get(writer.kind, {writer.kind}):
            return _primitive(writer, reader)
        case Fixed(), Fixed() if is_named_alike(writer, reader) and writer.size == reader.size:
            return FixedBytes(size=writer.size, decimal=reader.logical)
        case Enumeration(), Enumeration() if is_named_alike(writer, reader):
            return _symbols(writer, reader)
        case Array(), Array():
            return Items(items=plan(writer.items, reader.items), wanted=_arrow(reader))
        case Map(), Map():
            keys = Strings(wanted=pa.string())
            return Items(items=plan(writer.values, reader.values), wanted=_arrow(reader), keys=keys)
        case Record(), Record() if is_named_alike(writer, reader):
            return _record(writer, reader)
    raise NotInColumnsError(f"{type_name(writer)} as {type_name(reader)}")


def is_named_alike(writer: Named, reader: Named) -> bool:
    """Whether named types may be read as each other: the last part of the name, or an alias of the reader."""
    name = writer.name.rpartition(".")[2]
    return name == reader.name.rpartition(".")[2] or writer.name in reader.aliases or name in reader.aliases


def _arrow(avro: AvroType) -> Any:
    return arrow_type(spark_type(avro))


def _primitive(writer: Primitive, reader: Primitive) -> ColumnReader:
    wanted = _arrow(reader)
    match writer.kind:
        case "null":
            return Constant(value=pa.nulls(1, wanted))
        case "boolean":
            return Booleans()
        case "int" | "long":
            is_millis = reader.logical is not None and reader.logical.name.endswith("timestamp-millis")
            return Integers(wanted=wanted, is_int=writer.kind == "int", factor=1000 if is_millis else 1)
        case "float" | "double":
            return Floats(wanted=wanted, size=4 if writer.kind == "float" else 8)
    return Strings(wanted=wanted, decimal=_decimal(reader.logical))


def _decimal(logical: Logical | None) -> Logical | None:
    return logical if logical is not None and logical.name == "decimal" else None


def _symbols(writer: Enumeration, reader: Enumeration) -> ColumnReader:
    words = [symbol if symbol in reader.symbols else reader.default for symbol in writer.symbols]
    return Symbols(words=pa.array(words, pa.string()))


def _record(writer: Record, reader: Record) -> ColumnReader:
    by_name = {field.name: place for place, field in enumerate(reader.fields)}
    by_alias = {alias: place for place, field in enumerate(reader.fields) for alias in field.aliases}
    places = tuple(by_name.get(field.name, by_alias.get(field.name)) for field in writer.fields)
    taken = [place for place in places if place is not None]
    if len(set(taken)) < len(taken):
        raise NotInColumnsError(f"two fields of {writer.name} are one of {reader.name}")
    readers = tuple(
        plan(field.type, field.type if place is None else reader.fields[place].type)
        for field, place in zip(writer.fields, places, strict=True)
    )
    constants = tuple(
        (place, _default(field)) for place, field in enumerate(reader.fields) if place not in taken
    )
    return Fields(readers=readers, places=places, constants=constants, wanted=_arrow(reader))


def _default(field: Field) -> Constant:
    if field.default is MISSING:
        raise NotInColumnsError(f"no default for {field.name}")
    value = shape_of(field.type)(field.default) if has_members(field.type) else field.default
    return Constant(value=finished(pa.array([value], written_type(field.type)), field.type))


def _branch(writer: AvroType, reader: AvroType) -> ColumnReader | None:
    try:
        return plan(writer, reader)
    except NotInColumnsError:
        return None  # Matters only if a record has this branch.


def _into_union(writer: AvroType, reader: Union) -> ColumnReader:
    """The first branch that takes what was written, in the order of the reader's."""
    others = members(reader)
    if writer == NULL and NULL in reader.branches:
        return Constant(value=pa.nulls(1, _arrow(reader)))
    for branch in reader.branches:
        if not _takes(writer, branch):
            continue
        place = others.index(branch) if branch in others else 0
        inner = plan(writer, others[place])
        return inner if len(others) == 1 else Member(reader=inner, place=place, wanted=_arrow(reader))
    raise NotInColumnsError(f"{type_name(writer)} as {type_name(reader)}")


def _takes(writer: AvroType, reader: AvroType) -> bool:
    match writer, reader:
        case Primitive(), Primitive():
            return reader.kind in _PROMOTIONS.get(writer.kind, {writer.kind})
        case Fixed(), Fixed():
            return is_named_alike(writer, reader) and writer.size == reader.size
        case Enumeration() | Record(), Enumeration() | Record() if type(writer) is type(reader):
            return is_named_alike(writer, reader)
        case Array(), Array():
            return isinstance(writer.items, Union) or _takes(writer.items, reader.items)
        case Map(), Map():
            return isinstance(writer.values, Union) or _takes(writer.values, reader.values)
        case _, Union():
            return True
    return False
