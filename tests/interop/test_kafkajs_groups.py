"""kafkajs alone in a group: positions, commits and replay; and its transactions."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from tests.conftest import UniqueName
from tests.interop.confluent import admin_client, consumer, create_topic, make_producer, read_all, send

pytestmark = pytest.mark.interop

SCRIPT = Path(__file__).with_name("kafkajs_groups.js")
FIRST_TIMESTAMP = 1_600_000_000_000


@pytest.fixture(scope="module")
def seen(lively: str, node_path: Path, unique: UniqueName) -> dict[str, Any]:
    """What the whole conversation showed; the tests look at its parts."""
    topic, group = create_filled_topic(lively, unique("kafkajs")), unique("group")
    done = subprocess.run(
        ["node", str(SCRIPT), lively, topic, group, unique("tx")],
        env={**os.environ, "NODE_PATH": str(node_path)},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return {"topic": topic, "group": group, **result}


def create_filled_topic(bootstrap: str, name: str) -> str:
    """Ten records in one partition, a second apart."""
    create_topic(admin_client(bootstrap), name)
    send(
        make_producer(bootstrap),
        name,
        [{"value": b"%d" % n, "partition": 0, "timestamp": FIRST_TIMESTAMP + 1000 * n} for n in range(10)],
    )
    return name


def test_records_are_read_replayed_and_held_back(seen: dict[str, Any]) -> None:
    assert seen["first"] == [str(number) for number in range(10)]
    assert seen["fromOffset"] == ["6", "7", "8", "9"]
    assert seen["fromTimestamp"] == ["7", "8", "9"]
    assert seen["paused"] == [{"topic": seen["topic"], "partitions": [0]}]
    assert (seen["whilePaused"], seen["resumed"]) == (0, ["9"])


def test_commit_is_where_the_next_consumer_begins(seen: dict[str, Any]) -> None:
    ((committed,),) = [one["partitions"] for one in seen["committed"]]
    assert committed["offset"] == "4"
    assert seen["resumedFromCommit"] == ["4", "5", "6", "7", "8", "9"]


def test_transactions_are_seen_whole_or_not_at_all(lively: str, seen: dict[str, Any]) -> None:
    def values(isolation_level: str) -> list[str]:
        found = read_all(lively, seen["topic"], isolation_level=isolation_level)
        return [message.value().decode() for message in found][10:]

    assert values("read_committed") == ["commit 0", "commit 2", "commit last"]
    assert "abort 1" in values("read_uncommitted")
    assert seen["zombie"] in ("INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED")
    with consumer(lively, group_id=seen["group"]) as client:
        (found,) = client.committed([TopicPartition(seen["topic"], 0)], timeout=10)
    assert found.offset == 9
