"""Schemas in Spark's words."""

import pytest

from penstock.spark.pipelines.ddl import column_names, column_types, schema_mistake


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("user string", ("user",)),
        ("a int, b: bigint NOT NULL, `c d` decimal(10, 2) COMMENT 'x, y'", ("a", "b", "c d")),
        ("a array<struct<x: int, y: map<string, array<double>>>>, b timestamp_ntz", ("a", "b")),
        ("a STRING,\n  b VARCHAR(10)", ("a", "b")),
    ],
)
def test_column_names_are_those_of_the_schema(text: str, names: tuple[str, ...]) -> None:
    assert schema_mistake(text) is None
    assert column_names(text) == names


def test_column_types_are_whole_and_without_what_else_is_said() -> None:
    text = "a int, b:bigint NOT NULL, `c d` decimal(10, 2) COMMENT 'x, y', e map<string, array<int>>"

    types = column_types(text)

    assert types == {"a": "int", "b": "bigint", "c d": "decimal(10, 2)", "e": "map<string, array<int>>"}


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("a int, b strng", 9, "'strng' is no type"),
        ("a int b int", 6, "a ',' after the type of 'a'"),
        ("a", 1, "ends where the type of 'a'"),
        ("a int,", 6, "ends where a column's name"),
        ("a array<int", 11, "a '>' after the types of 'array'"),
        ("a map<int>", 9, "a ',' after the type of the map's keys"),
        ("a array", 7, "a '<' after 'array'"),
        ("a decimal(10", 12, "a ')'"),
        (", a int", 0, "a column's name in place of ','"),
        ("a struct<x int, y nt>", 18, "'nt' is no type"),
    ],
)
def test_schema_mistake_is_found_where_it_is(text: str, offset: int, message: str) -> None:
    mistake = schema_mistake(text)

    assert mistake is not None
    assert message in mistake.message
    assert mistake.offset == offset
