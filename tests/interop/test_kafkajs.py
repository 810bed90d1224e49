"""kafkajs: the JavaScript client, which asks for versions on its first connection only."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import UniqueName
from tests.raw_kafka import Connection

pytestmark = pytest.mark.interop

SCRIPT = Path(__file__).with_name("kafkajs_scenario.js")


@pytest.fixture(scope="module")
def seen(bootstrap: str, node_path: Path, unique: UniqueName) -> dict[str, Any]:
    """What the whole conversation showed; the tests look at its parts."""
    topic = unique("kafkajs")
    with Connection(bootstrap) as raw:
        assert raw.create_topic(topic, partitions=2, retention_ms="-1") == 0
    done = subprocess.run(
        ["node", str(SCRIPT), bootstrap, topic],
        env={**os.environ, "NODE_PATH": str(node_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return {"topic": topic, **result}


def test_sent_records_report_their_offsets(seen: dict[str, Any]) -> None:
    assert [(one["baseOffset"], one["errorCode"]) for one in seen["plain"]] == [("0", 0)]
    assert [(one["baseOffset"], one["errorCode"]) for one in seen["gzip"]] == [("3", 0)]
    assert [(one["baseOffset"], one["errorCode"]) for one in seen["leaderOnly"]] == [("53", 0)]
    assert seen["idempotent"] == ["0", "1", "2", "3", "4"]


def test_records_are_read_back_whole(seen: dict[str, Any]) -> None:
    first, second, third = seen["read"][:3]
    assert first == {
        "offset": 0,
        "timestamp": "10000",
        "key": "k",
        "value": "plain",
        "headers": {"h": "one", "list": "a,b"},
    }
    assert (second["key"], second["value"]) == (None, None)
    assert (third["key"], third["value"]) == ("", "")
    assert [one["value"] for one in seen["read"][3:]] == [
        *[f"gzip {index}" for index in range(50)],
        "leader only",
        "no answer",
    ]
    assert [one["offset"] for one in seen["read"]] == list(range(55))


def test_gzip_batch_is_stored_as_sent(bootstrap: str, seen: dict[str, Any]) -> None:
    with Connection(bootstrap) as raw:
        codecs = [(batch.codec, batch.record_count) for batch in raw.fetch_all(seen["topic"])]
    assert codecs == [(0, 3), (1, 50), (0, 1), (0, 1)]


def test_administration_sees_the_cluster_topics_and_offsets(bootstrap: str, seen: dict[str, Any]) -> None:
    brokers = {f"{one['host']}:{one['port']}" for one in seen["cluster"]["brokers"]}
    assert brokers == set(bootstrap.split(","))
    assert seen["topic"] in seen["topics"]
    (metadata,) = seen["metadata"]["topics"]
    assert sorted(one["partitionId"] for one in metadata["partitions"]) == [0, 1]
    offsets = {one["partition"]: (one["low"], one["high"]) for one in seen["offsets"]}
    assert offsets == {0: ("0", "55"), 1: ("0", "5")}
    assert {one["partition"]: one["offset"] for one in seen["byTime"]}[0] == "1"
    after = {one["partition"]: (one["low"], one["high"]) for one in seen["offsetsAfterDeletion"]}
    assert after == {0: ("0", "55"), 1: ("3", "5"), 2: ("0", "0")}


def test_settings_are_described(seen: dict[str, Any]) -> None:
    (resource,) = seen["configs"]["resources"]
    assert [(entry["configName"], entry["configValue"]) for entry in resource["configEntries"]] == [
        ("retention.ms", "-1")
    ]
