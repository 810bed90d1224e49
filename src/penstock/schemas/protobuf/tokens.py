"""The words of a .proto file: names, numbers, texts and signs, without comments."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.schemas.errors import InvalidSchema

_TOKEN = re.compile(
    r"""
      (?P<space>\s+|//[^\n]*|/\*.*?\*/)
    | (?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fF]?)
    | (?P<name>\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)
    | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<sign>[{}\[\]()<>=;,:+\-./])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A word and the line it stands on; of a text, what is between the quotes, spelt as it is there."""

    kind: str
    text: str
    line: int

    def written(self) -> str:
        """As it may stand in a file."""
        return f'"{self.text}"' if self.kind == "text" else self.text


def tokens(text: str) -> Iterator[Token]:
    """The words of a file in order."""
    position, line = 0, 1
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise InvalidSchema(f".proto, line {line}: {text[position : position + 20]!r} is no word.")
        kind, word = found.lastgroup or "", found.group()
        if kind != "space":
            yield Token(kind=kind, text=_inner(word) if kind == "text" else word, line=line)
        line += word.count("\n")
        position = found.end()


def _inner(quoted: str) -> str:
    inner = quoted[1:-1]
    return inner if quoted[0] == '"' else inner.replace('"', '\\"')


class Reader:
    """The words of a file, one after the other."""

    def __init__(self, text: str) -> None:
        self._tokens = list(tokens(text))
        self._next = 0

    def is_at_end(self) -> bool:
        """Whether all words are read."""
        return self._next == len(self._tokens)

    def line(self) -> int:
        """Of the next word, or of the last one at the end."""
        return self._tokens[min(self._next, len(self._tokens) - 1)].line if self._tokens else 1

    def peek(self, ahead: int = 0) -> str:
        """The next word, or one after it, without reading it; nothing at the end."""
        index = self._next + ahead
        return self._tokens[index].text if index < len(self._tokens) else ""

    def take(self) -> Token:
        """The next word."""
        if self.is_at_end():
            raise InvalidSchema(".proto: the file ends too early; is a brace missing?")
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
            raise InvalidSchema(f".proto, line {token.line}: {token.text!r} where {word!r} belongs.")

    def name(self) -> str:
        """A name; any word is one, also those with a meaning elsewhere."""
        return self._of_kind("name").text

    def string(self) -> str:
        """A text; several in a row are one."""
        line = self.line()
        try:
            return self.string_bytes().decode()
        except UnicodeDecodeError:
            raise InvalidSchema(f".proto, line {line}: a text is no UTF-8.") from None

    def string_bytes(self) -> bytes:
        """A text of any bytes; several in a row are one."""
        parts = [unescaped(self._of_kind("text"))]
        while not self.is_at_end() and self._tokens[self._next].kind == "text":
            parts.append(unescaped(self.take()))
        return b"".join(parts)

    def is_at(self, kind: str) -> bool:
        """Whether the next word is of a kind."""
        return not self.is_at_end() and self._tokens[self._next].kind == kind

    def integer(self) -> int:
        """A whole number with or without a sign."""
        sign = -1 if self.take_if("-") else 1
        token = self._of_kind("number")
        try:
            return sign * int(token.text, 8 if re.fullmatch(r"0[0-7]+", token.text) else 0)
        except ValueError:
            raise InvalidSchema(f".proto, line {token.line}: {token.text!r} is no whole number.") from None

    def skip_to(self, end: str) -> list[Token]:
        """The words up to a sign on the same level of braces, and over it."""
        skipped: list[Token] = []
        depth = 0
        while depth or self.peek() != end or self.is_at("text"):
            token = self.take()
            depth += (token.text in "{[(" and token.kind == "sign") - (
                token.text in ")]}" and token.kind == "sign"
            )
            skipped.append(token)
        self.take()
        return skipped

    def _of_kind(self, kind: str) -> Token:
        token = self.take()
        if token.kind != kind:
            raise InvalidSchema(f".proto, line {token.line}: {token.text!r} where a {kind} belongs.")
        return token


_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL
)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def unescaped(token: Token) -> bytes:
    """The bytes that a text stands for."""
    parts, position = [], 0
    for found in _ESCAPE.finditer(token.text):
        parts += [token.text[position : found.start()].encode(), _escape(found, token)]
        position = found.end()
    return b"".join([*parts, token.text[position:].encode()])


def _escape(found: re.Match[str], token: Token) -> bytes:
    hexadecimal, octal, short, long, letter = found.groups()
    if hexadecimal or octal:
        return bytes([int(hexadecimal, 16) if hexadecimal else int(octal, 8) & 0xFF])
    if short or long:
        try:
            return chr(int(short or long, 16)).encode()
        except (ValueError, OverflowError):
            raise InvalidSchema(f".proto, line {token.line}: {found.group()} is no character.") from None
    return _SIMPLE.get(letter, letter).encode()
