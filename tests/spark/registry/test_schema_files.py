"""Schemas in a directory or a dictionary instead of a server."""

import json
from pathlib import Path

import pytest

from penstock.model.errors import UsageError
from penstock.spark.registry.errors import SchemaNotFoundError, SchemaRefusedError
from penstock.spark.registry.lookup import lookup_at
from penstock.spark.registry.registered import Format, RegisteredSchema
from penstock.spark.registry.schema_files import FileRegistry, read_schemas


def test_directory_has_a_file_for_each_id(tmp_path: Path) -> None:
    (tmp_path / "1.avsc").write_text('"string"')
    (tmp_path / "2.proto").write_text('syntax = "proto3";')
    (tmp_path / "3.schema.json").write_text('{"type": "object"}')
    answer = {"schema": '"long"', "subject": "orders-value", "version": 4, "guid": "a-guid"}
    (tmp_path / "10.json").write_text(json.dumps(answer))
    (tmp_path / "README.md").write_text("not a schema")
    files = FileRegistry(read_schemas(tmp_path))
    assert [files.by_id(number).format for number in (1, 2, 3, 10)] == [
        *(Format.AVRO, Format.PROTOBUF, Format.JSON, Format.AVRO)
    ]
    assert files.by_guid("a-guid").schema_id == 10
    assert files.version("orders-value", 4).text == '"long"'
    assert files.latest("orders-value").schema_id == 10


def test_dictionary_has_texts_or_answers() -> None:
    files = lookup_at(
        read_schemas({1: '"string"', 2: {"schema": "{}", "schemaType": "JSON", "subject": "a"}})
    )
    assert files.by_id(1).text == '"string"'
    assert files.latest("a").format is Format.JSON
    assert files.latest(None).schema_id == 2


def test_latest_of_a_subject_is_its_highest_version() -> None:
    files = FileRegistry(
        read_schemas(
            {
                1: {"schema": "new", "subject": "a", "version": 2},
                2: {"schema": "old", "subject": "a", "version": 1},
            }
        )
    )
    assert files.latest("a").text == "new"


def test_text_is_looked_up_however_it_is_laid_out() -> None:
    files = FileRegistry(read_schemas({5: {"schema": '{"type":"string"}', "subject": "a"}}))
    assert files.look_up("a", RegisteredSchema(schema_id=None, text='{ "type": "string" }')).schema_id == 5


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    files = FileRegistry(read_schemas(tmp_path))
    with pytest.raises(SchemaNotFoundError, match="no schema of id 3"):
        files.by_id(3)
    with pytest.raises(SchemaNotFoundError, match="subject 'x'"):
        files.latest("x")
    with pytest.raises(SchemaRefusedError, match="give url="):
        files.register("x", RegisteredSchema(schema_id=None, text=""))


def test_what_is_no_schema_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Schema 1 is a int"):
        read_schemas({1: 5})
    with pytest.raises(UsageError, match="no directory"):
        read_schemas(tmp_path / "missing")
