"""Groups as JSON: lag, members, and moving them with a look before."""

from urllib.parse import quote

import httpx2
import pytest
from tests.conftest import UniqueName
from tests.gateway.console.conftest import commit

from penstock.client import Admin, Consumer, Producer


@pytest.fixture
def topic(bootstrap: str, unique: UniqueName) -> str:
    """One with ten records in its only partition."""
    name = unique("orders")
    with Admin(bootstrap_servers=bootstrap) as admin, Producer(bootstrap_servers=bootstrap) as producer:
        admin.create_topic(name, partitions=1)
        producer.send_batch([(name, b"x")] * 10)
    return name


@pytest.fixture(params=["a/b c?#%", "x/reset"])
def group(request: pytest.FixtureRequest, bootstrap: str, topic: str, unique: UniqueName) -> str:
    """One without members that has come to offset 4; its name needs care in a URL."""
    name = f"{unique('billing')}{request.param}"
    with Admin(bootstrap_servers=bootstrap) as admin:
        commit(admin, name, {(topic, 0): 4})
    return name


def quoted(group: str) -> str:
    return quote(group, safe="")


def test_list_tells_lag_and_state(api: httpx2.Client, group: str) -> None:
    (line,) = (each for each in api.get("/groups").json()["groups"] if each["group"] == group)

    assert (line["lag"], line["members"], line["state"]) == (6, 0, "Empty")


def test_group_tells_where_it_is(api: httpx2.Client, group: str, topic: str) -> None:
    told = api.get(f"/groups/{quoted(group)}").json()

    (partition,) = told["partitions"]
    assert (partition["topic"], partition["committed_offset"], partition["end_offset"]) == (topic, 4, 10)
    assert (told["lag"], told["is_active"], told["members"]) == (6, False, [])


def test_group_that_is_not_there_is_404(api: httpx2.Client) -> None:
    assert api.get("/groups/nobody").status_code == 404


def test_reset_tells_first_and_then_does(api: httpx2.Client, group: str, bootstrap: str, topic: str) -> None:
    where = f"/groups/{quoted(group)}/reset"
    preview = api.post(where, json={"to": "shift", "number": 3}).json()
    (move,) = preview["offsets"]
    assert (move["old_offset"], move["new_offset"], move["change"], preview["dry_run"]) == (4, 7, 3, True)
    with Admin(bootstrap_servers=bootstrap) as admin:
        assert admin.group_offsets(group) == {(topic, 0): 4}

        done = api.post(where, json={"to": "shift", "number": 3, "dry_run": False}).json()
        assert not done["dry_run"]
        assert admin.group_offsets(group) == {(topic, 0): 7}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"to": "earliest"}, 0),
        ({"to": "latest"}, 10),
        ({"to": "offset", "number": 99}, 10),
        ({"to": "timestamp", "number": 0}, 0),
        ({"to": "current"}, 4),
    ],
)
def test_reset_knows_every_target(
    api: httpx2.Client, group: str, body: dict[str, object], expected: int
) -> None:
    (move,) = api.post(f"/groups/{quoted(group)}/reset", json=body).json()["offsets"]
    assert move["new_offset"] == expected


def test_reset_of_a_group_with_members_is_previewed_and_refused(
    api: httpx2.Client, bootstrap: str, topic: str, unique: UniqueName
) -> None:
    name = unique("active")
    with Consumer(bootstrap_servers=bootstrap, group_id=name, auto_offset_reset="earliest") as consumer:
        consumer.subscribe(topic)
        assert consumer.poll(10)
        consumer.commit()
        preview = api.post(f"/groups/{name}/reset", json={"to": "earliest"}).json()
        refused = api.post(f"/groups/{name}/reset", json={"to": "earliest", "dry_run": False})
        told = api.get(f"/groups/{name}").json()

    assert preview["is_active"]
    assert refused.status_code == 409
    assert "1 active member" in refused.json()["message"]
    (member,) = told["members"]
    assert member["assignment"] == {topic: [0]}


def test_reset_in_a_topic_that_is_not_there_is_404(api: httpx2.Client, group: str) -> None:
    answer = api.post(f"/groups/{quoted(group)}/reset", json={"to": "earliest", "topics": ["no-such"]})
    assert answer.status_code == 404


def test_reset_of_a_group_that_has_read_nothing_wants_topics(
    api: httpx2.Client, topic: str, unique: UniqueName
) -> None:
    name = unique("fresh")
    assert api.post(f"/groups/{name}/reset", json={"to": "earliest"}).status_code == 422

    shift = {"to": "shift", "number": 1, "topics": [topic], "dry_run": False}
    assert api.post(f"/groups/{name}/reset", json=shift).status_code == 422

    made = api.post(f"/groups/{name}/reset", json={"to": "latest", "topics": [topic], "dry_run": False})
    assert made.json()["offsets"][0]["new_offset"] == 10


def test_group_is_deleted_when_its_name_is_repeated(api: httpx2.Client, group: str) -> None:
    where = f"/groups/{quoted(group)}"
    assert api.request("DELETE", where, json={"confirm": "x"}).status_code == 422
    assert api.request("DELETE", where, json={"confirm": group}).status_code == 200
    assert api.get(where).status_code == 404
