"""``from_registry`` and ``to_registry`` on a real Spark: a few queries, each of several things at once."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from tests.spark.conftest import run_to_end
from tests.spark.registry.stand_in import StandIn

from penstock.model.errors import UsageError
from penstock.spark import Registry, from_registry, to_registry
from penstock.spark.registry.errors import (
    RegistryUnavailableError,
    SchemaNotFoundError,
    SchemaUnsupportedError,
)
from penstock.spark.registry.wire_format import build_prefix

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "int"}, {"name": "product", "type": "string"}],
}
NEWER = {
    **ORDER,
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "product", "type": "string"},
        {"name": "note", "type": ["null", "string"], "default": None},
    ],
}
JSON_ORDER = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "Order",
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "at": {"type": "string", "format": "date-time"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
}
VALUE = SerializationContext("orders", MessageField.VALUE)


def bytes_of(spark: "SparkSession", rows: list[Any], type_: str = "value binary") -> "DataFrame":
    return spark.createDataFrame([(row,) if type_ == "value binary" else row for row in rows], type_)


def rows_of(frame: "DataFrame") -> list[Any]:
    return [row.asDict(recursive=True) for row in frame.collect()]


def test_avro_of_two_schemas_becomes_one_typed_column(spark: "SparkSession", registry: StandIn) -> None:
    with SchemaRegistryClient({"url": registry.url}) as client:
        records = [
            AvroSerializer(client, json.dumps(ORDER))({"id": 1, "product": "a"}, VALUE),
            AvroSerializer(client, json.dumps(NEWER))({"id": 2**40, "product": "b", "note": "x"}, VALUE),
            b"not tagged",
            None,
        ]
    frame = bytes_of(spark, records)
    decoded = frame.select(from_registry("value", url=registry.url, topic="orders").alias("d"))
    assert decoded.schema.simpleString() == (
        "struct<d:struct<value:struct<id:bigint,product:string,note:string>,error:string,schema_id:int>>"
    )
    found = [row["d"] for row in rows_of(decoded)]
    assert [row["value"] for row in found] == [
        {"id": 1, "product": "a", "note": None},
        {"id": 2**40, "product": "b", "note": "x"},
        None,
        None,
    ]
    assert [row["schema_id"] for row in found] == [1, 2, None, None]
    assert [row["error"] and row["error"][:14] for row in found] == [None, None, "magic byte 110", None]
    dead = decoded.where("d.error is not null")
    assert dead.count() == 1


def test_avro_with_a_type_of_sparks_a_header_and_values_alone(
    spark: "SparkSession", registry: StandIn
) -> None:
    with SchemaRegistryClient({"url": registry.url}) as client:
        context = SerializationContext("orders", MessageField.VALUE, headers=[])
        conf = {"schema.id.serializer": header_schema_id_serializer}
        in_header = AvroSerializer(client, json.dumps(ORDER), conf=conf)({"id": 1, "product": "a"}, context)
        in_front = AvroSerializer(client, json.dumps(ORDER))({"id": 2, "product": "b"}, VALUE)
    rows = [
        (in_header, [("other", b"x"), *context.headers]),
        (in_front, None),
        (in_front, [("other", b"x")]),
    ]
    frame = bytes_of(spark, rows, "value binary, headers array<struct<key: string, value: binary>>")
    value = from_registry(
        frame["value"],
        url=Registry(url=registry.url),
        subject="orders-value",
        schema="product string, id double",
        headers="headers",
        errors="null",
    )
    found = rows_of(frame.select(value.alias("v")))
    assert [row["v"] for row in found] == [
        {"product": "a", "id": 1.0},
        {"product": "b", "id": 2.0},
        {"product": "b", "id": 2.0},
    ]


def test_types_are_projected_by_name_at_any_depth(spark: "SparkSession") -> None:
    inner = {
        "type": "record",
        "name": "Inner",
        "fields": [{"name": "n", "type": "int"}, {"name": "m", "type": "string"}],
    }
    schema = {
        "type": "record",
        "name": "Outer",
        "fields": [
            {"name": "inner", "type": ["null", inner]},
            {"name": "list", "type": {"type": "array", "items": "Inner"}},
            {"name": "map", "type": {"type": "map", "values": "float"}},
        ],
    }
    record = build_prefix(1) + b"\0" + b"\2\x0a\2x\0" + b"\2\2k\0\0\x80\x3f\0"
    want = "map map<string, double>, list array<struct<n: long>>, inner struct<m: string>"
    column = from_registry("value", schemas={1: json.dumps(schema)}, schema=want)
    [found] = rows_of(bytes_of(spark, [record]).select(column.alias("d")))
    assert found["d"]["value"] == {"map": {"k": 1.0}, "list": [{"n": 5}], "inner": None}


def test_columns_of_each_format_are_read_back(spark: "SparkSession", registry: StandIn) -> None:
    frame = spark.sql(
        """
        select named_struct(
            'id', id, 'name', if(id = 1, null, concat('n', id)), 'ratio', id / 2, 'flag', id = 0,
            'at', timestamp_micros(id * 1000001), 'raw', cast('x' as binary),
            'items', array(named_struct('n', id), null), 'counts', map('a', id)
        ) as v from range(3)
        union all select null
        """
    )
    plain = frame.selectExpr("v.*", "transform(v.items, i -> i.n) as ns").drop("items")
    for format_, column in (("avro", frame), ("json", frame), ("protobuf", _without_null_items(plain))):
        encoded = column.select(
            to_registry("v", url=registry.url, topic=format_, format=format_, auto_register=True).alias("b")
        ).cache()
        assert encoded.where("b is null").count() == 1
        decoded = encoded.select(from_registry("b", url=registry.url, topic=format_).alias("d"))
        assert decoded.where("d.error is not null").count() == 0
        assert _sorted(rows_of(decoded.select("d.value"))) == _sorted(rows_of(column.select("v")))
        encoded.unpersist()


def _without_null_items(plain: "DataFrame") -> "DataFrame":
    fields = ", ".join(
        f"'{name}', " + ("filter(ns, n -> n is not null)" if name == "ns" else name) for name in plain.columns
    )
    return plain.selectExpr(f"if(id is null, null, named_struct({fields})) as v")


def _sorted(rows: list[Any]) -> list[str]:
    return sorted(repr(next(iter(row.values()))) for row in rows)


def test_json_is_read_and_written_as_the_client_does(spark: "SparkSession", registry: StandIn) -> None:
    text = json.dumps(JSON_ORDER)
    order = {"id": 7, "at": "2026-01-02T03:04:05.123456Z", "tags": ["ä", "b"]}
    with SchemaRegistryClient({"url": registry.url}) as client:
        good = JSONSerializer(text, client)(order, VALUE)
        bad = [b"{", b'{"id": "x"}', b"{} {}", b"", b"[]", b"null"]
        records = [good, *(good[:5] + record for record in bad), b"\7", None]
        frame = bytes_of(spark, records)
        decoded = frame.select(from_registry("value", url=registry.url, topic="orders").alias("d"))
        found = [row["d"] for row in rows_of(decoded)]
        again = decoded.where("d.value.id is not null").select(
            to_registry("d.value", url=registry.url, topic="orders").alias("b")
        )
        [written] = rows_of(again)
        read = JSONDeserializer(text, schema_registry_client=client)(written["b"], VALUE)
    assert read["id"] == 7
    assert read["tags"] == ["ä", "b"]
    assert read["at"].startswith("2026-01-02T")
    assert read["at"][19:26] == ".123456"
    assert found[0]["value"]["tags"] == ["ä", "b"]
    assert [row["value"] for row in found[1:]] == [None] * 8
    assert [row["error"] and row["error"][:15] for row in found] == [
        *(None, *["not JSON of its"] * 5, None, "no magic byte w", None)
    ]
    assert [row["schema_id"] for row in found] == [*[1] * 7, None, None]


def test_json_needs_no_registry_if_the_type_is_given(spark: "SparkSession") -> None:
    frame = bytes_of(spark, [build_prefix(2**31 - 1) + b"[1, 2]"])
    decoded = frame.select(from_registry("value", format="json", schema="array<int>").alias("d"))
    assert rows_of(decoded) == [{"d": {"value": [1, 2], "error": None, "schema_id": 2**31 - 1}}]


@pytest.mark.parametrize("format_", ["avro", "json"])
def test_first_bad_record_fails_the_query_in_mode_failfast(spark: "SparkSession", format_: str) -> None:
    schemas = {1: {"schema": '"string"' if format_ == "avro" else "{}", "schemaType": format_.upper()}}
    frame = bytes_of(spark, [b"\7 bad"])
    column = from_registry("value", schemas=schemas, mode="failfast")
    with pytest.raises(Exception, match="magic byte"):
        frame.select(column.alias("d")).collect()


def test_stream_is_decoded_and_encoded(
    spark: "SparkSession", registry: StandIn, checkpoint: str, tmp_path: Path
) -> None:
    with SchemaRegistryClient({"url": registry.url}) as client:
        client.register_schema("orders-value", Schema(json.dumps(ORDER), "AVRO"))
        record = AvroSerializer(client, json.dumps(ORDER))({"id": 1, "product": "a"}, VALUE)
        bytes_of(spark, [record]).write.parquet(str(tmp_path / "in"))
        stream = spark.readStream.schema("value binary").parquet(str(tmp_path / "in"))
        decoded = stream.select(from_registry("value", url=registry.url, topic="orders").alias("d"))
        encoded = decoded.select(to_registry("d.value", url=registry.url, topic="orders").alias("value"))
        path = str(tmp_path / "out")
        writer = (
            encoded.writeStream.format("parquet")
            .option("checkpointLocation", checkpoint)
            .option("path", path)
        )
        run_to_end(writer)
        [row] = spark.read.parquet(path).collect()
        assert AvroDeserializer(client)(bytes(row["value"]), VALUE) == {"id": 1, "product": "a"}


def test_value_that_does_not_fit_fails_the_query(spark: "SparkSession", registry: StandIn) -> None:
    registry.register("orders-value", {"schema": json.dumps(ORDER)})
    frame = spark.sql("select named_struct('id', 1L << 40, 'product', 'a') as v")
    with pytest.raises(Exception, match="1099511627776"):
        frame.select(to_registry("v", url=registry.url, topic="orders")).collect()


def test_schema_is_registered_or_looked_up_when_the_query_is_written(
    spark: "SparkSession", registry: StandIn
) -> None:
    url = registry.url
    with pytest.raises(SchemaNotFoundError, match="orders-value"):
        to_registry("v", url=url, topic="orders", schema=json.dumps(ORDER))
    to_registry("v", url=url, topic="orders", schema=json.dumps(ORDER), auto_register=True)
    to_registry("v", url=url, topic="orders", schema=json.dumps(ORDER))
    to_registry("k", url=url, topic="orders", schema="id int", auto_register=True, is_key=True, format="json")
    assert list(registry.subjects) == ["orders-value", "orders-key"]


def test_wrong_choices_are_refused_when_the_query_is_written(
    spark: "SparkSession", registry: StandIn
) -> None:
    registry.register("orders-value", {"schema": json.dumps(ORDER)})
    good: dict[str, Any] = {"url": registry.url, "topic": "orders"}
    cases: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        (from_registry, {**good, "mode": "DROPMALFORMED"}, UsageError, "cannot drop rows"),
        (from_registry, {**good, "errors": "ignore"}, UsageError, "errors='ignore'"),
        (from_registry, {**good, "format": "xml"}, UsageError, "no format 'xml'"),
        (from_registry, {**good, "format": "json"}, UsageError, "orders-value is avro in"),
        (from_registry, {**good, "subject": "orders-value"}, UsageError, "not both"),
        (from_registry, {**good, "schemas": {}}, UsageError, "not from both"),
        (from_registry, {"topic": "orders"}, UsageError, "Where are the schemas"),
        (from_registry, {"url": registry.url}, UsageError, "which schema"),
        (from_registry, {**good, "topic": "none"}, SchemaNotFoundError, "none-value"),
        (from_registry, {**good, "schema": "missing int"}, SchemaUnsupportedError, "no missing"),
        (from_registry, {**good, "schema": "product int"}, SchemaUnsupportedError, "product is string"),
        (to_registry, {"url": registry.url}, UsageError, "Under which subject"),
        (to_registry, {**good, "format": "json"}, UsageError, "orders-value is avro in"),
        (
            from_registry,
            {**good, "url": Registry(url="http://127.0.0.1:9", attempts=1)},
            RegistryUnavailableError,
            "is it running",
        ),
    ]
    for function, choices, error, words in cases:
        with pytest.raises(error, match=words):
            function("value", **choices)
