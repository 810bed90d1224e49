"""Storage analysis of real topics, as a client sees them."""

import pytest
from tests.conftest import UniqueName
from tests.gateway.console.asking import get, refusal

from penstock.client import Admin, Producer
from penstock.gateway.server import GatewayServer

START_MS = 1_700_000_000_000


@pytest.fixture(scope="module")
def skewed(bootstrap: str, unique: UniqueName) -> str:
    """A topic of two partitions: 90 messages of one key in the first, 10 of ten keys in the second."""
    topic = unique("skewed")
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topic(topic, partitions=2, config={"retention.ms": "-1"})
    with Producer(bootstrap_servers=bootstrap, compression_type="gzip") as producer:
        for number in range(100):
            is_hot = number < 90
            key = b"hot" if is_hot else f"cold-{number}".encode()
            producer.send(topic, b"x" * 200, key, None, 0 if is_hot else 1, START_MS + number * 60_000)
    return topic


def test_analysis_of_a_small_topic_is_exact(gateway: GatewayServer, skewed: str) -> None:
    told = get(gateway.url, f"storage/{skewed}")
    assert told["sample"] == {
        "messages": 100,
        "offsets": 100,
        "offsets_held": 100,
        "is_whole": True,
        "stopped": None,
    }
    assert [each["messages"] for each in told["partitions"]] == [90, 10]
    assert [each["keys"] for each in told["partitions"]] == [1, 10]
    assert told["keys"]["distinct"] == 11
    assert told["keys"]["top"][0] == {"key": "hot", "messages": 90, "share": 0.9}
    assert told["compression"]["ratio"] > 2
    assert sum(count for _, count in told["size_powers"]) == 100
    assert all(each["stored_bytes"] > 0 for each in told["partitions"])


def test_heat_map_tells_when_which_partition_was_written(gateway: GatewayServer, skewed: str) -> None:
    heat = get(gateway.url, f"storage/{skewed}")["heat"]
    first, second = (row["counts"] for row in heat["rows"])
    assert (sum(first), sum(second)) == (90, 10)
    assert len(first) == heat["columns"] <= 60
    assert first[0] > 0
    assert second[0] == 0
    assert second[-1] > 0


def test_analysis_of_a_part_says_how_much_it_is(gateway: GatewayServer, skewed: str, bootstrap: str) -> None:
    with Producer(bootstrap_servers=bootstrap, linger_ms=0) as producer:
        for _ in range(60):
            producer.send(skewed, b"y", b"hot", None, 0, START_MS).result(10)
    told = get(gateway.url, f"storage/{skewed}", messages=100)
    assert told["sample"]["offsets_held"] == 160
    assert told["sample"]["offsets"] == 60
    assert not told["sample"]["is_whole"]


def test_analysis_of_an_empty_topic_has_no_times(
    gateway: GatewayServer, bootstrap: str, unique: UniqueName
) -> None:
    topic = unique("empty")
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topic(topic, partitions=1)
    told = get(gateway.url, f"storage/{topic}")
    assert told["heat"] is None
    assert told["messages"] == 0
    assert told["sample"]["is_whole"]


def test_sizes_of_all_topics_are_told(gateway: GatewayServer, skewed: str) -> None:
    (told,) = [each for each in get(gateway.url, "storage")["topics"] if each["topic"] == skewed]
    assert told["bytes"] == sum(told["partition_bytes"])
    assert told["largest_bytes"] == max(told["partition_bytes"])


def test_analysis_of_a_topic_that_is_not_there_is_refused(gateway: GatewayServer) -> None:
    assert refusal(gateway.url, "storage/no-such-topic")[0] == 404
