"""A column into tagged records of one schema. Works on Arrow arrays, and remembers what it made of a schema.

Without a schema in the plan, one is made for the column's type and registered when the first batch comes,
once in a process; registering the same schema again gives the same id, so all tasks write the same.
"""

import functools
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as t

from penstock.schemas.protobuf.parsing import parse_file
from penstock.spark.registry.arrow_types import spark_type_of
from penstock.spark.registry.avro.encoding import encode as encode_avro
from penstock.spark.registry.avro.parsing import parse_schema
from penstock.spark.registry.avro.rendering import render
from penstock.spark.registry.avro.spark_types import avro_type
from penstock.spark.registry.binary_columns import joined, scalar
from penstock.spark.registry.json_schema.spark_types import json_schema
from penstock.spark.registry.lookup import Location, lookup_at, referred_by
from penstock.spark.registry.protobuf.encoding import encode as encode_protobuf
from penstock.spark.registry.protobuf.messages import message_descriptor, message_names, written_way
from penstock.spark.registry.protobuf.proto_text import proto_text
from penstock.spark.registry.registered import Format, RegisteredSchema
from penstock.spark.registry.wire_format import build_prefix

Encode = Callable[[Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodePlan:
    """All that a task needs to know; a ``schema`` of None is to be made and registered."""

    location: Location
    subject: str
    format: Format
    schema: RegisteredSchema | None = None
    message: str | None = None


def encode(values: Any, plan: EncodePlan) -> Any:
    """The bytes of records; null for null."""
    prefix, encode_values = _encoder(plan, _schema(plan, values.type))
    encoded = joined([pa.repeat(scalar(prefix), len(values)), encode_values(values)])
    return pc.if_else(pc.is_valid(values), encoded, scalar(None))


def prefixes(values: Any, plan: EncodePlan) -> Any:
    """Only the tags, for records that others write; ``values`` show the type and how many."""
    schema = _schema(plan, values.type)
    return pa.repeat(scalar(build_prefix(schema.schema_id or 0)), len(values))


def schema_for(spark: t.DataType, subject: str, format_: Format) -> RegisteredSchema:
    """A schema for a Spark type; names within it are made of the subject's, which stays the same."""
    words = [word for word in re.split(r"[^A-Za-z0-9]+", subject) if word]
    match format_:
        case Format.AVRO:
            name = re.sub(r"^(?=[0-9])", "_", "_".join(words)) or "value"
            text = json.dumps(render(avro_type(spark, name=name)))
        case Format.PROTOBUF:
            name = re.sub(r"^(?=[0-9])", "_", "".join(word[:1].upper() + word[1:] for word in words))
            text = proto_text(spark, name=name or "Value")
        case Format.JSON:
            text = json_schema(spark, title=subject)
    return RegisteredSchema(schema_id=None, text=text, format=format_)


@functools.lru_cache(maxsize=16)
def _made(location: Location, subject: str, format_: Format, arrow: Any) -> RegisteredSchema:
    return lookup_at(location).register(subject, schema_for(spark_type_of(arrow), subject, format_))


def _schema(plan: EncodePlan, arrow: Any) -> RegisteredSchema:
    return plan.schema or _made(plan.location, plan.subject, plan.format, arrow)


@functools.lru_cache(maxsize=16)
def _encoder(plan: EncodePlan, schema: RegisteredSchema) -> tuple[bytes, Encode]:
    """What stands before each record, and what makes the records."""
    references = referred_by(schema, lookup_at(plan.location))
    if schema.format is Format.AVRO:
        avro = parse_schema(schema.text, references)
        return build_prefix(schema.schema_id or 0), lambda values: encode_avro(values, avro)
    message = message_descriptor(schema.text, references, plan.message)
    file = parse_file(schema.text)
    way = written_way(file, message_names(file)[message.full_name])
    return build_prefix(schema.schema_id or 0, way), lambda values: encode_protobuf(values, message)
