"""The whole tree of commands, walked: every one helps, has examples, and can print JSON or need not."""

import io
import sys
from typing import Any

import pytest
from tests.meta.test_cli_page import complaint, invocations
from typer.main import get_command

from penstock.cli.main import main
from penstock.cli.serve import option_names
from penstock.cli.tree import COMMANDS, build_app

WITHOUT_JSON: dict[tuple[str, ...], str] = {
    ("completion",): "prints a script for a shell",
    ("gateway",): "runs until it is stopped",
    ("console",): "runs until it is stopped",
    ("schema", "export"): "writes lines of JSON already",
    **{
        ("generate", noun): "writes files for other programs"
        for noun in ("docker", "compose", "prometheus", "grafana", "k8s", "helm", "systemd", "all")
    },
}
"""Commands that have no --json, and why."""


def leaves() -> dict[tuple[str, ...], Any]:
    """Every command that can be run; ``serve`` lives outside of the tree and has none."""
    found: dict[tuple[str, ...], Any] = {}
    for name, command in COMMANDS.items():
        if not command.module:
            found[name,] = None
            continue
        tree: Any = get_command(build_app([name]))
        top = tree.commands[name]
        for verb, leaf in getattr(top, "commands", {"": top}).items():
            found[(name, verb) if verb else (name,)] = leaf
    return found


LEAVES = leaves()
WORDS = list(LEAVES)


def help_of(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main([*words, "--help"])
    assert not ended.value.code
    return capsys.readouterr().out


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_help_of_a_command_has_examples_of_itself(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    text = help_of(words, capsys)

    examples = text.split("Examples:")[1].splitlines()
    assert sum(f"penstock {' '.join(words)}" in line for line in examples) >= 1


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_command_prints_json_or_has_a_reason_not_to(words: tuple[str, ...]) -> None:
    leaf = LEAVES[words]
    names = option_names() if leaf is None else {name for each in leaf.params for name in each.opts}

    assert ("--json" in names) is (words not in WITHOUT_JSON)


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_every_option_and_argument_says_what_it_is_for(words: tuple[str, ...]) -> None:
    leaf = LEAVES[words]
    if leaf is None:
        assert all(option.help for option in option_names().values())
        return
    assert leaf.help
    assert not [each.name for each in leaf.params if not getattr(each, "help", "") and not each.hidden]


@pytest.mark.parametrize("name", [name for name, command in COMMANDS.items() if command.module])
def test_help_of_a_group_lists_its_commands(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = help_of((name,), capsys)

    for words in WORDS:
        if words[0] == name and len(words) > 1:
            assert f"  {words[1]} " in text
    assert "..." not in text.partition("\nCommands:\n")[2]


@pytest.mark.parametrize("name", sorted({words[0] for words in WORDS if len(words) > 1}))
def test_help_of_a_group_ends_with_examples_of_its_commands(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = help_of((name,), capsys).partition("Examples:\n")[2].splitlines()

    assert lines
    for line in lines:
        (words,) = invocations(line)
        assert tuple(words[:2]) in WORDS
        assert words[0] == name
        assert complaint(words) is None


def test_reasons_are_for_commands_that_are_there() -> None:
    assert WITHOUT_JSON.keys() <= LEAVES.keys()


def test_help_fits_where_nothing_but_ascii_can_be_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    for words in WORDS:
        output = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
        monkeypatch.setattr(sys, "stdout", output)
        with pytest.raises(SystemExit):
            main([*words, "--help"])
        output.flush()
