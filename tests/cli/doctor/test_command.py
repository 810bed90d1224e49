"""``penstock doctor`` on this very machine, and beside a real broker."""

import os
import socket
from pathlib import Path
from typing import Any

import pytest
from tests.broker_process import Server
from tests.cli.terminal import Terminal

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests have variables of their own, which a broker would take for settings."""
    for name in list(os.environ):
        if name.startswith("PENSTOCK_") and name != "PENSTOCK_BOOTSTRAP_SERVER":
            monkeypatch.delenv(name)


def examined(terminal: Terminal, *words: str, code: int = 0) -> dict[str, list[dict[str, Any]]]:
    """Findings by check."""
    answer = terminal.run("doctor", *words, "--json")
    assert answer.code == code, answer.output
    found: dict[str, list[dict[str, Any]]] = {}
    for finding in answer.json():
        found.setdefault(finding["check"], []).append(finding)
    return found


def test_doctor_beside_a_broker_finds_all_it_needs(terminal: Terminal, tmp_path: Path) -> None:
    found = examined(terminal, "--data-dir", str(tmp_path), "--listen", "127.0.0.1:0")

    assert found["port"][0]["level"] == "ok"
    assert [each["level"] for each in found["broker"]] == ["ok"] * len(found["broker"])
    assert "answers" in found["cluster"][0]["text"]
    assert "confluent-kafka" in found["packages"][0]["text"]
    assert any("a flush takes" in each["text"] for each in found["disk"])
    assert list(tmp_path.iterdir()) == []


def test_doctor_prints_a_table_and_counts(terminal: Terminal, tmp_path: Path) -> None:
    lines = terminal.must("doctor", "-d", str(tmp_path), "--listen", "127.0.0.1:0").output.splitlines()

    assert lines[0].split() == ["CHECK", "FINDING", "WHAT", "TO", "DO"]
    assert lines[-1].startswith("0 problems, ")


def test_doctor_of_a_port_that_a_broker_has_says_so(terminal: Terminal, server: Server) -> None:
    found = examined(terminal, "--listen", server.bootstrap.split(",")[0])

    assert found["port"][0]["level"] == "warning"
    assert "a broker that speaks Kafka's protocol answers" in found["port"][0]["text"]


def test_doctor_of_a_port_that_something_else_has_is_a_problem(terminal: Terminal) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.settimeout(10)
        found = examined(terminal, "--listen", f"127.0.0.1:{other.getsockname()[1]}", code=1)

    assert "does not speak Kafka's protocol" in found["port"][0]["text"]
    assert "--listen" in found["port"][0]["advice"]


def test_doctor_of_an_address_of_another_machine_is_a_problem(terminal: Terminal) -> None:
    found = examined(terminal, "--listen", "192.0.2.1:9092", code=1)

    assert "Nobody can listen on 192.0.2.1:9092" in found["port"][0]["text"]


def test_doctor_of_unknown_settings_names_all_of_them(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "server.yaml"
    file.write_text("log.retention.mss: 1\nnum.partitions: 3\n")
    monkeypatch.setenv("PENSTOCK_NUM_PARTITION", "2")

    texts = [each["text"] for each in examined(terminal, "--config", str(file), code=1)["settings"]]
    assert len(texts) == 2
    assert f"log.retention.mss in {file}" in texts[0]
    assert "num.partition in the environment. Did you mean num.partitions?" in texts[1]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("server.yaml", "num.partitions: many\n", "num.partitions"),
        ("server.yaml", "a: [\n", "is not YAML"),
        ("server.ini", "", "must end in one of"),
    ],
)
def test_doctor_of_a_bad_file_says_what_is_wrong(
    terminal: Terminal, tmp_path: Path, name: str, content: str, said: str
) -> None:
    (tmp_path / name).write_text(content)

    found = examined(terminal, "--config", str(tmp_path / name), code=1)
    assert said in found["settings"][0]["text"]


def test_doctor_of_a_cluster_that_is_not_there_is_a_problem(terminal: Terminal, closed_port: int) -> None:
    found = examined(terminal, "--bootstrap-server", f"127.0.0.1:{closed_port}", code=1)

    assert "No broker answers" in found["cluster"][0]["text"]


def test_doctor_of_a_directory_that_a_broker_holds_names_the_process(
    terminal: Terminal, server: Server
) -> None:
    if not (server.data_directory / "LOCK").exists():
        pytest.skip("the broker is one of several, with directories of their own")
    found = examined(terminal, "--data-dir", str(server.data_directory), "--listen", "127.0.0.1:0")

    assert f"held by process {server.pid}" in found["disk"][0]["text"]
