"""What is called compatible is read by another implementation, and what it cannot read is not."""

import io
import json
from typing import Any

import fastavro
from fastavro.schema import SchemaParseException
from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.schemas.avro.schema_pairs import pairs, schemas, values

from penstock.schemas import Direction, SchemaKind, check, parse


def is_compatible(writer: Any, reader: Any) -> bool:
    old, new = parse(SchemaKind.AVRO, json.dumps(writer)), parse(SchemaKind.AVRO, json.dumps(reader))
    return not check(SchemaKind.AVRO, new=new, old=old, direction=Direction.BACKWARD)


def is_read(writer: Any, reader: Any, value: Any) -> bool:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(writer), value)
    stream.seek(0)
    try:
        fastavro.schemaless_reader(stream, fastavro.parse_schema(writer), fastavro.parse_schema(reader))
    except (fastavro.read.SchemaResolutionError, SchemaParseException, UnicodeDecodeError):
        return False
    return True


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_compatible_schema_reads_every_value(data: st.DataObject) -> None:
    writer, reader = data.draw(pairs())
    compatible = is_compatible(writer, reader)
    written = [data.draw(values(writer)) for _ in range(3)]
    read = [is_read(writer, reader, value) for value in written]
    event(f"compatible: {compatible}, read: {all(read)}")
    assert all(read) or not compatible


@settings(max_examples=100, deadline=None)
@given(schemas())
def test_schema_of_the_other_implementation_is_taken(schema: Any) -> None:
    """And its canonical text means the same to that implementation."""
    parsed = parse(SchemaKind.AVRO, json.dumps(schema))
    again = json.loads(parsed.text)
    assert fastavro.schema.to_parsing_canonical_form(again) == fastavro.schema.to_parsing_canonical_form(
        schema
    )
    assert parse(SchemaKind.AVRO, parsed.text).text == parsed.text
