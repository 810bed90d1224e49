"""The words of a .proto file: names, numbers, texts and signs, without comments."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.spark.registry.errors import SchemaUnsupportedError

_TOKEN = re.compile(
    r"""
      (?P<space>\s+|//[^\n]*|/\*.*?\*/)
    | (?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fF]?)
    | (?P<name>\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)
    | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<sign>[{}\[\]()<>=;,:+\-./])
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A word and the line it stands on; of a text, what is between the quotes."""

    kind: str
    text: str
    line: int


def tokens(text: str) -> Iterator[Token]:
    """The words of a file in order."""
    position, line = 0, 1
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise SchemaUnsupportedError(
                f".proto, line {line}: {text[position : position + 20]!r} is no word."
            )
        kind, word = found.lastgroup or "", found.group()
        if kind != "space":
            yield Token(kind=kind, text=word[1:-1] if kind == "text" else word, line=line)
        line += word.count("\n")
        position = found.end()


class Reader:
    """The words of a file, one after the other."""

    def __init__(self, text: str) -> None:
        self._tokens = list(tokens(text))
        self._next = 0

    def is_at_end(self) -> bool:
        """Whether all words are read."""
        return self._next == len(self._tokens)

    def peek(self, ahead: int = 0) -> str:
        """The next word, or one after it, without reading it; nothing at the end."""
        index = self._next + ahead
        return self._tokens[index].text if index < len(self._tokens) else ""

    def take(self) -> Token:
        """The next word."""
        if self.is_at_end():
            raise SchemaUnsupportedError(".proto: the file ends too early; is a brace missing?")
        self._next += 1
        return self._tokens[self._next - 1]

    def take_if(self, *words: str) -> str:
        """The next word if it is one of these, else nothing."""
        if not self.is_at_end() and self._tokens[self._next].kind != "text" and self.peek() in words:
            return self.take().text
        return ""

    def expect(self, word: str) -> None:
        """The next word must be this one."""
        token = self.take()
        if token.text != word:
            raise SchemaUnsupportedError(f".proto, line {token.line}: {token.text!r} where {word!r} belongs.")

    def name(self) -> str:
        """A name; any word is one, also those with a meaning elsewhere."""
        return self._of_kind("name").text

    def string(self) -> str:
        """A text; several in a row are one."""
        parts = [self._of_kind("text").text]
        while not self.is_at_end() and self._tokens[self._next].kind == "text":
            parts.append(self.take().text)
        return "".join(parts)

    def integer(self) -> int:
        """A whole number with or without a sign."""
        sign = -1 if self.take_if("-") else 1
        token = self._of_kind("number")
        try:
            return sign * int(token.text, 8 if re.fullmatch(r"0[0-7]+", token.text) else 0)
        except ValueError:
            raise SchemaUnsupportedError(
                f".proto, line {token.line}: {token.text!r} is no whole number."
            ) from None

    def skip_to(self, end: str) -> list[str]:
        """The words up to a sign on the same level of braces, and over it."""
        skipped, depth = [], 0
        while depth or self.peek() != end:
            token = self.take()
            depth += (token.text in "{[(" and token.kind == "sign") - (
                token.text in ")]}" and token.kind == "sign"
            )
            skipped.append(token.text)
        self.take()
        return skipped

    def _of_kind(self, kind: str) -> Token:
        token = self.take()
        if token.kind != kind:
            raise SchemaUnsupportedError(f".proto, line {token.line}: {token.text!r} where a {kind} belongs.")
        return token
