"""What may follow the words that were typed: commands, options, choices, names, files.

The tree is asked, as ``--help`` asks it: only the command that was typed is loaded. What an argument or the
value of an option may be is told by its type or, where a cluster has to be asked, by its metavariable.
"""

import inspect
import os
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple, get_args, get_type_hints

from penstock.cli.completion.names import Noun, known_names
from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER

FILES = ":files"
"""Asks the shell to complete names of files."""

_BOOTSTRAP_OPTION = "--bootstrap-server"


class Candidate(NamedTuple):
    """A word that may stand there, and what it means."""

    word: str
    meaning: str = ""


class Typed(NamedTuple):
    """The words before the unfinished one, sorted out."""

    command: Any
    """The command or group that they lead to."""
    positionals: tuple[str, ...]
    awaiting: Any
    """The option whose value comes next; None if none does."""


def print_candidates(words: Sequence[str]) -> None:
    """Answer a shell."""
    for candidate in candidates(words):
        print(f"{candidate.word}\t{candidate.meaning}" if candidate.meaning else candidate.word)


def candidates(words: Sequence[str]) -> list[Candidate]:
    """What the last of ``words``, which may be empty, can become."""
    unfinished = words[-1] if words else ""
    found = _possible(list(words[:-1]), unfinished)
    return [each for each in found if each.word.startswith(unfinished) or each.word == FILES]


def _possible(before: list[str], unfinished: str) -> Iterator[Candidate]:
    from penstock.cli.tree import COMMANDS

    if not before:
        yield from (Candidate(name, command.summary) for name, command in COMMANDS.items())
    elif before[0] == "serve":
        yield from _serve_options(before, unfinished)
    elif before[0] in COMMANDS:
        typed = _follow(_command(before[0]), before[1:])
        if typed is not None:
            yield from _next_words(typed, before, unfinished)


def _command(name: str) -> Any:
    from typer.main import get_command

    from penstock.cli.tree import build_app

    tree: Any = get_command(build_app([name]))
    return tree.commands[name]


def _follow(command: Any, words: Iterable[str]) -> Typed | None:
    """Where the words lead; None if they lead nowhere."""
    positionals: list[str] = []
    awaiting = None
    for word in words:
        if awaiting is not None:
            awaiting = None
        elif word.startswith("-") and word != "-":
            option = _option(command, word.partition("=")[0])
            awaiting = None if option is None or option.is_flag or "=" in word else option
        elif hasattr(command, "commands"):
            if word not in command.commands:
                return None
            command = command.commands[word]
        else:
            positionals.append(word)
    return Typed(command, tuple(positionals), awaiting)


def _next_words(typed: Typed, before: Sequence[str], unfinished: str) -> Iterator[Candidate]:
    if typed.awaiting is not None:
        yield from _values(typed.awaiting, typed, before)
    elif unfinished.startswith("-"):
        for option in _options(typed.command):
            yield from (Candidate(name, _first_sentence(option.help)) for name in _names(option))
        yield Candidate("--help", "Show what it does, with examples.")
    elif hasattr(typed.command, "commands"):
        for name, command in typed.command.commands.items():
            yield Candidate(name, _first_sentence(command.help))
    elif argument := _argument(typed):
        yield from _values(argument, typed, before)


def _options(command: Any) -> Iterator[Any]:
    return (each for each in command.params if each.param_type_name == "option" and not each.hidden)


def _option(command: Any, name: str) -> Any:
    return next((each for each in _options(command) if name in (*each.opts, *each.secondary_opts)), None)


def _names(option: Any) -> list[str]:
    """Its long names, or whatever it has."""
    every = [*option.opts, *option.secondary_opts]
    return [name for name in every if name.startswith("--")] or every


def _argument(typed: Typed) -> Any:
    """The argument that comes next; the last one may take any number."""
    arguments = [each for each in typed.command.params if each.param_type_name == "argument"]
    if len(typed.positionals) < len(arguments):
        return arguments[len(typed.positionals)]
    return arguments[-1] if arguments and arguments[-1].nargs == -1 else None


def _values(parameter: Any, typed: Typed, before: Sequence[str]) -> Iterator[Candidate]:
    choices = _choices(parameter, typed.command)
    noun = _noun(str(parameter.metavar or ""), typed)
    if choices:
        yield from map(Candidate, choices)
    elif noun is not None:
        already = {*typed.positionals}
        yield from (Candidate(each) for each in known_names(noun, _bootstrap(before)) if each not in already)
    elif any(each in str(parameter.metavar or "") for each in ("FILE", "DIR")):
        yield Candidate(FILES)


def _choices(parameter: Any, command: Any) -> list[str]:
    """What the type that the command's function declares allows, if it is one of few words."""
    declared = [get_type_hints(inspect.unwrap(command.callback)).get(parameter.name)]
    while declared:
        part = declared.pop()
        if inspect.isclass(part) and issubclass(part, Enum):
            return [str(each.value) for each in part]
        declared.extend(get_args(part))
    return []


def _noun(metavar: str, typed: Typed) -> Noun | None:
    if metavar.startswith("[NAME]") and typed.positionals:
        kind = typed.positionals[0]
        return Noun(kind) if kind in (Noun.TOPIC, Noun.BROKER) and len(typed.positionals) == 1 else None
    bare = metavar.strip("[].").partition("[")[0]
    return Noun(bare.lower()) if bare.lower() in {*Noun} else None


def _bootstrap(words: Sequence[str]) -> str:
    """The cluster that the command would talk to."""
    for number, word in enumerate(words):
        if word.startswith(f"{_BOOTSTRAP_OPTION}="):
            return word.partition("=")[2]
        if word == _BOOTSTRAP_OPTION and number + 1 < len(words):
            return words[number + 1]
    return os.environ.get("PENSTOCK_BOOTSTRAP_SERVER", DEFAULT_BOOTSTRAP_SERVER)


def _serve_options(before: Sequence[str], unfinished: str) -> Iterator[Candidate]:
    from penstock.cli.serve import option_names

    options = option_names()
    if before[-1] in options and options[before[-1]].takes_path:
        yield Candidate(FILES)
    elif unfinished.startswith("-"):
        yield from (Candidate(name, option.help) for name, option in options.items() if name.startswith("--"))


def _first_sentence(text: str | None) -> str:
    line = " ".join((text or "").split("\n\n")[0].split())
    return line.partition(". ")[0].rstrip(".")
