"""``penstock logs`` on files, and on a real broker that feeds its topic."""

import json
import logging
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.broker.logging.logged import entry
from tests.broker_process import Server, wait_until
from tests.cli.terminal import COMMAND_SECONDS_MAX, Terminal

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def feeding_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("feeding"), settings={"server.log.topic.enable": True}).start()
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def cluster(
    feeding_server: Server, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Terminal:
    terminal = Terminal(feeding_server.bootstrap, capsys, monkeypatch)
    wait_until(
        lambda: terminal.run("logs", "search", "started").output, what="the first entries", every_seconds=0.3
    )
    return terminal


@pytest.fixture
def files(tmp_path: Path) -> Path:
    entries = (
        entry("peer fails", level=logging.WARNING, partition="orders-3", reason="\x1b[2J gone"),
        entry("started", partitions=["orders-1"]),
    )
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "penstock.jsonl").write_bytes(b"".join(each.line(2) + b"\n" for each in entries))
    return tmp_path


@pytest.mark.parametrize(
    ("words", "events"),
    [
        ((), ["peer fails", "started"]),
        (("FAILS",), ["peer fails"]),
        (("fail.|x", "--regex"), ["peer fails"]),
        (("--level", "warn"), ["peer fails"]),
        (("--field", "partition=3"), ["peer fails"]),
        (("--field", "partition=orders-1"), ["started"]),
        (("--event", "start"), ["started"]),
        (("--component", "quorum", "--broker", "2"), ["peer fails", "started"]),
        (("--broker", "1"), []),
        (("--since", "2024-10-04T12:00:00.001"), []),
        (("--until", "2024-10-04T12:00:00.001"), ["peer fails", "started"]),
        (("-n", "1"), ["started"]),
    ],
)
def test_files_are_searched_without_a_broker(
    terminal: Terminal, files: Path, words: tuple[str, ...], events: list[str]
) -> None:
    answer = terminal.must("logs", "search", *words, "--dir", str(files), "--json")

    assert [json.loads(line)["event"] for line in answer.output.splitlines()] == events


def test_line_for_people_cannot_move_their_cursor(terminal: Terminal, files: Path) -> None:
    (line,) = terminal.must("logs", "search", "peer", "--dir", str(files)).output.splitlines()

    assert line.startswith("2024-10-04 12:00:00.000  warning     2  quorum ")
    assert "peer fails  partition=orders-3  reason='\\x1b[2J gone'" in line


def test_reader_that_has_had_enough_is_no_failure(terminal: Terminal, files: Path) -> None:
    with terminal.spawn("logs", "search", "--dir", str(files)) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.wait(COMMAND_SECONDS_MAX) == 0
        assert process.stderr.read() == b""


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--level", "loud"), "Level 'loud' is none of"),
        (("(", "--regex"), "no regular expression of RE2"),
        (("--since", "yesterday"), "--since 'yesterday' is no time"),
        (("--field", "partition"), "--field"),
        (("--follow", "--until", "1m"), "--follow goes on for ever"),
        (("--dir", "absent"), "absent holds no log files"),
    ],
)
def test_search_that_makes_no_sense_is_refused(
    terminal: Terminal, words: tuple[str, ...], complaint: str
) -> None:
    answer = terminal.run("logs", "search", *words)

    assert answer.code == 2
    assert complaint in answer.errors


def test_cluster_that_feeds_no_topic_is_told_so(terminal: Terminal) -> None:
    answer = terminal.run("logs", "search", "x")

    assert answer.code == 1
    assert "has no topic __penstock_logs" in answer.errors
    assert "server.log.topic.enable" in answer.errors


def test_search_of_the_topic_finds_the_election_of_the_only_broker(cluster: Terminal) -> None:
    answer = cluster.must("logs", "search", "--component", "raft", "--field", "after=leader", "--json")

    (line,) = answer.output.splitlines()
    found = json.loads(line)
    assert (found["event"], found["cause"]) == ("leads the quorum", "a majority voted for it")


def test_since_and_until_bound_a_search_of_the_topic(cluster: Terminal) -> None:
    assert not cluster.must("logs", "search", "--since", "0s").output
    assert not cluster.must("logs", "search", "--until", "1h").output
    assert cluster.must("logs", "search", "--since", "1h", "--until", "0s").output


def test_limit_keeps_the_newest_and_says_so(cluster: Terminal) -> None:
    answer = cluster.must("logs", "search", "-n", "1", "--json")

    assert len(answer.output.splitlines()) == 1
    assert "--limit N shows more" in answer.errors


def talk_nonsense(server: Server) -> None:
    """A broker says when it hangs up on somebody who speaks another protocol."""
    with socket.create_connection((server.host, server.port)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        connection.recv(1)


def test_tail_goes_on_with_what_comes_until_it_is_interrupted(
    cluster: Terminal, feeding_server: Server
) -> None:
    process = cluster.spawn("logs", "tail", "connection closed", "--json")
    assert process.stdout is not None
    talk_nonsense(feeding_server)
    line = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)

    assert json.loads(line)["event"] == "connection closed"
    assert process.returncode == 0


def test_tail_notices_a_reader_that_has_had_enough_while_nothing_comes(cluster: Terminal) -> None:
    with cluster.spawn("logs", "tail", "never said", "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            process.stdout.close()
            assert process.wait(COMMAND_SECONDS_MAX) == 0
            assert process.stderr.read() == b""
        finally:
            process.kill()
