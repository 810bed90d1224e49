"""``penstock gateway`` and ``penstock console`` as processes."""

import json
import signal
import socket
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.broker_process import clean_environment

from penstock.cli.gateway.starting import free_listen, parse_listen
from penstock.model.errors import UsageError

SECONDS_MAX = 60.0


@contextmanager
def running(directory: Path, *words: str, **environment: str) -> Iterator[str]:
    """The address that the command prints; it must end well when told to."""
    with (directory / "stderr").open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "penstock", *words],
            cwd=directory,
            env={**clean_environment(), "XDG_STATE_HOME": str(directory / "state"), **environment},
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert " on http://" in line, (directory / "stderr").read_text()
        yield line.split(" on ")[1].strip().rstrip("/")
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS_MAX) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def status(url: str, token: str = "") -> int:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return int(error.code)


def run(directory: Path, *words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "penstock", *words],
        cwd=directory,
        env={**clean_environment(), **environment},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )


@pytest.mark.slow
def test_token_is_made_printed_once_and_kept(tmp_path: Path, bootstrap: str) -> None:
    words = ("gateway", "--bootstrap-server", bootstrap, "--listen", "0.0.0.0:0", "--token-file", "token")
    with running(tmp_path, *words) as url:
        address = url.replace("0.0.0.0", "127.0.0.1")
        token = (tmp_path / "token").read_text().strip()
        assert token in (tmp_path / "stderr").read_text()
        assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600
        assert (status(f"{address}/topics"), status(f"{address}/topics", token)) == (401, 200)
    with running(tmp_path, *words) as url:
        address = url.replace("0.0.0.0", "127.0.0.1")
        assert token not in (tmp_path / "stderr").read_text()
        assert status(f"{address}/topics", token) == 200


@pytest.mark.slow
def test_token_of_the_environment_is_wanted_on_loopback_too(tmp_path: Path, bootstrap: str) -> None:
    token = "a token that nobody guesses"
    words = ("gateway", "--bootstrap-server", bootstrap, "--listen", "127.0.0.1:0")
    with running(tmp_path, *words, PENSTOCK_GATEWAY_TOKEN=token) as url:
        assert (status(f"{url}/cluster"), status(f"{url}/cluster", token)) == (401, 200)
    assert token not in (tmp_path / "stderr").read_text()
    assert not (tmp_path / "state").exists()


@pytest.mark.slow
def test_console_prints_its_address(tmp_path: Path, bootstrap: str) -> None:
    with running(tmp_path, "console", "--bootstrap-server", bootstrap, "--listen", "127.0.0.1:0") as url:
        with urllib.request.urlopen(f"{url}/cluster", timeout=20) as answer:
            assert json.load(answer)["brokers"] >= 1
        assert status(f"{url}/") == 200


def test_console_says_that_nobody_answers(tmp_path: Path, closed_port: int) -> None:
    done = run(tmp_path, "console", "--bootstrap-server", f"127.0.0.1:{closed_port}")

    assert done.returncode == 1
    assert f"No broker answers at 127.0.0.1:{closed_port}" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", ["gateway", "console"])
def test_taken_port_is_refused_with_a_way_out(tmp_path: Path, bootstrap: str, command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        done = run(tmp_path, command, "--bootstrap-server", bootstrap, "--listen", place)

    assert done.returncode == 1
    assert f"The gateway cannot listen on {place}" in done.stderr
    assert "Hint: Choose another address with --listen HOST:PORT; port 0 takes a free one." in done.stderr


def test_short_token_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, "gateway", "--listen", "127.0.0.1:0", PENSTOCK_GATEWAY_TOKEN="short")

    assert done.returncode == 2
    assert "The token has 5 characters" in done.stderr
    assert "short" not in done.stderr


@pytest.mark.parametrize("text", ["8080", "localhost", ":8080", "host:port", "host:٣"])
def test_places_to_listen_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="HOST:PORT"):
        parse_listen(text)


def test_taken_port_gives_way_to_a_free_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        assert free_listen(place) == "127.0.0.1:0"
    assert free_listen(place) == place
