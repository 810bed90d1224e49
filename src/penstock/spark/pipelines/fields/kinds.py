"""What values may be: text, words out of a list, numbers, durations, SQL, schemas, lists and mappings."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from penstock.spark.pipelines.ddl import schema_mistake
from penstock.spark.pipelines.document import Document
from penstock.spark.pipelines.durations import duration_ms
from penstock.spark.pipelines.fields.field import Field, Kind
from penstock.spark.pipelines.problems import Problems, suggestion
from penstock.spark.pipelines.sql_text import unbalanced

_NULL = "tag:yaml.org,2002:null"


@dataclass(frozen=True, slots=True)
class Text:
    """Any text that is not empty."""

    expected: str = "text"
    pattern: str = ""

    def read(self, node: Node, document: Document, problems: Problems) -> str | None:
        """The text."""
        text = scalar_text(node)
        if text is None or not text.strip() or (self.pattern and not re.fullmatch(self.pattern, text)):
            refuse(node, self, document, problems)
            return None
        return text


@dataclass(frozen=True, slots=True)
class Choice:
    """One word out of a list; upper and lower case are the same."""

    words: tuple[str, ...]

    @property
    def expected(self) -> str:
        """The words."""
        return f"one of {', '.join(self.words)}"

    def read(self, node: Node, document: Document, problems: Problems) -> str | None:
        """The word as the table writes it."""
        text = scalar_text(node) or ""
        found = {word.lower(): word for word in self.words}.get(text.lower())
        if found is None:
            refuse(node, self, document, problems, hint=suggestion(text, self.words))
        return found


@dataclass(frozen=True, slots=True)
class Boolean:
    """True or false."""

    expected: str = "true or false"

    def read(self, node: Node, document: Document, problems: Problems) -> bool | None:
        """The truth value."""
        value = {"true": True, "false": False}.get((scalar_text(node) or "").lower())
        if value is None:
            refuse(node, self, document, problems)
        return value


@dataclass(frozen=True, slots=True)
class WholeNumber:
    """A whole number within bounds."""

    lowest: int = 0

    @property
    def expected(self) -> str:
        """With the bound."""
        return f"a whole number of {self.lowest} or more"

    def read(self, node: Node, document: Document, problems: Problems) -> int | None:
        """The number."""
        text = scalar_text(node) or ""
        if not re.fullmatch(r"-?[0-9]{1,18}", text) or int(text) < self.lowest:
            refuse(node, self, document, problems)
            return None
        return int(text)


@dataclass(frozen=True, slots=True)
class Duration:
    """A stretch of time in Spark's words, kept as text; ``words`` are allowed beside it."""

    words: tuple[str, ...] = ()

    @property
    def expected(self) -> str:
        """An example."""
        also = f"{', '.join(self.words)}, or " if self.words else ""
        return f"{also}a duration like '10 seconds', '1 minute' or '1 hour 30 minutes'"

    def read(self, node: Node, document: Document, problems: Problems) -> str | None:
        """The text."""
        text = scalar_text(node) or ""
        if text not in self.words and not duration_ms(text):
            refuse(node, self, document, problems, hint=suggestion(text, self.words, limit=0))
            return None
        return text


@dataclass(frozen=True, slots=True)
class Sql:
    """A piece of SQL, an expression or a query; only its brackets and quotes are looked at here."""

    expected: str = "an SQL expression"

    def read(self, node: Node, document: Document, problems: Problems) -> str | None:
        """The text."""
        text = scalar_text(node)
        if text is None or not text.strip() or not isinstance(node, ScalarNode):
            refuse(node, self, document, problems)
            return None
        if mistake := unbalanced(text):
            problems.add(
                document.place_within(node, mistake.offset), f"The SQL is cut short: {mistake.message}."
            )
            return None
        return text


@dataclass(frozen=True, slots=True)
class Schema:
    """Columns and their types in Spark's words: ``user string, amount double``."""

    expected: str = "columns and types like 'user string, amount double'"

    def read(self, node: Node, document: Document, problems: Problems) -> str | None:
        """The text."""
        text = scalar_text(node)
        if text is None or not text.strip() or not isinstance(node, ScalarNode):
            refuse(node, self, document, problems)
            return None
        if mistake := schema_mistake(text):
            problems.add(document.place_within(node, mistake.offset), mistake.message, hint=mistake.hint)
            return None
        return text


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list; one value alone is a list of one."""

    item: Kind

    @property
    def expected(self) -> str:
        """Of what."""
        return f"a list, each item {self.item.expected}"

    def read(self, node: Node, document: Document, problems: Problems) -> tuple[Any, ...] | None:
        """The values in their order."""
        nodes = node.value if isinstance(node, SequenceNode) else [node]
        if not nodes or node.tag == _NULL:
            refuse(node, self, document, problems)
            return None
        values = tuple(self.item.read(each, document, problems) for each in nodes)
        return None if None in values else values


@dataclass(frozen=True, slots=True)
class MappingOf:
    """Names of the file's own choosing, each with a value of one kind."""

    item: Kind

    @property
    def expected(self) -> str:
        """Of what."""
        return f"a mapping of names, each to {self.item.expected}"

    def read(self, node: Node, document: Document, problems: Problems) -> Mapping[str, Any] | None:
        """The values by name."""
        if not isinstance(node, MappingNode):
            refuse(node, self, document, problems)
            return None
        values = {
            key: self.item.read(value, document, problems) for key, value in entries(node, document, problems)
        }
        return None if None in values.values() else values


@dataclass(frozen=True, slots=True)
class Nested:
    """A mapping with keys of a table of its own."""

    fields: Sequence[Field]
    noun: str

    @property
    def expected(self) -> str:
        """With which keys."""
        return f"a mapping with {', '.join(field.name for field in self.fields)}"

    def read(self, node: Node, document: Document, problems: Problems) -> Mapping[str, Any] | None:
        """The values by name, defaults included."""
        from penstock.spark.pipelines.fields.reading import read_fields

        return read_fields(node, self.fields, document=document, problems=problems, noun=self.noun)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the file that has a reader of its own; the value is its node."""

    expected: str

    def read(self, node: Node, document: Document, problems: Problems) -> Node | None:
        """The node; None, without a word, where nothing stands: an empty part is a part left out."""
        return None if node.tag == _NULL else node


def scalar_text(node: Node) -> str | None:
    """The text of a node as it was written; None for lists, mappings and nothing."""
    return str(node.value) if isinstance(node, ScalarNode) and node.tag != _NULL else None


def entries(node: MappingNode, document: Document, problems: Problems) -> list[tuple[str, Node]]:
    """Keys and values in their order; a key that stands twice is a problem, and the first one counts."""
    found: dict[str, Node] = {}
    for key, value in node.value:
        name = scalar_text(key)
        if name is None:
            problems.add(document.place(key), "A key must be a word.")
        elif name in found:
            problems.add(
                document.place(key), f"The key {name!r} stands here twice.", hint="Remove one of them."
            )
        else:
            found[name] = value
    return list(found.items())


def refuse(node: Node, kind: Kind, document: Document, problems: Problems, *, hint: str = "") -> None:
    """Note that a value is not of its kind."""
    problems.add(document.place(node), f"{_shown(node)} must be {kind.expected}.", hint=hint)


def _shown(node: Node) -> str:
    text = scalar_text(node)
    if text is not None:
        return repr(text if len(text) <= 60 else f"{text[:57]}...")
    if isinstance(node, MappingNode):
        return "A mapping"
    return "A list" if isinstance(node, SequenceNode) else "Nothing"
