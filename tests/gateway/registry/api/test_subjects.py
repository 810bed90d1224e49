"""``/subjects`` over a real socket, on a real broker."""

from typing import Any
from urllib.parse import quote

import pytest
from tests.conftest import UniqueName
from tests.gateway.registry.conftest import Asker, Told, as_text, optional, record

FIRST = record("Order", "id")
SECOND = record("Order", "id", optional("note"))
UNREADABLE = record("Order", "id", "price")


def test_first_schema_gets_version_1_and_an_id(ask: Asker, unique: UniqueName) -> None:
    subject = unique("s")
    told = ask.register(subject, record(unique("R").replace("-", "_"), "id"))
    assert told.status == 200
    assert told.body["version"] == 1
    assert ask("GET", f"/schemas/ids/{told.body['id']}/versions").body == [{"subject": subject, "version": 1}]


def test_same_schema_keeps_its_version_and_its_id_under_every_subject(ask: Asker, unique: UniqueName) -> None:
    first, second = unique("s"), unique("s")
    one = ask.register(first, FIRST).body
    again = ask.register(first, '{"name":"Order", "type":"record","fields":[{"type":"string","name":"id"}]}')
    assert (again.body["id"], again.body["version"]) == (one["id"], 1)
    assert ask.register(second, FIRST).body["id"] == one["id"]
    assert {first, second} <= set(ask("GET", f"/schemas/ids/{one['id']}/subjects").body)


def test_incompatible_schema_is_refused_with_the_field_named(ask: Asker, unique: UniqueName) -> None:
    subject = unique("s")
    ask.register(subject, FIRST)
    told = ask.register(subject, UNREADABLE)
    assert (told.status, told.code) == (409, 409)
    assert "price" in told.body["message"]
    assert "oldSchemaVersion: 1" in told.body["message"]
    assert ask("GET", f"/subjects/{subject}/versions").body == [1]


def test_versions_are_told_by_number_and_as_latest(ask: Asker, unique: UniqueName) -> None:
    subject = unique("s")
    for schema in (FIRST, SECOND):
        ask.register(subject, schema)
    assert ask("GET", f"/subjects/{subject}/versions").body == [1, 2]
    latest = ask("GET", f"/subjects/{subject}/versions/latest").body
    assert latest == ask("GET", f"/subjects/{subject}/versions/-1").body
    assert latest == ask("GET", f"/subjects/{subject}/versions/2").body
    assert latest | {"subject": subject, "version": 2, "schemaType": "AVRO"} == latest
    assert ask("GET", f"/subjects/{subject}/versions/2/schema").body == SECOND
    assert ask("GET", f"/subjects/{subject}/versions?offset=1&limit=1").body == [2]


def test_lookup_finds_the_version_of_a_schema(ask: Asker, unique: UniqueName) -> None:
    subject = unique("s")
    for schema in (FIRST, SECOND):
        ask.register(subject, schema)
    assert ask("POST", f"/subjects/{subject}", {"schema": as_text(FIRST)}).body["version"] == 1
    assert ask("POST", f"/subjects/{subject}", {"schema": '"long"'}).code == 40403
    assert ask("POST", f"/subjects/{unique('s')}", {"schema": '"long"'}).code == 40401


def test_normalized_lookup_minds_no_order(ask: Asker, unique: UniqueName) -> None:
    subject = unique("s")
    first = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "number"}}}
    other = {"properties": {"b": {"type": "number"}, "a": {"type": "string"}}, "type": "object"}
    registered = ask.register(subject, first, schemaType="JSON").body
    body = {"schema": as_text(other), "schemaType": "JSON"}
    assert ask("POST", f"/subjects/{subject}?normalize=true", body).body["id"] == registered["id"]


@pytest.mark.parametrize(
    "ending", ["line é+.proto", "b c?#%", "versions", "versions/1", "versions/1/schema", "%41"]
)
def test_names_with_slashes_and_signs_are_names(ask: Asker, unique: UniqueName, ending: str) -> None:
    subject = f"{unique('shop')}/{ending}"
    quoted = quote(subject, safe="")
    assert ask.register(quoted, FIRST).status == 200
    assert ask("GET", f"/subjects/{quoted}/versions").body == [1]
    assert ask("GET", f"/subjects/{quoted}/versions/1").body["subject"] == subject
    assert ask("POST", f"/subjects/{quoted}", {"schema": as_text(FIRST)}).body["version"] == 1
    assert ask("PUT", f"/config/{quoted}", {"compatibility": "NONE"}).status == 200
    assert ask("GET", f"/config/{quoted}").body["compatibilityLevel"] == "NONE"
    checked = ask("POST", f"/compatibility/subjects/{quoted}/versions/1", {"schema": as_text(SECOND)})
    assert checked.body["is_compatible"] is True
    assert subject in ask("GET", "/subjects?subjectPrefix=shop-").body
    assert ask("DELETE", f"/subjects/{quoted}").body == [1]


