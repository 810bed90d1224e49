"""Trees of Avro types back into schemas, and those that have no Spark type."""

import json
from typing import Any

import pytest

from penstock.spark.registry.avro.parsing import parse_schema
from penstock.spark.registry.avro.rendering import render
from penstock.spark.registry.errors import SchemaUnsupportedError


def record(*fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": list(fields), **more}


def test_record_within_itself_has_no_spark_type() -> None:
    with pytest.raises(SchemaUnsupportedError, match="'R' contains itself"):
        parse_schema(json.dumps(record({"name": "next", "type": ["null", "R"]})))


def test_rendering_gives_the_schema_back() -> None:
    schema = record(
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {
            "name": "at",
            "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}],
            "default": None,
        },
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A"], "default": "A"}},
        {"name": "more", "type": {"type": "array", "items": "Kind"}, "aliases": ["others"]},
        {"name": "id", "type": {"type": "fixed", "name": "Id", "size": 4, "aliases": ["Key"]}},
        {"name": "tags", "type": {"type": "map", "values": "string"}},
    )
    assert render(parse_schema(json.dumps(schema))) == schema
