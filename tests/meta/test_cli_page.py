"""The page on the command line shows commands that exist, and all exit codes."""

import importlib.util
import re
import shlex
from types import ModuleType
from typing import Any

import pytest
from tests.meta.source_tree import ROOT
from typer.main import get_command

from penstock.cli.failure import ExitCode
from penstock.cli.serve import option_names
from penstock.cli.tree import COMMANDS, build_app

PAGE = (ROOT / "docs" / "cli.md").read_text()
README = (ROOT / "README.md").read_text()


@pytest.fixture(scope="module")
def screens() -> ModuleType:
    specification = importlib.util.spec_from_file_location("screens", ROOT / "docs" / "screens.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def invocations(line: str) -> list[list[str]]:
    """The words behind each ``penstock`` of a shell command."""
    words = shlex.split(line, comments=True)
    found: list[list[str]] = []
    for number, word in enumerate(words):
        if word == "penstock" and (number == 0 or words[number - 1] in ("|", "&&", ";")):
            rest = words[number + 1 :]
            ends = [place for place, each in enumerate(rest) if each in ("|", "&&", ";", ">", "<")]
            found.append(rest[: min(ends, default=len(rest))])
    return found


def complaint(words: list[str]) -> str | None:
    """What is wrong with a command; None if it is there with all its options."""
    if words[0] == "__complete":
        return None
    if words[0] not in COMMANDS:
        return f"there is no command {words[0]}"
    options = {word.partition("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)}
    if not COMMANDS[words[0]].module:
        return _unknown(options, set(option_names()))
    tree: Any = get_command(build_app(words[:1]))
    command = tree.commands[words[0]]
    if hasattr(command, "commands"):
        if words[1] not in command.commands:
            return f"there is no command {words[0]} {words[1]}"
        command = command.commands[words[1]]
    return _unknown(options, {name for each in command.params for name in (*each.opts, *each.secondary_opts)})


def _unknown(options: set[str], known: set[str]) -> str | None:
    unknown = options - known - {"--help", "-h"}
    return f"no option {', '.join(sorted(unknown))}" if unknown else None


def test_every_command_of_the_page_exists_with_its_options(screens: ModuleType) -> None:
    shown = [words for line in screens.commands(PAGE) for words in invocations(line)]

    assert len(shown) > 20
    assert not {" ".join(words): problem for words in shown if (problem := complaint(words))}


def test_every_command_of_the_readme_exists_with_its_options() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    shown = [words for block in blocks for line in block.splitlines() for words in invocations(line)]

    assert len(shown) > 10
    assert not {" ".join(words): problem for words in shown if (problem := complaint(words))}


def test_every_screen_of_the_page_was_filled() -> None:
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL):
        assert any(not line.startswith("$ ") for line in block.splitlines()), block


def test_exit_codes_of_the_page_are_those_of_the_code() -> None:
    told = re.findall(r"^\| (\d+) \| (\w+) \|", PAGE, re.MULTILINE)

    assert told == [(str(code.value), code.name) for code in ExitCode]


@pytest.mark.parametrize(
    ("line", "is_wrong"),
    [
        ("penstock topic list --json", False),
        ("penstock topic lsit", True),
        ("penstock nonsense", True),
        ("echo x | penstock produce t --nonsense", True),
        ("penstock serve --listen 127.0.0.1:0", False),
        ("penstock serve --lisden 127.0.0.1:0", True),
    ],
)
def test_wrong_commands_are_noticed(line: str, is_wrong: bool) -> None:
    (words,) = invocations(line)

    assert (complaint(words) is not None) is is_wrong