def test_slashes_of_names_may_come_as_they_are(ask: Asker, unique: UniqueName) -> None:
    subject = unique("shop/line.proto")
    assert ask.register(subject, FIRST).status == 200
    assert ask("GET", f"/subjects/{subject}/versions/1").body["subject"] == subject
    assert ask("GET", f"/subjects/{quote(subject, safe='')}/versions/latest").body["version"] == 1


def test_soft_delete_hides_and_permanent_delete_forgets(ask: Asker, unique: UniqueName) -> None:
    subject = unique("s")
    ids = [ask.register(subject, schema).body["id"] for schema in (FIRST, SECOND)]
    assert ask("DELETE", f"/subjects/{subject}?permanent=true").code == 40405
    assert ask("DELETE", f"/subjects/{subject}").body == [1, 2]
    assert ask("DELETE", f"/subjects/{subject}").code == 40404
    assert subject not in ask("GET", "/subjects").body
    assert subject in ask("GET", "/subjects?deleted=true").body
    assert subject in ask("GET", "/subjects?deletedOnly=true").body
    assert ask("GET", f"/subjects/{subject}/versions/1").code == 40401
    assert ask("GET", f"/subjects/{subject}/versions/1?deleted=true").body["deleted"] is True
    assert ask("GET", f"/schemas/ids/{ids[0]}").body["schema"] == as_text(FIRST).replace(" ", "")
    assert ask("DELETE", f"/subjects/{subject}?permanent=true").body == [1, 2]
    assert ask("GET", f"/subjects/{subject}/versions?deleted=true").code == 40401


def test_one_version_is_deleted_softly_and_then_for_good(ask: Asker, unique: UniqueName) -> None:
    subject = unique("s")
    for schema in (FIRST, SECOND):
        ask.register(subject, schema)
    assert ask("DELETE", f"/subjects/{subject}/versions/1?permanent=true").code == 40407
    assert ask("DELETE", f"/subjects/{subject}/versions/1").body == 1
    assert ask("DELETE", f"/subjects/{subject}/versions/1").code == 40406
    assert ask("GET", f"/subjects/{subject}/versions").body == [2]
    assert ask("GET", f"/subjects/{subject}/versions?deleted=true").body == [1, 2]
    assert ask("GET", f"/subjects/{subject}/versions?deletedOnly=true").body == [1]
    assert ask("DELETE", f"/subjects/{subject}/versions/1?permanent=true").body == 1
    assert ask("DELETE", f"/subjects/{subject}/versions/latest").body == 2
    assert ask("DELETE", f"/subjects/{subject}/versions/latest").code == 40402


def test_deleted_schema_comes_back_as_a_new_version_with_its_id(ask: Asker, unique: UniqueName) -> None:
    subject = unique("s")
    first = ask.register(subject, FIRST).body
    ask("DELETE", f"/subjects/{subject}")
    again = ask.register(subject, FIRST).body
    assert (again["id"], again["version"]) == (first["id"], 2)
    assert ask("GET", f"/subjects/{subject}/versions?deleted=true").body == [2]


def test_id_of_a_schema_deleted_for_good_is_not_given_again(ask: Asker, unique: UniqueName) -> None:
    context, name = f":.{unique('c')}:", unique("s")
    first = ask.register(context + name, FIRST).body["id"]
    for query in ("", "?permanent=true"):
        assert ask("DELETE", f"/subjects/{context}{name}{query}").status == 200
    assert ask.register(context + name, UNREADABLE).body["id"] == first + 1


def test_referenced_version_cannot_be_deleted(ask: Asker, unique: UniqueName) -> None:
    line, order = unique("line"), unique("order")
    ask.register(line, record("Line", "sku"))
    schema = record("Order", {"name": "lines", "type": {"type": "array", "items": "Line"}})
    references = [{"name": "Line", "subject": line, "version": 1}]
    registered = ask.register(order, schema, references=references)
    assert registered.status == 200
    assert ask("GET", f"/subjects/{line}/versions/1/referencedby").body == [registered.body["id"]]
    told = ask("DELETE", f"/subjects/{line}/versions/1")
    assert (told.code, order in told.body["message"]) == (42206, True)
    assert ask("DELETE", f"/subjects/{line}").code == 42206
    assert ask("GET", f"/subjects/{order}/versions/1").body["references"] == references
    assert ask("DELETE", f"/subjects/{order}").body == [1]
    assert ask("DELETE", f"/subjects/{line}").body == [1]


