"""Whether a schema in Spark's words can be read: ``user string, tags array<string>, at struct<x: int>``.

Only Spark parses schemas; this finds misspelt types and missing commas before Spark is started.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.spark.pipelines.problems import suggestion
from penstock.spark.pipelines.sql_text import TextMistake

TYPES = (
    *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "string", "binary"),
    *("date", "time", "timestamp", "timestamp_ntz", "timestamp_ltz", "interval", "variant"),
    *("byte", "short", "integer", "long", "real", "dec", "numeric", "char", "varchar", "void"),
    *("array", "map", "struct"),
)
_TOKEN = re.compile(r"\s+|`(?:[^`]|``)+`|'(?:[^'\\]|\\.)*'|\w+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class _Column:
    """A column, and from where to where its type stands."""

    name: str
    start: int
    end: int


class _Mistaken(Exception):
    def __init__(self, offset: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.mistake = TextMistake(offset, message, hint)


def schema_mistake(text: str) -> TextMistake | None:
    """The first thing wrong with a schema; None if it looks right."""
    try:
        _columns(text)
    except _Mistaken as found:
        return found.mistake
    return None


def column_names(text: str) -> tuple[str, ...]:
    """The columns of a schema that looks right, in their order."""
    return tuple(column.name for column in _columns(text))


def column_types(text: str) -> dict[str, str]:
    """The types of the columns of a schema that looks right, without what else is said of them."""
    return {column.name: text[column.start : column.end] for column in _columns(text)}


def _columns(text: str) -> "list[_Column]":
    words = [_Word(each[0], each.start()) for each in _TOKEN.finditer(text) if not each[0].isspace()]
    return list(_Reader(words, len(text)).columns(closing=""))


class _Reader:
    def __init__(self, words: list[_Word], length: int) -> None:
        self._words = words
        self._length = length
        self._position = 0

    def columns(self, *, closing: str) -> Iterator[_Column]:
        while True:
            name = self._take("a column's name")
            if not re.fullmatch(r"\w+|`.*`", name.text):
                raise _Mistaken(name.offset, f"There should be a column's name in place of {name.text!r}.")
            if self._peek() == ":":
                self._position += 1
            first = self._position
            self._type(name)
            last = self._words[self._position - 1]
            self._modifiers()
            yield _Column(name.text.strip("`"), self._words[first].offset, last.offset + len(last.text))
            if self._peek() == closing:
                return
            self._expect(",", after=f"the type of {name.text!r}")

    def _type(self, column: _Word) -> None:
        word = self._take(f"the type of {column.text!r}")
        lowered = word.text.lower()
        if lowered not in TYPES:
            raise _Mistaken(
                word.offset,
                f"{word.text!r} is no type of Spark.",
                suggestion(word.text, TYPES) or "Types are string, bigint, double, timestamp and the like.",
            )
        if lowered in ("array", "map", "struct"):
            self._parameters(lowered, word)
        elif self._peek() == "(":
            while self._peek() not in (")", ""):
                self._position += 1
            self._expect(")", after=f"the size of {word.text!r}")

    def _parameters(self, kind: str, word: _Word) -> None:
        self._expect("<", after=f"{word.text!r}")
        if kind == "struct":
            for _ in self.columns(closing=">"):
                pass
        else:
            self._type(word)
            if kind == "map":
                self._expect(",", after="the type of the map's keys")
                self._type(word)
        self._expect(">", after=f"the types of {word.text!r}")

    def _modifiers(self) -> None:
        while self._peek().upper() in ("NOT", "NULL"):
            self._position += 1
        if self._peek().upper() == "COMMENT":
            self._position += 2

    def _peek(self) -> str:
        return self._words[self._position].text if self._position < len(self._words) else ""

    def _take(self, wanted: str) -> _Word:
        if self._position >= len(self._words):
            raise _Mistaken(self._length, f"The schema ends where {wanted} should follow.")
        self._position += 1
        return self._words[self._position - 1]

    def _expect(self, text: str, *, after: str) -> None:
        if self._peek() != text:
            offset = self._words[self._position].offset if self._peek() else self._length
            raise _Mistaken(offset, f"There should be a {text!r} after {after}.")
        self._position += 1
