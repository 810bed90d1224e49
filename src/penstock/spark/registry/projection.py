"""A struct column as another struct type: fields by name, and only casts that lose nothing."""

from pyspark.sql import Column
from pyspark.sql import functions as f
from pyspark.sql import types as t

from penstock.spark.registry.errors import SchemaUnsupportedError

_WIDER: dict[type[t.DataType], tuple[type[t.DataType], ...]] = {
    t.ByteType: (t.ShortType, t.IntegerType, t.LongType, t.FloatType, t.DoubleType),
    t.ShortType: (t.IntegerType, t.LongType, t.FloatType, t.DoubleType),
    t.IntegerType: (t.LongType, t.DoubleType),
    t.FloatType: (t.DoubleType,),
}


def project(column: Column, have: t.DataType, want: t.DataType, *, path: str = "") -> Column:
    """``column``, of type ``have``, as ``want``. Fields that ``have`` lacks are refused, not made up."""
    if have == want:
        return column
    if isinstance(have, t.StructType) and isinstance(want, t.StructType):
        return _struct(column, have, want, path)
    if isinstance(have, t.ArrayType) and isinstance(want, t.ArrayType):
        return f.transform(
            column, lambda item: project(item, have.elementType, want.elementType, path=f"{path}[]")
        )
    if isinstance(have, t.MapType) and isinstance(want, t.MapType) and have.keyType == want.keyType:
        return f.transform_values(
            column, lambda _, value: project(value, have.valueType, want.valueType, path=f"{path}{{}}")
        )
    if not _is_lossless(have, want):
        raise SchemaUnsupportedError(
            f"{path or 'The value'} is {have.simpleString()} in the registry, which is not read as"
            f" {want.simpleString()} without loss; take it as it is, and cast it afterwards."
        )
    return column.cast(want)


def _struct(column: Column, have: t.StructType, want: t.StructType, path: str) -> Column:
    known = {field.name: field.dataType for field in have.fields}
    missing = [field.name for field in want.fields if field.name not in known]
    if missing:
        raise SchemaUnsupportedError(
            f"{path or 'The schema'} has no {', '.join(missing)} in the registry, but {', '.join(known)}."
        )
    fields = [
        project(
            column[field.name],
            known[field.name],
            field.dataType,
            path=f"{path}.{field.name}" if path else field.name,
        ).alias(field.name)
        for field in want.fields
    ]
    return f.when(column.isNotNull(), f.struct(*fields))


def _is_lossless(have: t.DataType, want: t.DataType) -> bool:
    if isinstance(have, t.DecimalType) and isinstance(want, t.DecimalType):
        return want.scale >= have.scale and want.precision - want.scale >= have.precision - have.scale
    if isinstance(want, t.StringType):
        return not isinstance(have, t.BinaryType | t.StructType | t.ArrayType | t.MapType)
    return isinstance(want, _WIDER.get(type(have), ()))