def test_reference_to_the_latest_version_is_pinned(ask: Asker, unique: UniqueName) -> None:
    line, order = unique("line"), unique("order")
    ask.register(line, record("Line", "sku"))
    schema = record("Order", {"name": "line", "type": "Line"})
    ask.register(order, schema, references=[{"name": "Line", "subject": line, "version": -1}])
    (reference,) = ask("GET", f"/subjects/{order}/versions/1").body["references"]
    assert reference["version"] == 1


@pytest.mark.parametrize(
    ("method", "path", "body", "code"),
    [
        ("GET", "/subjects/no-such/versions", None, 40401),
        ("GET", "/subjects/no-such/versions/1", None, 40401),
        ("GET", "/subjects/no-such/versions/0", None, 42202),
        ("GET", "/subjects/no-such/versions/two", None, 42202),
        ("GET", "/subjects/no-such/versions/2147483648", None, 42202),
        ("DELETE", "/subjects/no-such", None, 40401),
        ("DELETE", "/subjects/no-such/versions/1", None, 40401),
        ("POST", "/subjects/bad/versions", {"schema": "{"}, 42201),
        ("POST", "/subjects/bad/versions", {"schema": ""}, 42201),
        ("POST", "/subjects/bad/versions", {"schema": "{}", "schemaType": "XSD"}, 42201),
        ("POST", "/subjects/bad/versions", {"schema": '"\ud800"', "schemaType": "JSON"}, 42201),
        ("POST", "/subjects/__GLOBAL/versions", {"schema": '"int"'}, 42208),
        ("POST", "/subjects/a%07b/versions", {"schema": '"int"'}, 42208),
        ("POST", "/subjects/bad/versions", {"schema": '"int"', "ruleSet": {"domainRules": [{}]}}, 42210),
        (
            "POST",
            "/subjects/bad/versions",
            {"schema": '"Line"', "references": [{"name": "Line", "subject": "no-such", "version": 1}]},
            42201,
        ),
        ("POST", "/subjects/bad/versions", {"schema": '"int"', "id": 5}, 42205),
        ("POST", "/subjects/bad/versions", {"schema": '"int"', "id": 2**31}, 422),
        ("POST", "/subjects/bad/versions", {"schema": '"int"', "version": 2**31}, 422),
        *(
            ("POST", "/subjects/bad/versions", {"schema": '"int"', "metadata": metadata}, 42201)
            for metadata in (
                {"properties": ["a"]},
                {"properties": {"a": {"b": "c"}}},
                {"properties": {"a": float("nan")}},
                {"properties": {"a": "\ud800"}},
                {"tags": {"a": "b"}},
                {"tags": ["a"]},
                {"sensitive": [1, "a"]},
            )
        ),
        *(
            ("POST", "/subjects/bad/versions", {"schema": '"int"', "ruleSet": rules}, 42210)
            for rules in (
                {"domainRules": 5},
                {"domainRules": [5]},
                {"domainRules": [{"name": ["a"], "type": "CEL"}]},
                {"domainRules": [{"name": "a", "type": "CEL", "tags": 5}]},
                {"domainRules": [{"name": "a", "type": "CEL", "params": ["b"]}]},
                {"domainRules": [{"name": "a", "type": "b"}], "encodingRules": [{"name": "a", "type": "b"}]},
            )
        ),
    ],
)
def test_mistakes_have_their_codes(ask: Asker, method: str, path: str, body: Any, code: int) -> None:
    told: Told = ask(method, path, body)
    assert told.code == code
    assert told.status == int(str(code)[:3])
    assert told.body["message"]


def test_metadata_and_rules_are_kept_and_inherited(ask: Asker, unique: UniqueName) -> None:
    subject = unique("s")
    metadata = {"properties": {"owner": "shop"}, "tags": {"Order.id": ["PII"]}}
    rules = {
        "domainRules": [{"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "true"}]
    }
    ask.register(subject, FIRST, metadata=metadata, ruleSet=rules)
    ask.register(subject, SECOND)
    for version in (1, 2):
        body = ask("GET", f"/subjects/{subject}/versions/{version}").body
        assert (body["metadata"], body["ruleSet"]) == (metadata, rules)
    ask.register(subject, SECOND, metadata={"properties": {"owner": "others"}})
    found = ask("GET", f"/subjects/{subject}/metadata?key=owner&value=shop").body
    assert found["version"] == 2
    assert ask("GET", f"/subjects/{subject}/metadata?key=owner&value=nobody").code == 40403
