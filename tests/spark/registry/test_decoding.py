"""A column of records of any schemas: what does not decode has a reason; an absent registry is none."""

import json
from typing import Any

import pyarrow as pa
import pytest
from tests.spark.registry.stand_in import StandIn

from penstock.spark.registry.address import Registry
from penstock.spark.registry.decoding import DecodePlan, RecordDecoder, decoder_of
from penstock.spark.registry.errors import RegistryUnavailableError, UnreadableRecordError
from penstock.spark.registry.lookup import lookup_at
from penstock.spark.registry.reader_schemas import ReaderSchema
from penstock.spark.registry.registered import Format
from penstock.spark.registry.schema_files import read_schemas
from penstock.spark.registry.wire_format import build_prefix

SCHEMAS = {
    1: '{"type": "record", "name": "R", "fields": [{"name": "x", "type": "int"}]}',
    2: {"schema": "{}", "schemaType": "JSON"},
    3: "no schema",
    4: '{"type": "record", "name": "Q", "fields": []}',
    2**31: '{"type": "record", "name": "R", "fields": [{"name": "x", "type": "int"}]}',
}
READER = ReaderSchema(format=Format.AVRO, text=json.dumps(json.loads(str(SCHEMAS[1]))))


def plan(**more: Any) -> DecodePlan:
    return DecodePlan(location=read_schemas(SCHEMAS), reader=READER, **more)


def test_each_record_has_a_value_or_a_reason() -> None:
    records = [
        build_prefix(1) + b"\x0a",
        b"{}",
        None,
        build_prefix(9) + b"\x0a",
        build_prefix(2) + b"{}",
        build_prefix(3) + b"\x0a",
        build_prefix(1) + b"\x0a\x0a",
        build_prefix(1) + b"\x0c",
        build_prefix(4),
        build_prefix(2**31) + b"\x0e",
    ]
    found = decoder_of(plan()).decode(pa.array(records, pa.binary()))
    found.validate(full=True)
    rows = [(row["value"] and row["value"]["x"], row["schema_id"]) for row in found.to_pylist()]
    assert rows == [
        *((5, 1), (None, None), (None, None), (None, 9), (None, 2)),
        *((None, 3), (None, 1), (6, 1), (None, 4), (7, None)),
    ]
    reasons = [row["error"] for row in found.to_pylist()]
    assert [reason and reason[:40] for reason in reasons] == [
        *(None, "magic byte 123 is neither 0 nor 1: not w", None),
        "schema id 9: the given schemas: no schem",
        "schema id 2: written as json, and read a",
        "schema id 3: This is not the JSON of an ",
        "schema id 1: ValueError: 1 bytes are lef",
        None,
        "schema id 4: SchemaResolutionError: Sche",
        None,
    ]


def test_first_bad_record_fails_the_query_if_so_asked() -> None:
    decoder = decoder_of(plan(fail_fast=True))
    assert decoder.decode(pa.array([build_prefix(1) + b"\x0a", None])).field("value").null_count == 1
    with pytest.raises(
        UnreadableRecordError, match=r"2 of the batch's records .* the first: schema id 1: EOF"
    ):
        decoder.decode(pa.array([build_prefix(1), b"x"]))


def test_no_rows_give_no_rows() -> None:
    assert len(decoder_of(plan()).decode(pa.array([], pa.binary()))) == 0


def test_registry_that_is_away_is_nobodys_bad_record(registry: StandIn) -> None:
    registry.failures_left = 99
    location = Registry(url=registry.url, attempts=1)
    decoder = RecordDecoder(DecodePlan(location=location, reader=READER), lookup_at(location))
    with pytest.raises(RegistryUnavailableError, match="503"):
        decoder.decode(pa.array([build_prefix(1) + b"\x0a"]))


def test_schema_is_asked_for_once_for_many_batches(registry: StandIn) -> None:
    registry.register("orders-value", {"schema": SCHEMAS[1]})
    decoder = decoder_of(DecodePlan(location=Registry(url=registry.url), reader=READER))
    for _ in range(3):
        assert decoder.decode(pa.array([build_prefix(1) + b"\x0a"])).field("error").null_count == 1
    assert registry.requests == ["GET /schemas/ids/1"]
