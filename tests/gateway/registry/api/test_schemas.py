"""``/schemas``, ``/contexts`` and metadata of the registry over a real socket."""

from tests.conftest import UniqueName
from tests.gateway.registry.conftest import MEDIA_TYPE, Asker, as_text, optional, record

FIRST = record("Order", "id")
SECOND = record("Order", "id", optional("note"))
PROTO = 'syntax = "proto3";\npackage shop;\n\nmessage Order {\n  string id = 1;\n}\n'


def test_types_are_those_that_clients_know(ask: Asker) -> None:
    assert sorted(ask("GET", "/schemas/types").body) == ["AVRO", "JSON", "PROTOBUF"]


def test_schema_is_told_by_id_and_by_guid(ask: Asker, unique: UniqueName) -> None:
    subject = unique("s")
    registered = ask.register(subject, FIRST).body
    by_id = ask("GET", f"/schemas/ids/{registered['id']}?subject={subject}&fetchMaxId=true").body
    assert by_id["schema"] == as_text(FIRST).replace(" ", "")
    assert by_id["maxId"] >= registered["id"]
    assert by_id["guid"] == registered["guid"]
    assert ask("GET", f"/schemas/guids/{registered['guid']}").body["schema"] == by_id["schema"]
    ids = ask("GET", f"/schemas/guids/{registered['guid']}/ids").body
    assert {"context": ".", "id": registered["id"]} in ids
    assert ask("GET", f"/schemas/ids/{registered['id']}/schema").body == FIRST
    assert ask("GET", "/schemas/ids/999999").code == 40403
    assert ask("GET", "/schemas/guids/no-such").code == 40403


def test_list_of_schemas_has_all_versions_or_the_latest(ask: Asker, unique: UniqueName) -> None:
    subject = unique("s")
    for schema in (FIRST, SECOND):
        ask.register(subject, schema)
    whole = ask("GET", f"/schemas?subjectPrefix={subject}").body
    assert [each["version"] for each in whole] == [1, 2]
    latest = ask("GET", f"/schemas?subjectPrefix={subject}&latestOnly=true").body
    assert [each["version"] for each in latest] == [2]
    assert ask("GET", f"/schemas?subjectPrefix={subject}&offset=1&limit=5").body == whole[1:]


def test_protobuf_is_told_as_text_and_as_a_descriptor(ask: Asker, unique: UniqueName) -> None:
    subject = unique("s")
    registered = ask.register(subject, PROTO, schemaType="PROTOBUF").body
    body = ask("GET", f"/schemas/ids/{registered['id']}?format=serialized").body
    assert body["schemaType"] == "PROTOBUF"
    same = ask("POST", f"/subjects/{subject}", {"schema": body["schema"], "schemaType": "PROTOBUF"})
    assert same.body["id"] == registered["id"]
    assert "message Order" in ask("GET", f"/subjects/{subject}/versions/1").body["schema"]


def test_answers_have_the_media_type_that_was_asked_for(ask: Asker) -> None:
    for accepted, given in (
        (f"{MEDIA_TYPE}, application/json", MEDIA_TYPE),
        ("application/json", "application/json"),
        ("*/*", MEDIA_TYPE),
    ):
        answer = ask.http.get("/subjects", headers={"Accept": accepted})
        assert answer.headers["content-type"] == given


def test_contexts_have_ids_of_their_own(ask: Asker, unique: UniqueName) -> None:
    context = f".{unique('team')}"
    subject = unique("s")
    qualified = f":{context}:{subject}"
    registered = ask.register(qualified, FIRST).body
    assert registered["id"] == 1
    assert context in ask("GET", "/contexts").body
    assert ask("GET", "/contexts").body[0] == "."
    assert ask("GET", f"/subjects/{qualified}/versions/1").body["subject"] == qualified
    assert qualified in ask("GET", "/subjects").body
    assert ask("GET", f"/subjects?subjectPrefix=:{context}:").body == [qualified]
    assert qualified not in ask("GET", "/subjects?subjectPrefix=s").body
    assert ask("GET", f"/schemas/ids/1?subject={qualified}").body["subject"] == qualified
    assert ask("GET", f"/schemas/ids/1?subject={subject}").body["subject"] == qualified


def test_context_is_deleted_when_it_is_empty(ask: Asker, unique: UniqueName) -> None:
    context = f".{unique('team')}"
    ask.register(f":{context}:s", FIRST)
    assert ask("DELETE", f"/contexts/{context}").code == 42211
    for query in ("", "?permanent=true"):
        ask("DELETE", f"/subjects/:{context}:s{query}")
    assert ask("DELETE", f"/contexts/{context}").status == 204
    assert context not in ask("GET", "/contexts").body


def test_references_within_a_context_stay_in_it(ask: Asker, unique: UniqueName) -> None:
    context = f":.{unique('team')}:"
    ask.register(f"{context}line", record("Line", "sku"))
    schema = record("Order", {"name": "line", "type": "Line"})
    references = [{"name": "Line", "subject": "line", "version": 1}]
    assert ask.register(f"{context}order", schema, references=references).status == 200
    assert ask("GET", f"/subjects/{context}line/versions/1/referencedby").body == [2]


def test_registry_tells_which_cluster_it_is_of(ask: Asker) -> None:
    told = ask("GET", "/v1/metadata/id").body
    assert len(told["scope"]["clusters"]["kafka-cluster"]) == 22
    assert ask("GET", "/clusterid").body == told
    assert ask("GET", "/v1/metadata/version").body["version"]
