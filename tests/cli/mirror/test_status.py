"""``penstock mirror`` without Spark: how far copies are behind, and wishes that cannot be fulfilled."""

from collections.abc import Iterator

import pytest
from tests.cli.terminal import Terminal

from penstock.client import Producer
from penstock.spark.mirror.access import Access
from penstock.spark.mirror.clusters import Clusters
from penstock.spark.mirror.offset_map import MirroredPartition, OffsetMap
from penstock.spark.mirror.sync_points import Copied
from penstock.testing import Broker


@pytest.fixture
def east() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


@pytest.fixture
def west() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


@pytest.fixture
def words(east: Broker, west: Broker) -> tuple[str, ...]:
    return ("--from", east.bootstrap_servers, "--to", west.bootstrap_servers)


@pytest.fixture
def terminal(east: Broker, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Terminal:
    return Terminal(east.bootstrap_servers, capsys, monkeypatch)


def test_lag_is_shown_for_each_partition_and_in_all(
    terminal: Terminal, east: Broker, west: Broker, words: tuple[str, ...]
) -> None:
    east.create_topic("orders", 2)
    with Producer(bootstrap_servers=east.bootstrap_servers) as producer:
        producer.send_batch(("orders", b"1", None, None, number % 2) for number in range(20))
    nothing = terminal.must("mirror", "status", *words).output
    assert nothing == f"Nothing of {east.bootstrap_servers} is mirrored to {west.bootstrap_servers}.\n"
    with Clusters.connect(
        source=Access(bootstrap_servers=words[1]), target=Access(bootstrap_servers=words[3])
    ) as clusters:
        source_id = clusters.source.cluster_id
    names = [MirroredPartition(source_id, "orders", number, "east.orders") for number in (0, 1)]
    with OffsetMap(Access(bootstrap_servers=west.bootstrap_servers)) as offset_map:
        offset_map.begin([*names, MirroredPartition(source_id, "gone", 0, "gone")])
        offset_map.extend({names[0]: Copied(0, 7, 7, 8)})

    lines = terminal.must("mirror", "status", *words).output.splitlines()
    document = terminal.must("mirror", "status", *words, "--json").json()

    assert lines[0].split() == ["TOPIC", "PARTITION", "COPY", "MIRRORED", "TO", "END", "LAG", "SINCE"]
    assert lines[1].split()[:6] == ["orders", "0", "east.orders", "7", "10", "3"]
    assert lines[2].split()[:6] == ["orders", "1", "east.orders", "0", "10", "10"]
    assert lines[3] == "13 offsets behind in all"
    assert document["lag"] == 13
    assert [each["lag"] for each in document["partitions"]] == [3, 10]


def test_cluster_is_not_compared_with_itself(terminal: Terminal, east: Broker) -> None:
    address = east.bootstrap_servers
    answer = terminal.run("mirror", "status", "--from", address, "--to", address)

    assert answer.code == 1
    assert "are the same cluster" in answer.errors


@pytest.mark.parametrize(
    ("wishes", "complaint"),
    [
        ((), "Name the topics to mirror"),
        (("--topic", "a", "--topics", "b"), "and not both"),
        (("--topic", "a", "--rename", "east."), "must have {topic} in it once"),
        (("--topics", "("), "no regular expression"),
        (("--topic", "a", "--every", "often"), "--every"),
    ],
)
def test_wishes_that_mean_nothing_are_refused_before_anything_starts(
    terminal: Terminal, words: tuple[str, ...], wishes: tuple[str, ...], complaint: str
) -> None:
    answer = terminal.run("mirror", "run", *words, *wishes)

    assert answer.code == 2
    assert complaint in answer.errors
