"""Consumer groups over REST."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from tests.conftest import UniqueName
from tests.gateway.rest_client import RestClient

from penstock import Consumer


@pytest.fixture
def topic(rest: RestClient, unique: UniqueName) -> str:
    """Ten records in each of two partitions."""
    name = rest.new_topic(unique(), 2)
    rest.produce(name, *({"value": number, "partition": number % 2} for number in range(20)))
    return name


@pytest.fixture
def member(bootstrap: str, topic: str, unique: UniqueName) -> Iterator[Consumer]:
    """A group with one member, which has read everything and committed half of it."""
    with Consumer(
        bootstrap_servers=bootstrap,
        group_id=unique("group"),
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    ) as consumer:
        consumer.subscribe(topic)
        seen = 0
        while seen < 20:
            seen += len(consumer.poll(10))
        consumer.commit({(topic, 0): 5, (topic, 1): 5})
        yield consumer


def moved(answer: Any) -> dict[int, tuple[int | None, int | None]]:
    return {each["partition"]: (each["old_offset"], each["new_offset"]) for each in answer["moves"]}


def test_group_with_members_is_listed_shown_with_its_lag_and_not_moved(
    rest: RestClient, topic: str, member: Consumer
) -> None:
    group = member.config.group_id

    (listed,) = [each for each in rest.json("GET", "/groups") if each["group"] == group]
    shown = rest.json("GET", f"/groups/{group}")

    assert (listed["members"], listed["lag"], listed["type"]) == (1, 10, "classic")
    assert (shown["state"].lower(), shown["lag"]) == ("stable", 10)
    (one,) = shown["members"]
    assert one["assignment"] == {topic: [0, 1]}
    assert [(each["committed_offset"], each["lag"]) for each in shown["offsets"]] == [(5, 5), (5, 5)]
    assert rest.json("GET", f"/groups/{group}/offsets") == shown["offsets"]
    assert group not in [each["group"] for each in rest.json("GET", "/groups", state="empty")]

    status, told = rest.refusal("POST", f"/groups/{group}/offsets/reset", {"to": "earliest"})
    assert (status, told["error"]) == (409, "NON_EMPTY_GROUP")
    assert rest.ask("DELETE", f"/groups/{group}").status_code == 409


def test_dry_run_says_what_a_reset_would_do(rest: RestClient, topic: str, unique: UniqueName) -> None:
    group = unique("group")
    wish = {"offsets": [{"topic": topic, "partition": number, "offset": 4} for number in (0, 1)]}
    assert moved(rest.json("PUT", f"/groups/{group}/offsets", wish)) == {0: (None, 4), 1: (None, 4)}
    path = f"/groups/{group}/offsets/reset"

    preview = rest.json("POST", path, {"to": "latest", "dry_run": True})
    assert preview["is_dry_run"]
    assert moved(preview) == {0: (4, 10), 1: (4, 10)}
    assert [each["lag"] for each in rest.json("GET", f"/groups/{group}/offsets")] == [6, 6]

    assert moved(rest.json("POST", path, {"to": "shift", "value": -3})) == {0: (4, 1), 1: (4, 1)}
    assert moved(rest.json("POST", path, {"to": "offset", "value": 8, "partitions": [1]})) == {1: (1, 8)}
    assert moved(rest.json("POST", path, {"to": "latest", "topics": [topic]})) == {0: (1, 10), 1: (8, 10)}
    assert rest.ask("DELETE", f"/groups/{group}").status_code == 204
    assert rest.refusal("GET", f"/groups/{group}")[0] == 404


@pytest.mark.parametrize(
    "name", ["a/b c?#%", "/", "x/offsets", "x/offsets/reset", "%2F", "%41", "../topics", "a\nb", "é+&=;"]
)
def test_group_of_any_name_is_moved_shown_and_deleted(
    rest: RestClient, topic: str, unique: UniqueName, name: str
) -> None:
    group = f"{unique('group')}{name}"
    path = f"/groups/{quote(group, safe='')}"
    wish = {"offsets": [{"topic": topic, "partition": 0, "offset": 4}]}

    assert moved(rest.json("PUT", f"{path}/offsets", wish)) == {0: (None, 4)}
    assert group in [each["group"] for each in rest.json("GET", "/groups")]
    shown = rest.json("GET", path)
    assert (shown["group"], shown["lag"]) == (group, 6)
    assert rest.json("GET", f"{path}/offsets") == shown["offsets"]
    assert moved(rest.json("POST", f"{path}/offsets/reset", {"to": "latest"})) == {0: (4, 10)}
    assert rest.ask("DELETE", path).status_code == 204
    status, told = rest.refusal("GET", path)
    assert (status, told["message"]) == (404, f"There is no group {group!r}.")


def test_offset_beyond_the_log_is_moved_into_it(rest: RestClient, topic: str, unique: UniqueName) -> None:
    wish = {"offsets": [{"topic": topic, "partition": 0, "offset": 999}]}

    (move,) = rest.json("PUT", f"/groups/{unique('group')}/offsets", wish)["moves"]

    assert move["new_offset"] == 10
    assert "beyond the log" in move["note"]


@pytest.mark.parametrize(
    ("wish", "status"),
    [
        ({"to": "shift"}, 422),
        ({"to": "earliest", "value": 3}, 422),
        ({"to": "timestamp", "value": -3}, 422),
        ({"to": "nowhere"}, 422),
        ({"to": "earliest"}, 404),
        ({"to": "earliest", "topics": ["no-such-topic"]}, 404),
        ({"to": "earliest", "topics": ["../etc"]}, 422),
    ],
)
def test_resets_that_make_no_sense_are_refused(
    rest: RestClient, unique: UniqueName, wish: object, status: int
) -> None:
    assert rest.refusal("POST", f"/groups/{unique('group')}/offsets/reset", wish)[0] == status
