"""The schema that records are read as, whatever schemas wrote them; small and picklable, for tasks."""

from dataclasses import dataclass

from pyspark.sql import types as t

from penstock.spark.registry.avro.parsing import parse_schema
from penstock.spark.registry.avro.spark_types import spark_type as avro_spark_type
from penstock.spark.registry.json_schema.spark_types import spark_type as json_spark_type
from penstock.spark.registry.lookup import SchemaLookup, referred_by
from penstock.spark.registry.protobuf.messages import message_descriptor
from penstock.spark.registry.protobuf.spark_types import spark_type as protobuf_spark_type
from penstock.spark.registry.registered import Format, RegisteredSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderSchema:
    """A schema with the texts of all that it refers to; ``message`` is the one meant of a Protobuf file."""

    format: Format
    text: str
    references: tuple[tuple[str, str], ...] = ()
    message: str | None = None


def reader_schema(
    schema: RegisteredSchema, lookup: SchemaLookup | None, message: str | None = None
) -> ReaderSchema:
    """A registered schema as that of a reader."""
    references = {} if lookup is None else referred_by(schema, lookup)
    return ReaderSchema(
        format=schema.format, text=schema.text, references=tuple(references.items()), message=message
    )


def spark_type(reader: ReaderSchema) -> t.DataType:
    """The type of the column that records become."""
    references = dict(reader.references)
    match reader.format:
        case Format.AVRO:
            return avro_spark_type(parse_schema(reader.text, references))
        case Format.PROTOBUF:
            return protobuf_spark_type(message_descriptor(reader.text, references, reader.message))
        case Format.JSON:
            return json_spark_type(reader.text, references)
