"""Renders a Helm chart as far as ours goes: values, conditions, loops, and the few functions that it uses.

It refuses what it does not know, so that the chart cannot outgrow it unnoticed. Where a real ``helm`` is
installed another test holds both against each other.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

_ACTION = re.compile(r"(\s*)\{\{(-?)\s*(.*?)\s*\}\}")
_TOKEN = re.compile(r'"[^"]*"|[()|]|[^\s()|]+')


def to_yaml(value: Any) -> str:
    return str(yaml.safe_dump(value, sort_keys=True)).rstrip("\n")


def nindent(spaces: int, text: str) -> str:
    return "\n" + "\n".join(" " * spaces + line for line in text.split("\n"))


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "default": lambda fallback, value: value or fallback,
    "gt": lambda left, right: left > right,
    "int": int,
    "nindent": nindent,
    "or": lambda left, right: left or right,
    "printf": lambda form, *values: form % values,
    "toYaml": to_yaml,
    "until": lambda end: list(range(end)),
}


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean."""

    names: Mapping[str, Any]

    def with_names(self, **more: Any) -> "Scope":
        return Scope({**self.names, **more})

    def value(self, expression: str) -> Any:
        """Of a pipeline: the value of each part is the last argument of the next."""
        result: list[Any] = []
        for part in _parts(_TOKEN.findall(expression)):
            result = [self._call(iter([*part]), result)]
        return result[0]

    def _call(self, tokens: Iterator[str], last: list[Any]) -> Any:
        values: list[Any] = []
        for token in tokens:
            if token == ")":
                break
            values.append(self._call(tokens, []) if token == "(" else self._word(token))
        first, *arguments = [*values, *last]
        return first(*arguments) if callable(first) else first

    def _word(self, token: str) -> Any:
        if token.startswith('"'):
            return token[1:-1]
        if token.isdigit():
            return int(token)
        if token in FUNCTIONS:
            return FUNCTIONS[token]
        if token.startswith("$."):
            found: Any = self.names
            for name in token[2:].split("."):
                found = found[name]
            return found
        return self.names[token]


def _parts(tokens: list[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token == "|":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def render(template: str, names: Mapping[str, Any]) -> str:
    """A template's text; ``names`` has Values, Release and Chart."""
    pieces = _pieces(template)
    return "".join(_body(pieces, Scope(names)))


def _pieces(template: str) -> Iterator[tuple[str, str]]:
    """Texts and actions in turn, without the space that an action swallows."""
    end = 0
    for match in _ACTION.finditer(template):
        yield "text", template[end : match.start()] + ("" if match[2] else match[1])
        yield "action", match[3]
        end = match.end()
    yield "text", template[end:]


def _body(pieces: Iterator[tuple[str, str]], scope: Scope) -> Iterator[str]:
    for kind, text in pieces:
        if kind == "text":
            yield text
            continue
        word, _, rest = text.partition(" ")
        if word == "end":
            return
        if word in ("if", "with", "range"):
            inner = list(_until_end(pieces))
            for each in _scopes(word, rest, scope):
                yield from _body(iter(inner), each)
        else:
            yield str(scope.value(text))


def _until_end(pieces: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    depth = 1
    for kind, text in pieces:
        if kind == "action":
            depth += (text.split(" ")[0] in ("if", "with", "range")) - (text == "end")
        if not depth:
            return
        yield kind, text
    raise ValueError("an end is missing")


def _scopes(word: str, rest: str, scope: Scope) -> Iterator[Scope]:
    """How often a block is written, and what names mean in it."""
    if word == "range":
        names, _, expression = rest.partition(" := ")
        many = scope.value(expression)
        for each in sorted(many.items()) if isinstance(many, dict) else ((each,) for each in many):
            yield scope.with_names(**dict(zip(names.split(", "), each, strict=True)))
    elif value := scope.value(rest):
        yield scope.with_names(**{".": value}) if word == "with" else scope
