"""Records of ``_schemas``: the bytes that Confluent's registry writes, and back."""

import base64
import hashlib
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.gateway.registry.topic.records import (
    TopicRecord,
    UnreadableRecordError,
    config_record,
    context_record,
    delete_subject_record,
    mode_record,
    read_record,
    schema_record,
    schema_tombstone,
    stored_schema,
)
from penstock.gateway.registry.values.stored_schema import StoredSchema, guid_of
from penstock.schemas import Reference

ORDER = StoredSchema(
    subject="orders-value",
    version=2,
    schema_id=7,
    kind="JSON",
    text='{"type":"object"}',
    references=(Reference(name="line", subject="lines", version=1),),
    metadata={"properties": {"owner": "shop"}},
    rule_set={"domainRules": []},
    guid=guid_of("x"),
)


def test_keys_are_those_of_confluents_registry_byte_by_byte() -> None:
    keys = [
        (schema_record(ORDER), b'{"keytype":"SCHEMA","subject":"orders-value","version":2,"magic":1}'),
        (schema_tombstone(ORDER), b'{"keytype":"SCHEMA","subject":"orders-value","version":2,"magic":1}'),
        (config_record(None, {}), b'{"keytype":"CONFIG","magic":0}'),
        (config_record("s", {}), b'{"keytype":"CONFIG","subject":"s","magic":0}'),
        (mode_record("s", "IMPORT"), b'{"keytype":"MODE","subject":"s","magic":0}'),
        (delete_subject_record("s", 3), b'{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}'),
        (context_record(".c"), b'{"keytype":"CONTEXT","tenant":"default","context":".c","magic":0}'),
    ]
    for record, key in keys:
        assert record.encoded_key() == key


def test_avro_is_not_named_in_a_value_and_empty_parts_are_left_out() -> None:
    plain = StoredSchema(
        subject="s", version=1, schema_id=1, kind="AVRO", text='"int"', guid=guid_of('"int"')
    )
    md5 = base64.b64encode(hashlib.md5(b'"int"', usedforsecurity=False).digest())
    assert schema_record(plain).encoded_value() == (
        b'{"subject":"s","version":1,"id":1,"md5":"%s","schema":"\\"int\\"","deleted":false}' % md5
    )


def test_version_comes_back_as_it_was_written() -> None:
    record = schema_record(ORDER)
    again = read_record(record.encoded_key(), record.encoded_value(), timestamp_ms=5)
    assert stored_schema(again) == ORDER
    assert stored_schema(again).timestamp_ms == 5


def test_value_of_an_older_registry_without_md5_has_the_same_guid() -> None:
    value = b'{"subject":"s","version":1,"id":1,"schema":"\\"int\\"","deleted":false}'
    key = b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":0}'
    schema = stored_schema(read_record(key, value))
    assert schema.guid == str(uuid.UUID(bytes=hashlib.md5(b'"int"', usedforsecurity=False).digest()))
    assert schema.kind == "AVRO"


@given(st.binary(max_size=60), st.none() | st.binary(max_size=60))
def test_bytes_that_are_no_record_are_told_apart(key: bytes, value: bytes | None) -> None:
    with pytest.raises(UnreadableRecordError):
        read_record(key, value)


@given(
    st.dictionaries(
        st.sampled_from(["subject", "version", "id", "schema", "references", "md5", "deleted"]),
        st.none() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=2),
    )
)
def test_values_that_are_no_schema_are_told_apart(value: dict[str, object]) -> None:
    try:
        stored_schema(TopicRecord(key={"keytype": "SCHEMA"}, value=value))
    except UnreadableRecordError:
        return
    assert {"subject", "version", "id", "schema"} <= value.keys()
