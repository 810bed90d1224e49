"""The gateway beside brokers: it comes up, comes back, goes with them, and never harms them."""

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.broker_process import clean_environment, wait_until

from penstock.cli.nodes.gateway_keeper import DEFAULT_LISTEN, chosen_listen
from penstock.wire_client.connection import Address, Connection

SECONDS_MAX = 60.0
CONSOLE_PREFIX = "console on "

WITHOUT_WEB = """
import sys
sys.modules["fastapi"] = None
from penstock.cli.main import main
main(sys.argv[1:])
"""


@contextmanager
def running(
    words: Sequence[str], directory: Path, *, exit_code: int = 0
) -> Iterator["subprocess.Popen[str]"]:
    """A process in its own directory; ends it, and fails if it does not end as it should."""
    environment = {**clean_environment(), "PENSTOCK_GATEWAY": "127.0.0.1:0"}
    with (directory / "stderr").open("w") as stderr:
        process = subprocess.Popen(
            words, cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=stderr, text=True
        )
    assert process.stdout is not None
    try:
        yield process
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS_MAX) == exit_code
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def serve(*words: str) -> list[str]:
    listen = ["serve", "--data-dir", "data", "--listen", "127.0.0.1:0"]
    return [sys.executable, "-m", "penstock", *listen, *words]


def next_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def is_up(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}health", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def children(pid: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == pid:
            found.append(int(path.parent.name))
    return found


def is_alive(pid: int) -> bool:
    """Whether a process that somebody else started runs; nobody may have asked yet how it ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def broker_answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    with Connection(Address(host, int(port))) as connection:
        return not connection.is_closed


@pytest.mark.slow
def test_gateway_comes_up_comes_back_and_goes(tmp_path: Path) -> None:
    with running(serve(), tmp_path) as broker:
        assert next_line(broker).startswith("penstock ready on ")
        url = next_line(broker).removeprefix(CONSOLE_PREFIX)
        assert is_up(url)
        (child,) = children(broker.pid)
        os.kill(child, signal.SIGKILL)
        again = next_line(broker).removeprefix(CONSOLE_PREFIX)
        assert is_up(again)

    assert "the gateway has ended with code -9; the brokers go on" in (tmp_path / "stderr").read_text()
    assert not is_up(again)


@pytest.mark.slow
def test_gateway_ends_when_the_broker_is_killed(tmp_path: Path) -> None:
    with running(serve(), tmp_path, exit_code=-signal.SIGKILL) as broker:
        next_line(broker)
        url = next_line(broker).removeprefix(CONSOLE_PREFIX)
        assert is_up(url)
        (gateway,) = children(broker.pid)
        broker.kill()
        wait_until(lambda: not is_alive(gateway), what="the gateway gone", seconds=15)


@pytest.mark.slow
def test_taken_port_is_told_and_harms_nothing(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        with running(serve("--gateway", place), tmp_path) as broker:
            address = next_line(broker).removeprefix("penstock ready on ")
            stderr = tmp_path / "stderr"
            wait_until(lambda: "no console" in stderr.read_text(), what="a word on it", seconds=30)
            assert broker_answers(address)

    assert f"cannot listen on {place}" in stderr.read_text()
    assert "Hint: Choose another address with --gateway HOST:PORT" in stderr.read_text()


def test_missing_extra_is_told_with_what_to_install(tmp_path: Path) -> None:
    with running([sys.executable, "-c", WITHOUT_WEB, *serve()[3:]], tmp_path) as broker:
        address = next_line(broker).removeprefix("penstock ready on ")
        stderr = tmp_path / "stderr"
        wait_until(lambda: "pip install 'penstock[gateway]'" in stderr.read_text(), what="a word on it")
        assert broker_answers(address)
        assert children(broker.pid) == []


def test_no_gateway_means_none(tmp_path: Path) -> None:
    with running(serve("--no-gateway"), tmp_path) as broker:
        assert next_line(broker).startswith("penstock ready on ")
        assert children(broker.pid) == []


@pytest.mark.slow
def test_cluster_has_one_gateway(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "penstock", "cluster", "up", "--nodes", "2", "--dir", "nodes"]
    with running(words, tmp_path) as cluster:
        assert next_line(cluster).startswith("penstock cluster ready on ")
        url = next_line(cluster).removeprefix(CONSOLE_PREFIX)
        with urllib.request.urlopen(f"{url}cluster", timeout=20) as answer:
            assert b'"brokers":2' in answer.read()
        assert len(children(cluster.pid)) == 3


@pytest.mark.parametrize(
    ("given", "is_off", "variable", "expected"),
    [
        (None, False, None, DEFAULT_LISTEN),
        ("127.0.0.1:1", False, "127.0.0.1:2", "127.0.0.1:1"),
        (None, False, "127.0.0.1:2", "127.0.0.1:2"),
        (None, False, "off", None),
        ("127.0.0.1:1", True, None, None),
    ],
)
def test_option_beats_environment_beats_default(
    monkeypatch: pytest.MonkeyPatch,
    given: str | None,
    is_off: bool,
    variable: str | None,
    expected: str | None,
) -> None:
    if variable is None:
        monkeypatch.delenv("PENSTOCK_GATEWAY", raising=False)
    else:
        monkeypatch.setenv("PENSTOCK_GATEWAY", variable)

    assert chosen_listen(given, is_off=is_off) == expected
