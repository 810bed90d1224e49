"""What Avro's numbers and bytes stand for, made of whole Arrow columns: milliseconds and decimals.

Dates and microseconds need nothing: Arrow takes their numbers as they are written.
"""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.schemas.avro.schema import Array, AvroType, Fixed, Logical, Map, Primitive, Record, Union
from penstock.spark.registry.arrow_types import arrow_type
from penstock.spark.registry.avro.decimal_bytes import decimals
from penstock.spark.registry.avro.spark_types import member_name, members, spark_type

_MILLIS = {"timestamp-millis", "local-timestamp-millis"}


def written_type(avro: AvroType) -> Any:
    """The Arrow type of values as fastavro gives them without logical types; ``finished`` makes the rest."""
    match avro:
        case Primitive() | Fixed() if _is_decimal(avro):
            return pa.binary()
        case Primitive(logical=Logical(name=name)) if name in _MILLIS:
            return pa.int64()
        case Array():
            return pa.list_(pa.field("element", written_type(avro.items)))
        case Map():
            return pa.map_(pa.string(), written_type(avro.values))
        case Record():
            return pa.struct([(field.name, written_type(field.type)) for field in avro.fields])
        case Union():
            return _written_union(avro)
    return arrow_type(spark_type(avro))


def finished(values: Any, avro: AvroType) -> Any:
    """A column of ``written_type`` as one of the Spark type's Arrow type."""
    wanted = arrow_type(spark_type(avro))
    if values.type == wanted:
        return values
    match avro:
        case Primitive(logical=Logical(name=name)) if name in _MILLIS:
            return pc.multiply_checked(values, 1000).cast(wanted)
        case Primitive(logical=Logical() as logical) | Fixed(logical=Logical() as logical):
            return decimals(values, logical.precision, logical.scale)
        case Array():
            return _with_children(values, wanted, [finished(values.values, avro.items)])
        case Map():
            entries = pa.StructArray.from_arrays(
                [values.keys, finished(values.items, avro.values)],
                fields=[wanted.key_field, wanted.item_field],
            )
            return _with_children(values, wanted, [entries])
        case Record():
            children = [
                finished(child, field.type)
                for child, field in zip(values.flatten(), avro.fields, strict=True)
            ]
            return _with_children(values, wanted, children)
        case Union():
            return _finished_union(values, avro, wanted)
    return values.cast(wanted)


def _is_decimal(avro: Primitive | Fixed) -> bool:
    return avro.logical is not None and avro.logical.name == "decimal"


def _written_union(union: Union) -> Any:
    others = members(union)
    if len(others) == 1:
        return written_type(others[0])
    if not others:
        return pa.null()
    return pa.struct([(member_name(index), written_type(branch)) for index, branch in enumerate(others)])


def _finished_union(values: Any, union: Union, wanted: Any) -> Any:
    others = members(union)
    if len(others) == 1:
        return finished(values, others[0])
    children = [finished(child, branch) for child, branch in zip(values.flatten(), others, strict=True)]
    return _with_children(values, wanted, children)


def _with_children(values: Any, wanted: Any, children: list[Any]) -> Any:
    """The same array, whose children have become others; only arrays that are no slices are made here."""
    own_buffers = values.buffers()[: 1 if pa.types.is_struct(wanted) else 2]
    return pa.Array.from_buffers(wanted, len(values), own_buffers, values.null_count, 0, children)
