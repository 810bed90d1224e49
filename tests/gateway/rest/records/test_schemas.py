"""Records by schemas of the registry, over REST."""

import json
from typing import Any

import pytest
from tests.conftest import UniqueName
from tests.gateway.rest_client import RestClient

AVRO = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [{"name": "order", "type": "int"}, {"name": "note", "type": ["null", "string"]}],
    }
)
PROTOBUF = 'syntax = "proto3"; message Order { int32 order = 1; string note = 2; }'
JSON = json.dumps({"type": "object", "properties": {"order": {"type": "integer"}}})
ORDER = {"order": 7, "note": "quick"}


def register(rest: RestClient, subject: str, text: str, kind: str = "AVRO") -> int:
    answer = rest.json("POST", f"/subjects/{subject}/versions", {"schema": text, "schemaType": kind})
    return int(answer["id"])


def read(rest: RestClient, topic: str, **query: Any) -> Any:
    return rest.json("GET", f"/topics/{topic}/records", **query)["records"]


@pytest.mark.parametrize(("kind", "text"), [("AVRO", AVRO), ("PROTOBUF", PROTOBUF), ("JSON", JSON)])
def test_records_go_through_schemas_and_back(
    rest: RestClient, unique: UniqueName, kind: str, text: str
) -> None:
    topic = rest.new_topic(unique())
    schema_id = register(rest, f"{topic}-value", text, kind)

    body = {"value_format": "schema", "records": [{"value": ORDER}, {"value": None}]}
    rest.json("POST", f"/topics/{topic}/records", body)

    first, tombstone = read(rest, topic)
    assert (first["value"], first["value_format"], first["value_schema_id"]) == (ORDER, "schema", schema_id)
    assert (tombstone["value"], "value_schema_id" in tombstone) == (None, False)
    raw = read(rest, topic, value_format="binary")[0]["value"]
    assert raw.startswith("AAAA")


def test_schema_is_chosen_by_id_subject_or_version(rest: RestClient, unique: UniqueName) -> None:
    topic, subject = rest.new_topic(unique()), unique("subject")
    schema_id = register(rest, subject, AVRO)

    for choice in ({"id": schema_id}, {"subject": subject}, {"subject": subject, "version": 1}):
        rest.json("POST", f"/topics/{topic}/records", {"value_schema": choice, "value": ORDER})
    rest.json(
        "POST", f"/topics/{topic}/records", {"key_schema": {"id": schema_id}, "key": ORDER, "value": "plain"}
    )

    found = read(rest, topic)
    assert [each.get("value_schema_id") for each in found] == [schema_id] * 3 + [None]
    assert (found[3]["key"], found[3]["key_schema_id"], found[3]["value"]) == (ORDER, schema_id, "plain")


@pytest.mark.parametrize(
    ("more", "status", "complaint"),
    [
        ({"value": {"order": "seven"}}, 422, "does not fit schema"),
        ({"value_schema": {"id": 999_999}}, 404, "999999"),
        ({"value_schema": {"subject": "no-such-subject"}}, 404, "no-such-subject"),
        ({"value_schema": {}}, 422, "chosen by its id"),
        ({"value_schema": {"id": 1, "version": 2}}, 422, "chosen by its id"),
    ],
)
def test_what_does_not_fit_is_refused(
    rest: RestClient, unique: UniqueName, more: dict[str, Any], status: int, complaint: str
) -> None:
    topic, subject = rest.new_topic(unique()), unique("subject")
    register(rest, subject, AVRO)
    body = {"value_schema": {"subject": subject}, "value": ORDER} | more

    found, told = rest.refusal("POST", f"/topics/{topic}/records", body)

    assert found == status
    assert complaint in told["message"]


def test_bytes_that_no_schema_explains_say_why(rest: RestClient, unique: UniqueName) -> None:
    topic = rest.new_topic(unique())
    rest.produce(topic, {"value": "AAAPQj8A", "value_format": "binary"})

    (found,) = read(rest, topic)

    assert (found["value"], found["value_format"], found["value_schema_id"]) == (
        "AAAPQj8A",
        "binary",
        999_999,
    )
    assert found["value_problem"]


def test_filter_looks_into_decoded_records(rest: RestClient, unique: UniqueName) -> None:
    topic = rest.new_topic(unique())
    register(rest, f"{topic}-value", AVRO)
    body = {"value_format": "schema", "records": [{"value": {"order": n, "note": None}} for n in range(5)]}
    rest.json("POST", f"/topics/{topic}/records", body)

    with rest.events(f"/topics/{topic}/stream", begin_at="earliest", filter="$.order > 3") as events:
        event = next(each for each in events if each.get("event") == "record")

    assert json.loads(event["data"])["value"] == {"order": 4, "note": None}
