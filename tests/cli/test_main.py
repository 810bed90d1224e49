"""The command tree: what is loaded, what every help text holds, how mistakes are answered."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest
from tests.cli.test_tree import WORDS

from penstock import __version__
from penstock.cli.main import main
from penstock.cli.tree import COMMANDS

HEAVY = ("rich", "confluent_kafka", "asyncio", "penstock.broker", "penstock.bench", "yaml")
"""What an overview has no use for, and what makes a broker start late."""


class Answer(NamedTuple):
    """What a command left behind."""

    code: object
    output: str
    errors: str


class Penstock(Protocol):
    """Runs a command line in this process: starting one for each of these tests would take too long."""

    def __call__(self, *words: str) -> Answer: ...


@pytest.fixture
def penstock(capsys: pytest.CaptureFixture[str]) -> Penstock:
    def run(*words: str) -> Answer:
        with pytest.raises(SystemExit) as ended:
            main(words)
        captured = capsys.readouterr()
        return Answer(ended.value.code or 0, captured.out, captured.err)

    return run


def test_help_overview_lists_every_command(penstock: Penstock) -> None:
    text = penstock("--help").output

    for name, command in COMMANDS.items():
        assert any(line.split() == [name, *command.summary.split()] for line in text.splitlines())


def test_reference_has_a_section_for_every_command_and_no_other() -> None:
    reference = Path(__file__).parents[2] / "docs" / "reference" / "commands.md"
    lines = reference.read_text().splitlines()
    titles = [line.split()[2:] for line in lines if line.startswith("## penstock ")]

    assert [tuple(word for word in title if word.islower()) for title in titles] == WORDS


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["version"],
        ["topic", "--help"],
        ["group", "--help"],
        ["txn", "--help"],
        ["cluster", "--help"],
        ["broker", "--help"],
        ["reassign", "--help"],
        ["leader", "--help"],
        ["storage", "--help"],
        ["config", "--help"],
        ["doctor", "--help"],
        ["produce", "--help"],
        ["consume", "--help"],
        ["completion", "bash"],
        ["serve", "--help"],
    ],
    ids=" ".join,
)
def test_command_loads_only_its_own_module(words: list[str]) -> None:
    program = (
        "import sys\nfrom penstock.cli.main import main\n"
        f"try: main({words!r})\nexcept SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=30)

    loaded = set(run.stderr.decode().split())
    assert not loaded.intersection(HEAVY)
    others = {
        command.module or "penstock.cli.serve" for name, command in COMMANDS.items() if name not in words
    }
    assert not loaded.intersection(others)


def test_serve_never_loads_typer() -> None:
    program = (
        "import sys\nfrom penstock.cli.main import main\n"
        "try: main(['serve', '--help'])\nexcept SystemExit: pass\n"
        "assert 'typer' not in sys.modules"
    )

    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL, timeout=30)


@pytest.mark.parametrize("words", [["version"], ["--version"]], ids=" ".join)
def test_version_prints_name_and_number(penstock: Penstock, words: list[str]) -> None:
    assert penstock(*words).output == f"penstock {__version__}\n"


def test_version_json_holds_the_number(penstock: Penstock) -> None:
    assert json.loads(penstock("version", "--json").output)["penstock"] == __version__


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["topci"], "No such command 'topci'"),
        (["topic", "list", "--nonsense"], "No such option: --nonsense"),
        (["consume"], "Missing argument 'TOPIC'"),
        (["consume", "t", "-n", "0"], "'--count'"),
        (["consume", "t", "-f", "%q"], "unknown field '%q'"),
        (["consume", "t", "--offset", "x"], "'beginning', 'end'"),
        (["produce", "t", "--acks", "2"], "'2' is not one of"),
        (["produce", "t", "-k", ""], "key separator is empty"),
        (["topic", "alter", "t"], "nothing to alter"),
        (["topic", "alter", "", "-p", "2"], "name of a topic is empty"),
        (["topic", "describe", "t", ""], "name of a topic is empty"),
        (["topic", "delete", ""], "name of a topic is empty"),
        (["topic", "create", "t", "-c", "retention.ms"], "not of the form KEY=VALUE"),
        (["topic", "list", "--bootstrap-server", "nowhere"], "not of the form HOST:PORT"),
        (["topic", "list", "--bootstrap-server", "127.0.0.1:99999"], "not of the form HOST:PORT"),
        (["topic", "create", "t", "-p", "99999999999"], "should be less than or equal to"),
        (["topic", "create", "t", "-r", "99999999999"], "should be less than or equal to"),
        (["topic", "alter", "t", "-p", "99999999999"], "should be less than or equal to"),
        (["topic", "add-partitions", "t", "--to", "99999999999"], "should be less than or equal to"),
        (["produce", "t", "--partition", "99999999999"], "should be less than or equal to"),
        (["produce", "t", "-H", "\udcff=bytes that are no text"], "is no name of a header"),
        (["consume", "t", "-o", "99999999999999999999"], "larger than any offset"),
        (["consume", "t", "-o", "@-5"], "is no time like"),
        (["consume", "t", "--since", "@99999999999999999999"], "is no time like"),
        (["group", "list", "--state", "fine"], "'fine' is not one of"),
        (["group", "list", "--bootstrap-server", "nowhere"], "not of the form HOST:PORT"),
        (["group", "reset-offsets", "g", "--all-topics"], "Give exactly one of --to-earliest"),
        (
            ["group", "reset-offsets", "g", "--all-topics", "--to-latest", "--shift-by", "-5"],
            "--to-latest and --shift-by exclude each other",
        ),
        (["group", "reset-offsets", "g", "--to-latest"], "Give either --topic"),
        (
            ["group", "reset-offsets", "g", "--to-latest", "--all-topics", "--topic", "t"],
            "Give either --topic",
        ),
        (["group", "reset-offsets", "g", "--topic", "t:x", "--to-latest"], "TOPIC:0,1,2"),
        (["group", "reset-offsets", "g", "--all-topics", "--to-datetime", "noon"], "no time like"),
        (["group", "reset-offsets", "g", "--all-topics", "--by-duration", "P1Y"], "no duration like"),
        (["group", "delete-offsets", "g"], "Missing option '--topic'"),
        (["txn", "list", "--running-longer-than", "long"], "no duration like"),
        (["txn", "abort"], "Give either transactional ids"),
        (["txn", "abort", "id", "--topic", "t"], "Give either transactional ids"),
        (["txn", "abort", "--topic", "t", "--partition", "0"], "Give either transactional ids"),
        (["topic", "add-partitions", "t"], "Give either --to or --by"),
        (["topic", "add-partitions", "t", "--to", "4", "--by", "2"], "Give either --to or --by"),
        (["broker", "describe", "x"], "'BROKER'"),
        (["broker", "decommission", "1", "--timeout", "soon"], "no duration like"),
        (["reassign", "plan", "--brokers", "1,b"], "no list of numbers"),
        (["reassign", "run", "nowhere.json"], "Cannot read nowhere.json"),
        (["reassign", "run", "plan.json", "--throttle", "fast"], "no rate like"),
        (["reassign", "status", "nowhere.json"], "Cannot read nowhere.json"),
        (["reassign", "cancel", "nowhere.json"], "Cannot read nowhere.json"),
        (["leader", "elect", "--unclean"], "name the partitions with --topic"),
        (["leader", "elect", "--topic", "t:x"], "TOPIC:0,1,2"),
        (["cluster", "up", "--nodes", "0"], "'--nodes'"),
        (["cluster", "up", "--set", "novalue"], "not of the form KEY=VALUE"),
        (["cluster", "up", "--set", "log.retention.mss=1"], "log.retention.mss"),
        (["cluster", "up", "--set", "node.id=4"], "cannot all have the same node.id"),
        (["cluster", "up", "--port", "65535"], "There are no 3 ports from 65535 on"),
        (["serve", "--workers", "0"], "no number from 1"),
        (["serve", "--workers", "2", "--listen", "127.0.0.1:65535"], "There are no 2 ports from 65535 on"),
        (["serve", "--set", "novalue"], "not of the form KEY=VALUE"),
        (["serve", "--set", "log.retention.mss=1"], "log.retention.mss"),
        (["serve", "--listen", "nowhere"], "nowhere"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistake_on_the_command_line_exits_with_2_and_says_which(
    penstock: Penstock, words: list[str], said: str
) -> None:
    answer = penstock(*words)

    assert answer.code == 2
    assert said in answer.errors
    assert answer.output == ""


@pytest.mark.parametrize(
    "words",
    [
        ["topic", "list"],
        ["topic", "add-partitions", "t", "--to", "2"],
        ["produce", "t"],
        ["consume", "t"],
        ["group", "list"],
        ["txn", "list"],
        ["cluster", "status"],
        ["broker", "list"],
        ["broker", "describe", "1"],
        ["broker", "decommission", "1"],
        ["reassign", "plan"],
        ["reassign", "status"],
        ["reassign", "cancel"],
        ["leader", "elect"],
        ["config", "describe", "topic", "t"],
        ["config", "set", "topic", "t", "retention.ms=1"],
        ["storage", "analyze"],
    ],
    ids=" ".join,
)
def test_broker_that_is_not_there_exits_with_1_and_a_hint(
    penstock: Penstock, words: list[str], closed_port: int
) -> None:
    answer = penstock(*words, "--bootstrap-server", f"127.0.0.1:{closed_port}")

    assert answer.code == 1
    error, hint = answer.errors.splitlines()
    assert error == f"Error: No broker answers at 127.0.0.1:{closed_port}: connection refused."
    assert "penstock serve" in hint


@pytest.mark.parametrize("words", [["topic", "list"], ["group", "list"]], ids=" ".join)
def test_host_that_no_name_can_be_is_told_like_one_that_is_not_there(
    penstock: Penstock, words: list[str]
) -> None:
    answer = penstock(*words, "--bootstrap-server", f"{'a' * 70}:9092")

    assert answer.code == 1
    error, _ = answer.errors.splitlines()
    assert error == f"Error: No broker answers at {'a' * 70}:9092: there is no such name."


# As processes.


def spawn(*words: str, stdout: int = subprocess.PIPE) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [str(Path(sys.executable).with_name("penstock")), *words],
        stdout=stdout,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.slow
def test_process_interrupted_before_it_was_done_exits_with_130() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with spawn("group", "list", "--bootstrap-server", address) as process:
            client, _ = silent.accept()
            with client:
                client.recv(1)
                process.send_signal(signal.SIGINT)
                _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in errors


@pytest.mark.slow
@pytest.mark.parametrize("words", [["version"], ["__complete", "topic", ""]], ids=" ".join)
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["at the end", "at once"])
def test_process_whose_reader_is_gone_ends_quietly(
    words: list[str], unbuffered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    reading, writing = os.pipe()
    os.close(reading)
    with spawn(*words, stdout=writing) as process:
        _, errors = process.communicate(timeout=30)
    os.close(writing)

    assert errors == b""
