"""Records of JSON by Spark's own functions: nothing leaves the JVM.

A record becomes the only member of an object, ``{"value": record}``, before it is parsed. So records that
are no objects parse too, and what stands behind a record makes it a bad one, which ``from_json`` alone
would overlook.
"""

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as f
from pyspark.sql import types as t

from penstock.spark.registry.wire_format import GUID_MAGIC, GUID_PREFIX_BYTES, ID_MAGIC, ID_PREFIX_BYTES

BAD = "_unreadable_"
READING = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": BAD, "allowSingleQuotes": "false"}
REASON_CHARACTERS = 200
WRITING = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""Spark's own default would cut timestamps down to milliseconds."""


def decoded(column: Column, type_: t.DataType, *, header: Column | None, fail_fast: bool) -> Column:
    """The struct of value, error and schema id for tagged records of JSON."""
    in_header = f.lit(False) if header is None else header.isNotNull()
    tag = column if header is None else f.coalesce(header, column)
    is_id, is_guid = _begins(tag, ID_MAGIC, ID_PREFIX_BYTES), _begins(tag, GUID_MAGIC, GUID_PREFIX_BYTES)
    tag_bytes = f.when(in_header, 0).when(is_id, ID_PREFIX_BYTES).otherwise(GUID_PREFIX_BYTES)
    record = f.substring(column, tag_bytes + 1, f.length(column)).cast("string")
    wrapped = f.concat(f.lit('{"value":'), record, f.lit("}"))
    parsed = f.from_json(wrapped, _wrapped_type(type_), READING)
    no_tag = f.lit("no magic byte with a schema id: not written with a registry's schema")
    number = f.conv(f.hex(f.substring(tag, 2, 4)), 16, 10).try_cast("int")

    def result(once: Column) -> Column:
        bad = f.concat(f.lit("not JSON of its schema: "), f.left(record, f.lit(REASON_CHARACTERS)))
        reason = (
            f.when(column.isNull(), None).when(~(is_id | is_guid), no_tag).when(once[BAD].isNotNull(), bad)
        )
        value = f.when(reason.isNull(), once["value"])
        if fail_fast:
            value = f.when(reason.isNotNull(), f.raise_error(reason).cast(type_)).otherwise(value)
        return f.struct(value.alias("value"), reason.alias("error"), f.when(is_id, number).alias("schema_id"))

    # A variable of a lambda is computed once; Spark would parse a record anew for each use of ``parsed``.
    return f.get(f.transform(f.array(parsed), result), f.lit(0))


def encoded(column: Column, prefix: Column) -> Column:
    """The bytes of records: the prefix, and the JSON of the column; null for null."""
    return f.concat(prefix, f.to_json(column, WRITING).cast("binary"))


def _begins(tag: Column, magic: int, size: int) -> Column:
    return (f.length(tag) >= size) & (f.substring(tag, 1, 1) == f.lit(bytes([magic])))


def _wrapped_type(type_: t.DataType) -> t.StructType:
    fields: Sequence[t.StructField] = [t.StructField("value", type_), t.StructField(BAD, t.StringType())]
    return t.StructType(list(fields))
