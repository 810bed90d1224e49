"""Who starts when, and on which ports."""

import json
import socket
from pathlib import Path

import pytest

from penstock.cli.failure import CommandFailed
from penstock.cli.nodes.plan import PlannedNode, numbered_directories, present_count, start_order
from penstock.cli.nodes.ports import PORTS_FILE, consecutive_ports, free_ports, read_ports, remember_ports
from penstock.model.errors import UsageError


def make_known(directory: Path) -> None:
    """A directory that belongs to a cluster."""
    directory.mkdir(parents=True)
    (directory / "meta.properties").touch()


def planned(parent: Path, count: int, *, host: str = "127.0.0.1") -> list[PlannedNode]:
    return [
        PlannedNode(name=f"node-{n}", directory=parent / f"node-{n}", host=host, port=9000 + n)
        for n in range(1, count + 1)
    ]


def joins(node_words: tuple[str, ...]) -> str | None:
    """Whom a broker is told to join."""
    return node_words[node_words.index("--join") + 1] if "--join" in node_words else None


def order(nodes: list[PlannedNode], *join: str) -> list[list[tuple[str, str | None]]]:
    """The stages: names, and who joins whom."""
    return [[(node.name, joins(node.words)) for node in stage] for stage in start_order(nodes, join=join)]


def test_new_cluster_is_founded_by_the_first_and_joined_in_turn(tmp_path: Path) -> None:
    assert order(planned(tmp_path, 3)) == [
        [("node-1", None)],
        [("node-2", "127.0.0.1:9001")],
        [("node-3", "127.0.0.1:9001,127.0.0.1:9002")],
    ]


def test_known_cluster_starts_at_once_since_nobody_is_ready_alone(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        make_known(tmp_path / f"node-{number}")

    assert order(planned(tmp_path, 3)) == [
        [
            ("node-1", "127.0.0.1:9002,127.0.0.1:9003"),
            ("node-2", "127.0.0.1:9001,127.0.0.1:9003"),
            ("node-3", "127.0.0.1:9001,127.0.0.1:9002"),
        ]
    ]


def test_cluster_that_grows_or_was_interrupted_starts_those_it_knows_first(tmp_path: Path) -> None:
    make_known(tmp_path / "node-2")

    assert order(planned(tmp_path, 3)) == [
        [("node-2", None)],
        [("node-1", "127.0.0.1:9002")],
        [("node-3", "127.0.0.1:9002,127.0.0.1:9001")],
    ]


def test_unit_that_joins_another_cluster_founds_none(tmp_path: Path) -> None:
    assert order(planned(tmp_path, 2), "db1:9092") == [
        [("node-1", "db1:9092")],
        [("node-2", "127.0.0.1:9001,db1:9092")],
    ]


@pytest.mark.parametrize(
    ("host", "listens", "joined"),
    [
        ("0.0.0.0", "0.0.0.0:9001", "127.0.0.1:9001"),
        ("", ":9001", "127.0.0.1:9001"),
        ("::", "[::]:9001", "[::1]:9001"),
    ],
)
def test_broker_on_every_interface_is_joined_on_the_loopback(
    tmp_path: Path, host: str, listens: str, joined: str
) -> None:
    (first,), (second,) = start_order(planned(tmp_path, 2, host=host))

    assert first.words[first.words.index("--listen") + 1] == listens
    assert joins(second.words) == joined


def test_directories_are_numbered_and_counted(tmp_path: Path) -> None:
    make_known(tmp_path / "node-1")
    make_known(tmp_path / "node-x")
    (tmp_path / "node-7").mkdir()

    assert present_count(tmp_path, "node") == 1
    assert [path.name for path in numbered_directories(tmp_path, "node", 2)] == ["node-1", "node-2"]


def test_directory_with_more_brokers_than_asked_for_is_refused(tmp_path: Path) -> None:
    make_known(tmp_path / "node-3")

    with pytest.raises(CommandFailed, match="holds the data of 3 brokers, not of 2"):
        numbered_directories(tmp_path, "node", 2)


def test_directory_of_a_single_broker_is_refused(tmp_path: Path) -> None:
    make_known(tmp_path / "data")

    with pytest.raises(CommandFailed, match="holds the data of a single broker"):
        numbered_directories(tmp_path / "data", "node", 2)


def test_free_ports_are_remembered_and_more_are_added(tmp_path: Path) -> None:
    with free_ports(tmp_path, "127.0.0.1", 2) as first:
        assert len(set(first)) == 2
        remember_ports(tmp_path, first)
    with free_ports(tmp_path, "127.0.0.1", 3) as more:
        assert more[:2] == first
        assert len(set(more)) == 3
    with free_ports(tmp_path, "127.0.0.1", 1) as fewer:
        assert fewer == first[:1]


def test_free_port_that_is_held_can_be_listened_on_by_a_broker(tmp_path: Path) -> None:
    with free_ports(tmp_path, "127.0.0.1", 1) as (port,), socket.create_server(("127.0.0.1", port)) as broker:
        assert broker.getsockname()[1] == port


def test_free_ports_of_a_host_that_is_not_here_fail(tmp_path: Path) -> None:
    with (
        pytest.raises(CommandFailed, match=r"Cannot listen on 192\.0\.2\.1"),
        free_ports(tmp_path, "192.0.2.1", 1),
    ):
        pass


@pytest.mark.parametrize("text", ["{", "[]", '{"ports": "x"}', '{"ports": [null]}'])
def test_remembered_ports_that_cannot_be_read_fail_with_a_hint(tmp_path: Path, text: str) -> None:
    (tmp_path / PORTS_FILE).write_text(text)

    with pytest.raises(CommandFailed) as failed:
        read_ports(tmp_path)
    assert "Remove it" in failed.value.hint


def test_ports_are_kept_in_a_file_of_their_own(tmp_path: Path) -> None:
    remember_ports(tmp_path / "new", [9000, 9001])

    assert json.loads((tmp_path / "new" / PORTS_FILE).read_text()) == {"version": 1, "ports": [9000, 9001]}
    assert [path.name for path in (tmp_path / "new").iterdir()] == [PORTS_FILE]


def test_ports_that_cannot_be_kept_fail(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(CommandFailed, match="Cannot write"):
        remember_ports(tmp_path / "file" / "below", [9000])


def test_consecutive_ports_end_where_ports_end() -> None:
    assert consecutive_ports(65_534, 2) == [65_534, 65_535]
    with pytest.raises(UsageError, match="There are no 3 ports from 65534 on"):
        consecutive_ports(65_534, 3)
