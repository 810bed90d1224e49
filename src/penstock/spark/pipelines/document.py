"""A YAML file as a tree whose every node knows its line and column.

The tree is PyYAML's own, composed but not constructed: values stay text, so ``on`` and ``no`` remain words
and numbers keep the form they were written in. ``${NAME}`` and ``${NAME:-default}`` are taken from the
environment in every value, so that passwords need not stand in a file.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.representer import SafeRepresenter

from penstock.spark.pipelines.problems import Place, Problems

_VARIABLE = re.compile(r"\$\{([A-Z_][A-Z0-9_]*)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class Document:
    """Where nodes come from: a file and its text, or nothing for values made by a program."""

    file: str
    text: str = ""
    _lines: list[str] = field(default_factory=list)

    def place(self, node: Node) -> Place:
        """Where a node begins."""
        mark = node.start_mark
        return Place(self.file) if mark is None else Place(self.file, mark.line + 1, mark.column + 1)

    def place_within(self, node: ScalarNode, offset: int) -> Place:
        """Where a character of a node's text stands; the node's beginning for text that YAML has folded."""
        mark = node.start_mark
        if mark is None or node.style == ">":
            return self.place(node)
        before = node.value[:offset]
        line, column = before.count("\n"), offset - (before.rfind("\n") + 1)
        if node.style == "|":
            number = mark.line + 1 + line
            return Place(self.file, number + 1, self._indent(number) + column + 1)
        if "\n" in node.value or node.end_mark.line != mark.line:
            return self.place(node)
        return Place(self.file, mark.line + 1, mark.column + (1 if node.style else 0) + column + 1)

    def _indent(self, number: int) -> int:
        if not self._lines:
            self._lines.extend(self.text.split("\n"))
        line = self._lines[number] if number < len(self._lines) else ""
        return len(line) - len(line.lstrip(" "))


def compose(document: Document, problems: Problems, *, environment: Mapping[str, str]) -> MappingNode | None:
    """The root of a file; None, and a problem, if it is no YAML or no mapping."""
    try:
        root: Node | None = yaml.compose(document.text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = Place(document.file) if mark is None else Place(document.file, mark.line + 1, mark.column + 1)
        problems.add(place, f"This is no YAML: {error.problem or error.context}.")
        return None
    except yaml.YAMLError as error:
        problems.add(Place(document.file), f"This is no YAML: {error}.")
        return None
    if not isinstance(root, MappingNode):
        problems.add(
            Place(document.file, 1, 1),
            "A pipeline file is a mapping.",
            hint="Begin it with `name:`; `penstock pipeline init` writes a file to start from.",
        )
        return None
    return root if _Values(document, problems, environment).fill(root) else None


def node_of(value: Any) -> Node:
    """A node for a value made by a program, so that it is checked like one of a file."""
    plain = [*value] if isinstance(value, tuple) else value
    node: Node = SafeRepresenter().represent_data(plain)
    return node


class _Values:
    """Puts what the environment holds into values; keys stay as they are."""

    def __init__(self, document: Document, problems: Problems, environment: Mapping[str, str]) -> None:
        self._document = document
        self._problems = problems
        self._environment = environment
        self._done: set[int] = set()
        self._open: set[int] = set()

    def fill(self, node: Node) -> bool:
        """Into every value below ``node``, once; False, and a problem, if an alias stands within itself."""
        if id(node) in self._open:
            self._problems.add(
                self._document.place(node),
                "What stands here contains itself.",
                hint="Take the alias out that names it.",
            )
            return False
        if id(node) in self._done:  # An alias of it stands elsewhere too.
            return True
        self._open.add(id(node))
        is_whole = all([self.fill(below) for below in _below(node)])
        if isinstance(node, ScalarNode) and "${" in node.value:
            node.value = self._filled(node)
        self._open.remove(id(node))
        self._done.add(id(node))
        return is_whole

    def _filled(self, node: ScalarNode) -> str:
        def replaced(match: re.Match[str]) -> str:
            value: str | None = self._environment.get(match[1], match[2])
            if value is None:
                self._problems.add(
                    self._document.place_within(node, match.start()),
                    f"The environment has no variable {match[1]}.",
                    hint=f"Set it, or give a default: ${{{match[1]}:-value}}.",
                )
                return match[0]
            return value

        return _VARIABLE.sub(replaced, node.value)


def _below(node: Node) -> list[Node]:
    """The values that a list or a mapping holds."""
    if isinstance(node, MappingNode):
        return [value for _, value in node.value]
    return list(node.value) if isinstance(node, SequenceNode) else []
