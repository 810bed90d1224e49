"""``/config``, ``/mode`` and ``/compatibility`` over a real socket."""

import pytest
from tests.conftest import UniqueName
from tests.gateway.registry.conftest import Asker, as_text, optional, record

FIRST = record("Order", "id")
READABLE = record("Order", "id", optional("note"))
UNREADABLE = record("Order", "id", "price")


def test_levels_are_set_told_and_taken_back(ask_alone: Asker) -> None:
    ask = ask_alone
    assert ask("GET", "/config").body == {"compatibilityLevel": "BACKWARD"}
    assert ask("PUT", "/config", {"compatibility": "full"}).body == {"compatibility": "FULL"}
    assert ask("GET", "/config").body == {"compatibilityLevel": "FULL"}
    assert ask("GET", "/config/s").code == 40408
    assert ask("GET", "/config/s?defaultToGlobal=true").body == {"compatibilityLevel": "FULL"}
    assert ask("PUT", "/config/s", {"compatibility": "NONE"}).status == 200
    assert ask("GET", "/config/s").body == {"compatibilityLevel": "NONE"}
    assert ask("DELETE", "/config/s").body == {"compatibilityLevel": "NONE"}
    assert ask("DELETE", "/config/s").code == 40401
    assert ask("DELETE", "/config").body == {"compatibilityLevel": "FULL"}
    assert ask("GET", "/config").body == {"compatibilityLevel": "BACKWARD"}
    assert ask("PUT", "/config", {"compatibility": "SIDEWARD"}).code == 42203


def test_settings_of_a_context_hold_in_it(ask: Asker, unique: UniqueName) -> None:
    context = f":.{unique('team')}:"
    ask("PUT", f"/config/{context}", {"compatibility": "NONE"})
    ask.register(f"{context}s", FIRST)
    assert ask.register(f"{context}s", UNREADABLE).status == 200
    assert ask("GET", f"/config/{context}s?defaultToGlobal=true").body["compatibilityLevel"] == "NONE"


def test_other_settings_are_kept_beside_the_level(ask: Asker, unique: UniqueName) -> None:
    subject = unique("s")
    ask("PUT", f"/config/{subject}", {"normalize": True, "compatibilityGroup": "major"})
    ask("PUT", f"/config/{subject}", {"compatibility": "FORWARD"})
    assert ask("GET", f"/config/{subject}").body == {
        "compatibilityLevel": "FORWARD",
        "normalize": True,
        "compatibilityGroup": "major",
    }
    ask("PUT", f"/config/{subject}", {"compatibilityGroup": None})
    assert "compatibilityGroup" not in ask("GET", f"/config/{subject}").body


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"defaultMetadata": 5}, 42201),
        ({"overrideMetadata": {"tags": 5}}, 42201),
        ({"defaultRuleSet": {"domainRules": [5]}}, 42210),
        ({"overrideRuleSet": []}, 42210),
        ({"compatibilityGroup": ["major"]}, 422),
        ({"validateFields": "yes"}, 422),
        ({"alias": "\ud800"}, 422),
    ],
)
def test_settings_that_would_keep_everybody_from_registering_are_refused(
    ask: Asker, unique: UniqueName, settings: dict[str, object], code: int
) -> None:
    subject = unique("s")
    assert ask("PUT", f"/config/{subject}", settings).code == code
    assert ask.register(subject, FIRST).status == 200


def test_highest_id_that_clients_can_write_is_the_last(ask_alone: Asker) -> None:
    ask = ask_alone
    ask("PUT", "/mode/imported", {"mode": "IMPORT"})
    assert ask.register("imported", FIRST, id=2**31 - 1).body["id"] == 2**31 - 1
    refused = ask.register("new", UNREADABLE)
    assert (refused.code, "the last that there can be" in refused.body["message"]) == (42201, True)
    assert ask.register(":.other:new", UNREADABLE).body["id"] == 1


def test_alias_leads_to_another_subject(ask: Asker, unique: UniqueName) -> None:
    subject, alias = unique("s"), unique("alias")
    registered = ask.register(subject, FIRST).body
    ask("PUT", f"/config/{alias}", {"alias": subject})
    assert ask("GET", f"/subjects/{alias}/versions/latest").body["id"] == registered["id"]


def test_versions_of_another_group_are_not_compared(ask: Asker, unique: UniqueName) -> None:
    subject = unique("s")
    ask("PUT", f"/config/{subject}", {"compatibilityGroup": "major"})
    ask.register(subject, FIRST, metadata={"properties": {"major": "1"}})
    same_group = ask.register(subject, UNREADABLE, metadata={"properties": {"major": "1"}})
    assert same_group.status == 409
    assert ask.register(subject, UNREADABLE, metadata={"properties": {"major": "2"}}).status == 200


