import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import UniqueName

import penstock
from penstock.model.errors import UsageError
from penstock.spark import topic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def produce(bootstrap: str, name: str, records: list[tuple[bytes | None, Any]]) -> None:
    with penstock.Producer(bootstrap_servers=bootstrap) as producer:
        for key, value in records:
            body = value if isinstance(value, bytes | None) else json.dumps(value).encode()
            producer.send(name, body, key=key)


def test_fields_of_json_become_columns(spark: "SparkSession", bootstrap: str, unique: UniqueName) -> None:
    name = unique("orders")
    orders = [(b"anna", {"id": 1, "price": 2.5, "to": {"city": "Rome"}}), (None, {"id": 2, "note": "late"})]
    produce(bootstrap, name, orders)

    table = topic(spark, name, bootstrap_servers=bootstrap)

    columns = ["key", "id", "note", "price", "to", "value", "partition", "offset", "timestamp"]
    assert table.columns == columns
    first, second = sorted(table.collect(), key=lambda row: row["id"])
    assert (first["key"], first["id"], first["price"], first["to"]["city"]) == ("anna", 1, 2.5, "Rome")
    assert (second["key"], second["note"], second["price"], second["value"]) == (None, "late", None, None)
    assert table.where("to.city = 'Rome'").count() == 1


def test_value_that_does_not_fit_stays_in_value(
    spark: "SparkSession", bootstrap: str, unique: UniqueName
) -> None:
    name = unique()
    odd = [b"plain", b"[1, 2]", b'{"id": ', b"17", None]
    produce(bootstrap, name, [(b"k", {"id": 1}), *((b"k", each) for each in odd)])

    rows = topic(spark, name, bootstrap_servers=bootstrap).collect()

    assert sorted((row["value"] or "", row["id"] or 0) for row in rows) == sorted(
        [("", 1), ("", 0), ("plain", 0), ("[1, 2]", 0), ('{"id": ', 0), ("17", 0)]
    )


def test_record_of_another_type_than_the_sampled_loses_nothing(
    spark: "SparkSession", bootstrap: str, unique: UniqueName
) -> None:
    name = unique()
    produce(bootstrap, name, [(b"k", {"id": 1, "n": 1}), (b"k", {"id": "x", "n": 2})])

    table = topic(spark, name, bootstrap_servers=bootstrap, sample=1, endingOffsets="latest")

    rows = table.orderBy("offset").collect()
    assert [(row["id"], row["n"]) for row in rows] == [(1, 1), (None, 2)]
    assert [row["value"] for row in rows] == [None, '{"id": "x", "n": 2}']


def test_record_with_fields_that_the_sample_has_not_loses_nothing(
    spark: "SparkSession", bootstrap: str, unique: UniqueName
) -> None:
    name = unique()
    produce(bootstrap, name, [(b"k", {"id": 1, "old": True}), (b"k", {"id": 2}), (b"k", b"{}")])

    table = topic(spark, name, bootstrap_servers=bootstrap, sample=2)

    rows = table.orderBy("offset").collect()
    assert table.columns[1:3] == ["id", "value"]
    assert [(row["id"], row["value"]) for row in rows] == [
        (1, '{"id": 1, "old": true}'),
        (2, None),
        (None, None),
    ]


def test_field_with_the_name_of_a_column_of_ours_keeps_it(
    spark: "SparkSession", bootstrap: str, unique: UniqueName
) -> None:
    name = unique()
    produce(bootstrap, name, [(b"k", {"Timestamp": "noon", "key": 7, "_key": 8})])

    table = topic(spark, name, bootstrap_servers=bootstrap)

    (row,) = table.collect()
    assert (row["Timestamp"], row["key"], row["_key"], row["__key"]) == ("noon", 7, 8, "k")
    assert row["_timestamp"].year >= 2024


def test_fields_that_spark_could_not_tell_apart_get_names_of_their_own(
    spark: "SparkSession", bootstrap: str, unique: UniqueName
) -> None:
    name = unique()
    produce(bootstrap, name, [(b"k", b'{"a": 1, "A": 2, "b.c": 3, "d`e": 4}')])

    table = topic(spark, name, bootstrap_servers=bootstrap)

    (row,) = table.collect()
    fields = {column: row[column] for column in table.columns[1:5]}
    assert fields == {"A": 2, "a_2": 1, "b.c": 3, "d`e": 4}


def test_what_is_no_text_stays_binary(spark: "SparkSession", bootstrap: str, unique: UniqueName) -> None:
    name = unique()
    produce(bootstrap, name, [(b"\xff\x00", b"\x00\x01\xfe"), (b"k", b"text")])

    table = topic(spark, name, bootstrap_servers=bootstrap)

    assert table.columns == ["key", "value", "partition", "offset", "timestamp"]
    assert {bytes(row["value"]) for row in table.collect()} == {b"\x00\x01\xfe", b"text"}
    assert {bytes(row["key"]) for row in table.collect()} == {b"\xff\x00", b"k"}


def test_options_of_the_source_are_passed_on(
    spark: "SparkSession", bootstrap: str, unique: UniqueName, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = unique()
    produce(bootstrap, name, [(b"k", {"id": number}) for number in range(10)])
    monkeypatch.setenv("PENSTOCK_BOOTSTRAP_SERVER", bootstrap)

    table = topic(spark, name, startingOffsets="-3 records", includeHeaders=True)

    assert sorted(row["id"] for row in table.collect()) == [7, 8, 9]
    assert "headers" in table.columns


def test_sample_must_hold_something(spark: "SparkSession") -> None:
    with pytest.raises(UsageError, match="sample is 0"):
        topic(spark, "any", sample=0)
