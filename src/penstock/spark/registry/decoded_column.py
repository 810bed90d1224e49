"""``from_registry``: a column of bytes that were written with a registry's schemas, as a typed column."""

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as f
from pyspark.sql import types as t

from penstock.model.errors import UsageError
from penstock.spark.registry.address import Registry
from penstock.spark.registry.arrow_functions import on_columns
from penstock.spark.registry.choices import (
    Schema,
    Schemas,
    as_type,
    is_schema_text,
    location_of,
    needed_location,
    one_of,
    subject_of,
)
from penstock.spark.registry.decoding import DecodePlan, decoder_of
from penstock.spark.registry.json_schema import columns as json_columns
from penstock.spark.registry.lookup import Location, lookup_at
from penstock.spark.registry.projection import project
from penstock.spark.registry.reader_schemas import ReaderSchema, reader_schema, spark_type
from penstock.spark.registry.registered import Format, parse_format
from penstock.spark.registry.wire_format import KEY_HEADER, VALUE_HEADER

MODES = ("PERMISSIVE", "FAILFAST")
ERRORS = ("column", "null")
_NO_DROPPING = " A column cannot drop rows: filter them, where('decoded.error is null')."


def from_registry(  # noqa: PLR0913 - one argument for each choice, all but the column by name.
    column: Column | str,
    *,
    url: str | Registry | None = None,
    schemas: Schemas | None = None,
    subject: str | None = None,
    topic: str | None = None,
    schema: Schema | None = None,
    format: str | None = None,
    message: str | None = None,
    mode: str = "PERMISSIVE",
    errors: str = "column",
    headers: Column | str | None = None,
    is_key: bool = False,
) -> Column:
    """A struct of ``value``, ``error`` and ``schema_id`` for a column of bytes.

    Each record is read with the schema whose id stands before it (or in a header, if ``headers`` is given)
    and resolved to one reader's schema: ``schema``, or else the newest one of the subject, which is asked
    for now. The subject is ``subject``, or the one of a ``topic``'s values, or keys if ``is_key``.
    ``schema`` is a schema in the format's own language, or a type of Spark's, whose fields are then taken
    by name out of the newest schema. ``format`` is avro, json or protobuf, by default what the registry
    says; ``message`` chooses one of a Protobuf file's messages, by default its first.

    A record that does not decode has a null value and an error that says why; in mode FAILFAST it fails the
    query. With ``errors="null"`` the column is the value alone. A registry that cannot be asked fails the
    task.
    """
    fail_fast = one_of("mode", mode, MODES, _NO_DROPPING) == "FAILFAST"
    location = location_of(url, schemas)
    wanted_format = None if format is None else parse_format(format)
    name = subject_of(subject, topic, is_key=is_key)
    values = f.col(column) if isinstance(column, str) else column
    header = None if headers is None else _header(headers, is_key=is_key)
    if wanted_format is Format.JSON and schema is not None and not is_schema_text(schema, wanted_format):
        decoded = json_columns.decoded(values, as_type(schema), header=header, fail_fast=fail_fast)
    else:
        location = needed_location(location)
        reader = _reader(location, name, wanted_format, schema, message)
        decoded = _decoded(values, header, DecodePlan(location=location, reader=reader, fail_fast=fail_fast))
        if schema is not None and not is_schema_text(schema, reader.format):
            decoded = _projected(decoded, spark_type(reader), as_type(schema))
    return decoded if one_of("errors", errors, ERRORS) == "column" else decoded["value"]


def _reader(
    location: Location,
    subject: str | None,
    format_: Format | None,
    schema: Schema | None,
    message: str | None,
) -> ReaderSchema:
    lookup = lookup_at(location)
    if isinstance(schema, str) and format_ is not None and is_schema_text(schema, format_):
        return ReaderSchema(format=format_, text=schema, message=message)
    latest = lookup.latest(subject)
    if format_ is not None and latest.format is not format_:
        raise UsageError(f"{subject} is {latest.format.lower()} in {lookup}, not {format_.lower()}.")
    if isinstance(schema, str) and is_schema_text(schema, latest.format):
        return ReaderSchema(format=latest.format, text=schema, message=message)
    return reader_schema(latest, lookup, message)


def _decoded(values: Column, header: Column | None, plan: DecodePlan) -> Column:
    type_ = spark_type(plan.reader)
    if plan.reader.format is Format.JSON:
        return json_columns.decoded(values, type_, header=header, fail_fast=plan.fail_fast)
    struct = t.StructType(
        [
            t.StructField("value", type_),
            t.StructField("error", t.StringType()),
            t.StructField("schema_id", t.IntegerType()),
        ]
    )

    def decode(column: pa.Array) -> pa.Array:
        return decoder_of(plan).decode(column)

    def decode_with_header(column: pa.Array, header_column: pa.Array) -> pa.Array:
        return decoder_of(plan).decode(column, header_column)

    if header is None:
        return on_columns(decode, struct, "from_registry")(values)
    return on_columns(decode_with_header, struct, "from_registry")(values, header)


def _header(headers: Column | str, *, is_key: bool) -> Column:
    """The value of the header that names the schema, of the first if there are several; null if none."""
    column = f.col(headers) if isinstance(headers, str) else headers
    name = KEY_HEADER if is_key else VALUE_HEADER
    found = f.filter(column, lambda header: header["key"] == name)
    return f.when(f.size(found) > 0, f.get(found, f.lit(0))["value"])


def _projected(decoded: Column, have: t.DataType, want: t.DataType) -> Column:
    return f.struct(
        project(decoded["value"], have, want).alias("value"),
        decoded["error"].alias("error"),
        decoded["schema_id"].alias("schema_id"),
    )
