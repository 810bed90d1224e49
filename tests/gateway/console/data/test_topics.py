"""Topics as JSON: what is told of them, and what can be done to them."""

import json

import httpx2
import pytest
from tests.conftest import UniqueName

from penstock.client import Admin, Producer


@pytest.fixture
def topic(bootstrap: str, unique: UniqueName) -> str:
    name = unique("orders")
    with Admin(bootstrap_servers=bootstrap) as admin, Producer(bootstrap_servers=bootstrap) as producer:
        admin.create_topic(name, partitions=2, config={"retention.ms": "3600000"})
        for _ in range(3):
            producer.send(name, b"x" * 50, partition=1).result(10)
    return name


def test_list_tells_counts_and_sizes(api: httpx2.Client, topic: str) -> None:
    (line,) = (each for each in api.get("/topics").json()["topics"] if each["name"] == topic)

    assert (line["partitions"], line["messages"], line["under_replicated"], line["offline"]) == (2, 3, 0, 0)
    assert line["bytes"] > 150
    assert not line["is_internal"]


def test_topic_tells_its_partitions(api: httpx2.Client, topic: str) -> None:
    told = api.get(f"/topics/{topic}").json()

    first, second = told["partitions"]
    assert (first["start_offset"], first["end_offset"]) == (0, 0)
    assert (second["start_offset"], second["end_offset"]) == (0, 3)
    assert second["leader"] in second["isr"]
    assert second["bytes"] > 150


def test_topic_that_is_not_there_is_404_in_a_sentence(api: httpx2.Client) -> None:
    answer = api.get("/topics/no-such-topic")

    assert answer.status_code == 404
    assert answer.json()["message"] == "There is no topic 'no-such-topic'."
    assert api.get("/topics/no-such-topic/config").status_code == 404


def test_config_tells_what_is_overridden_and_what_would_hold_otherwise(
    api: httpx2.Client, topic: str
) -> None:
    configs = {each["name"]: each for each in api.get(f"/topics/{topic}/config").json()["configs"]}

    retention = configs["retention.ms"]
    assert (retention["value"], retention["source"], retention["is_overridden"]) == ("3600000", "topic", True)
    assert retention["otherwise"] == {"name": "log.retention.hours", "value": "168"}
    assert not configs["cleanup.policy"]["is_overridden"]
    assert configs["cleanup.policy"]["otherwise"] is None


def test_config_is_changed_one_by_one_and_taken_back(api: httpx2.Client, topic: str) -> None:
    changed = api.patch(f"/topics/{topic}/config", json={"changes": {"max.message.bytes": "2000"}}).json()
    values = {each["name"]: each["value"] for each in changed["configs"]}
    assert (values["max.message.bytes"], values["retention.ms"]) == ("2000", "3600000")

    back = api.patch(f"/topics/{topic}/config", json={"changes": {"max.message.bytes": None}}).json()
    (entry,) = (each for each in back["configs"] if each["name"] == "max.message.bytes")
    assert not entry["is_overridden"]


def test_config_that_makes_no_sense_is_refused_and_nothing_changed(api: httpx2.Client, topic: str) -> None:
    answer = api.patch(f"/topics/{topic}/config", json={"changes": {"retention.ms": "soon"}})

    assert answer.status_code >= 400
    assert "retention.ms" in answer.json()["message"]


def test_topic_is_made_grown_and_deleted(api: httpx2.Client, unique: UniqueName) -> None:
    name = unique("made")
    made = api.post("/topics", json={"name": name, "partitions": 1, "config": {"cleanup.policy": "compact"}})
    assert made.status_code == 201
    assert api.post(f"/topics/{name}/partitions", json={"total": 3}).json()["partitions"] == 3
    assert len(api.get(f"/topics/{name}").json()["partitions"]) == 3

    again = api.post("/topics", json={"name": name})
    assert again.status_code == 409

    answer = api.request("DELETE", f"/topics/{name}", json={"confirm": name})
    assert answer.status_code == 200
    assert name not in {each["name"] for each in api.get("/topics").json()["topics"]}


def test_topic_is_not_deleted_unless_its_name_is_repeated(api: httpx2.Client, topic: str) -> None:
    answer = api.request("DELETE", f"/topics/{topic}", json={"confirm": "another"})

    assert answer.status_code == 422
    assert api.get(f"/topics/{topic}").status_code == 200


def test_names_of_topics_are_offered_to_the_search(api: httpx2.Client, topic: str) -> None:
    assert topic in api.get("/names").json()["topics"]


@pytest.mark.parametrize(
    "wish",
    [
        {"name": "\ud800"},
        {"name": "a\0b"},
        {"name": "a b"},
        {"name": "new", "partitions": 2**70},
        {"name": "new", "replication_factor": 2**70},
    ],
)
def test_topic_that_could_never_be_is_refused(api: httpx2.Client, wish: dict[str, object]) -> None:
    answer = api.post("/topics", content=json.dumps(wish), headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["message"]


def test_partitions_that_could_never_be_are_refused(api: httpx2.Client, topic: str) -> None:
    assert api.post(f"/topics/{topic}/partitions", json={"total": 2**70}).status_code == 422
    assert api.post("/topics/%00/partitions", json={"total": 2}).status_code == 422
