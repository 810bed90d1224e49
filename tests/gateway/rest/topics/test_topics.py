"""Topics over REST."""

import pytest
from tests.conftest import UniqueName
from tests.gateway.rest_client import RestClient


def test_topic_is_made_listed_shown_and_deleted(rest: RestClient, unique: UniqueName) -> None:
    name = unique()

    made = rest.json("POST", "/topics", {"name": name, "partitions": 2, "config": {"retention.ms": "1000"}})
    assert (made["name"], made["partitions"], made["replication_factor"]) == (name, 2, 1)
    assert made in rest.json("GET", "/topics")
    rest.produce(name, {"value": 1, "partition": 1})
    shown = rest.json("GET", f"/topics/{name}")
    assert [each["partition"] for each in shown["details"]] == [0, 1]
    assert [each["latest_offset"] for each in shown["details"]] == [0, 1]
    assert shown["details"][0]["in_sync_replicas"] == [shown["details"][0]["leader"]]

    assert rest.ask("DELETE", f"/topics/{name}").status_code == 204
    status, told = rest.refusal("GET", f"/topics/{name}")
    assert (status, told["error_code"]) == (404, 40401)


def test_dry_run_makes_nothing(rest: RestClient, unique: UniqueName) -> None:
    name = unique()

    rest.json("POST", f"/topics/{name}", {"partitions": 2, "dry_run": True})

    assert rest.ask("GET", f"/topics/{name}").status_code == 404


def test_internal_topics_are_listed_when_asked_for(rest: RestClient, unique: UniqueName) -> None:
    topic = rest.new_topic(unique())
    rest.json(
        "PUT", f"/groups/{unique('g')}/offsets", {"offsets": [{"topic": topic, "partition": 0, "offset": 0}]}
    )

    assert "__consumer_offsets" not in [each["name"] for each in rest.json("GET", "/topics")]
    listed = rest.json("GET", "/topics", internal=True)
    assert "__consumer_offsets" in [each["name"] for each in listed if each["is_internal"]]


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ({"partitions": 0}, 422, None),
        ({"partitions": 1, "config": {"no.such.setting": "1"}}, 422, "INVALID_CONFIG"),
        ({"partitions": 1, "replication_factor": 99}, 422, "INVALID_REPLICATION_FACTOR"),
        ({"colour": "red"}, 422, None),
    ],
)
def test_topics_that_make_no_sense_are_refused(
    rest: RestClient, unique: UniqueName, body: object, status: int, error: str | None
) -> None:
    found, told = rest.refusal("POST", f"/topics/{unique()}", body)

    assert (found, told.get("error")) == (status, error)


def test_topic_that_is_there_is_not_made_again(rest: RestClient, unique: UniqueName) -> None:
    name = rest.new_topic(unique())

    status, told = rest.refusal("POST", f"/topics/{name}", {})

    assert (status, told["error"]) == (409, "TOPIC_ALREADY_EXISTS")


@pytest.mark.parametrize("name", ["bad name", "..%2f..%2fetc", "ünïcode", "x" * 250, "<script>"])
def test_names_that_no_topic_has_are_refused(rest: RestClient, name: str) -> None:
    status, told = rest.refusal("GET", f"/topics/{name}")

    assert status in (404, 422)
    assert set(told) <= {"error_code", "message", "error"}


def test_settings_are_shown_changed_and_taken_back(rest: RestClient, unique: UniqueName) -> None:
    name = rest.new_topic(unique(), 1, retention_ms="5000")

    (own,) = rest.json("GET", f"/topics/{name}/configs", overridden=True)
    assert (own["name"], own["value"], own["source"]) == ("retention.ms", "5000", "DYNAMIC_TOPIC_CONFIG")
    rest.json("PATCH", f"/topics/{name}/configs", {"changes": {"retention.ms": "1"}, "dry_run": True})
    (same,) = rest.json("GET", f"/topics/{name}/configs", overridden=True)
    assert same["value"] == "5000"
    changes = {"retention.ms": None, "cleanup.policy": "compact"}
    after = rest.json("PATCH", f"/topics/{name}/configs", {"changes": changes})
    assert [each["name"] for each in after if each["is_overridden"]] == ["cleanup.policy"]


def test_settings_that_make_no_sense_are_refused(rest: RestClient, unique: UniqueName) -> None:
    name = rest.new_topic(unique())

    status, told = rest.refusal("PATCH", f"/topics/{name}/configs", {"changes": {"retention.ms": "soon"}})

    assert (status, told["error"]) == (422, "INVALID_CONFIG")
    assert rest.ask("GET", f"/topics/{unique()}/configs").status_code == 404


def test_partitions_are_added(rest: RestClient, unique: UniqueName) -> None:
    name = rest.new_topic(unique())

    shown = rest.json("POST", f"/topics/{name}/partitions", {"total": 3})

    assert [each["partition"] for each in shown] == [0, 1, 2]
    status, told = rest.refusal("POST", f"/topics/{name}/partitions", {"total": 1})
    assert (status, told["error"]) == (422, "INVALID_PARTITIONS")


def test_offsets_are_told_by_end_and_by_moment(rest: RestClient, unique: UniqueName) -> None:
    name = rest.new_topic(unique(), 2, retention_ms="-1")
    for number in range(4):
        rest.produce(name, {"value": number, "partition": 0, "timestamp": 1_700_000_000_000 + number})

    def offsets(**query: object) -> list[int]:
        return [each["offset"] for each in rest.json("GET", f"/topics/{name}/offsets", **query)]

    assert offsets(begin_at="earliest") == [0, 0]
    assert offsets(begin_at="latest") == [4, 0]
    assert offsets(timestamp=1_700_000_000_002) == [2, 0]
    assert offsets(timestamp=1_700_000_000_002, partition=0) == [2]
    assert rest.ask("GET", f"/topics/{name}/offsets").status_code == 422