@pytest.mark.parametrize(
    ("level", "is_accepted"),
    [("BACKWARD", True), ("BACKWARD_TRANSITIVE", False), ("FULL", True), ("FULL_TRANSITIVE", False)],
)
def test_transitive_levels_compare_with_all_versions(
    ask: Asker, unique: UniqueName, level: str, is_accepted: bool
) -> None:
    subject = unique("s")
    without, with_default = record("R", "a"), record("R", "a", optional("b"))
    ask("PUT", f"/config/{subject}", {"compatibility": "NONE"})
    ask.register(subject, without)
    ask.register(subject, with_default)
    ask("PUT", f"/config/{subject}", {"compatibility": level})
    told = ask.register(subject, record("R", "a", "b"))
    assert (told.status == 200) is is_accepted


def test_compatibility_is_told_without_registering(ask: Asker, unique: UniqueName) -> None:
    subject = unique("s")
    ask.register(subject, FIRST)
    path = f"/compatibility/subjects/{subject}/versions"
    for place in ("", "/latest", "/1"):
        good = ask("POST", f"{path}{place}", {"schema": as_text(READABLE)}).body
        assert good == {"is_compatible": True}
        bad = ask("POST", f"{path}{place}?verbose=true", {"schema": as_text(UNREADABLE)}).body
        assert bad["is_compatible"] is False
        assert any("price" in message for message in bad["messages"])
        assert "{oldSchemaVersion: 1}" in bad["messages"]
    assert ask("GET", f"/subjects/{subject}/versions").body == [1]
    assert ask("POST", f"{path}/7", {"schema": as_text(FIRST)}).code == 40402
    assert ask("POST", f"{path}/x", {"schema": as_text(FIRST)}).code == 42202
    assert ask("POST", path, {"schema": "{"}).code == 42201
    assert ask("POST", f"{path}?verbose=true", {"schema": "{"}).body["is_compatible"] is False


def test_anything_goes_with_a_subject_that_is_not_there(ask: Asker, unique: UniqueName) -> None:
    path = f"/compatibility/subjects/{unique('s')}/versions/latest"
    assert ask("POST", path, {"schema": as_text(FIRST)}).body == {"is_compatible": True}


def test_read_only_subject_takes_nothing_new(ask: Asker, unique: UniqueName) -> None:
    subject = unique("s")
    known = ask.register(subject, FIRST).body
    assert ask("GET", f"/mode/{subject}").code == 40409
    assert ask("GET", f"/mode/{subject}?defaultToGlobal=true").body == {"mode": "READWRITE"}
    assert ask("PUT", f"/mode/{subject}", {"mode": "readonly"}).body == {"mode": "READONLY"}
    assert ask.register(subject, READABLE).code == 42205
    assert ask("DELETE", f"/subjects/{subject}").code == 42205
    assert ask("PUT", f"/config/{subject}", {"compatibility": "NONE"}).code == 42205
    assert ask.register(subject, FIRST).body["id"] == known["id"]
    assert ask("DELETE", f"/mode/{subject}").body == {"mode": "READONLY"}
    assert ask.register(subject, READABLE).status == 200
    assert ask("PUT", f"/mode/{subject}", {"mode": "HALF"}).code == 42204


def test_override_goes_before_what_subjects_say(ask_alone: Asker) -> None:
    ask = ask_alone
    ask("PUT", "/mode/s", {"mode": "READWRITE"})
    ask("PUT", "/mode", {"mode": "READONLY_OVERRIDE"})
    assert ask.register("s", FIRST).code == 42205
    assert ask("GET", "/mode").body == {"mode": "READONLY_OVERRIDE"}
    ask("DELETE", "/mode")
    assert ask.register("s", FIRST).status == 200


def test_import_keeps_ids_and_versions(ask: Asker, unique: UniqueName) -> None:
    context = f":.{unique('team')}:"
    subject = f"{context}s"
    assert ask("PUT", f"/mode/{subject}", {"mode": "IMPORT"}).status == 200
    assert ask.register(subject, FIRST).code == 42205
    assert ask.register(subject, FIRST, id=40, version=3).body["id"] == 40
    assert ask.register(subject, UNREADABLE, id=40, version=4).code == 42207
    assert ask.register(subject, UNREADABLE, id=41, version=7).status == 200
    assert ask("GET", f"/subjects/{subject}/versions").body == [3, 7]
    ask("DELETE", f"/mode/{subject}")
    assert ask.register(f"{context}other", '"int"').body["id"] == 42


def test_import_mode_needs_an_empty_place_or_force(ask: Asker, unique: UniqueName) -> None:
    subject = unique("s")
    ask.register(subject, FIRST)
    assert ask("PUT", f"/mode/{subject}", {"mode": "IMPORT"}).code == 42205
    assert ask("PUT", f"/mode/{subject}?force=true", {"mode": "IMPORT"}).status == 200
    ask("DELETE", f"/mode/{subject}")
    ask("DELETE", f"/subjects/{subject}")
    assert ask("PUT", f"/mode/{subject}", {"mode": "IMPORT"}).status == 200
    assert ask("GET", f"/subjects/{subject}/versions?deleted=true").code == 40401
