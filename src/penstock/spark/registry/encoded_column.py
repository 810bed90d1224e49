"""``to_registry``: a typed column as bytes that are written with a registry's schema."""

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
    subject_of,
)
from penstock.spark.registry.encoding import EncodePlan, encode, prefixes, schema_for
from penstock.spark.registry.json_schema import columns as json_columns
from penstock.spark.registry.lookup import Location, lookup_at
from penstock.spark.registry.registered import Format, RegisteredSchema, parse_format
from penstock.spark.registry.wire_format import build_prefix


def to_registry(  # noqa: PLR0913 - one argument for each choice, all but the column by name.
    column: Column | str,
    *,
    url: str | Registry | None = None,
    schemas: Schemas | None = None,
    subject: str | None = None,
    topic: str | None = None,
    schema: Schema | None = None,
    format: str | None = None,
    message: str | None = None,
    auto_register: bool = False,
    is_key: bool = False,
) -> Column:
    """A column of bytes: the id of a schema, and the column's values as that schema writes them.

    Without ``schema``, the newest one of the subject is used, and what the column has must fit it. With
    ``auto_register`` a schema is made for the column's own type and registered under the subject when the
    query runs. ``schema`` is a schema in the format's own language or a type of Spark's; it must be
    registered already, unless ``auto_register`` says to do so, which is done now. ``format`` is avro, json
    or protobuf: by default what the subject has, or avro if it is to be registered.

    Null stays null. A value that does not fit fails the query: nothing is written that would not be read
    back.
    """
    location = needed_location(location_of(url, schemas))
    name = subject_of(subject, topic, is_key=is_key)
    if name is None:
        raise UsageError("Under which subject? Give subject='orders-value' or topic='orders'.")
    plan = _plan(location, name, format, schema, auto_register=auto_register, message=message)
    values = f.col(column) if isinstance(column, str) else column
    if plan.format is Format.JSON:
        return json_columns.encoded(values, _json_prefix(values, plan))

    def to_bytes(rows: pa.Array) -> pa.Array:
        return encode(rows, plan)

    return on_columns(to_bytes, t.BinaryType(), "to_registry")(values)


def _plan(
    location: Location,
    subject: str,
    format: str | None,
    schema: Schema | None,
    *,
    auto_register: bool,
    message: str | None,
) -> EncodePlan:
    lookup = lookup_at(location)
    format_ = None if format is None else parse_format(format)
    chosen: RegisteredSchema | None = None
    if schema is not None:
        given = _given(schema, subject, format_)
        chosen = lookup.register(subject, given) if auto_register else lookup.look_up(subject, given)
    elif not auto_register:
        chosen = lookup.latest(subject)
        if format_ is not None and chosen.format is not format_:
            raise UsageError(f"{subject} is {chosen.format.lower()} in {lookup}, not {format_.lower()}.")
    return EncodePlan(
        location=location,
        subject=subject,
        format=chosen.format if chosen is not None else format_ or Format.AVRO,
        schema=chosen,
        message=message,
    )


def _given(schema: Schema, subject: str, format_: Format | None) -> RegisteredSchema:
    known = format_ or Format.AVRO
    if isinstance(schema, str) and is_schema_text(schema, known):
        return RegisteredSchema(schema_id=None, text=schema, format=known)
    return schema_for(as_type(schema), subject, known)


def _json_prefix(values: Column, plan: EncodePlan) -> Column:
    if plan.schema is not None:
        return f.lit(build_prefix(plan.schema.schema_id or 0))

    def to_prefixes(rows: pa.Array) -> pa.Array:
        return prefixes(rows, plan)

    # The type of the column is all that is needed, so nulls of it go to Python instead of the values.
    return on_columns(to_prefixes, t.BinaryType(), "to_registry")(f.when(f.lit(False), values))
