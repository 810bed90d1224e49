"""Expressions as people write them, made ready for Spark: ``json:user.name`` reads a field of a JSON value.

Spark knows such paths too, but leaves it to the reader to say of which type a field is, and ends the whole
query if one record has another. Here a field is text, unless it is compared with a number or with true or
false, or a type is named behind it (``json:amount::decimal(10,2)``); a record whose field is of another type
has none. Everything else is Spark SQL, untouched.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

COLUMN = "json"

_NAME = r"[A-Za-z_]\w*"
_BRACKETS = r"""\[\d+\]|\['[^']*'\]|\["[^"]*"\]"""
_TOKEN = re.compile(
    rf"""'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `[^`]*` | --[^\n]* | /\*.*?\*/
    | (?<![\w.:]){COLUMN}:(?P<path>(?:{_NAME}|{_BRACKETS})(?:\.{_NAME}|{_BRACKETS})*)
      (?:\s*::\s*(?P<type>{_NAME}(?:\(\s*\d+\s*(?:,\s*\d+\s*)?\))?))?""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)

_COMPARISON = r"(?:<=>|<=|>=|<>|!=|==|=|<|>)"
_LITERAL = r"(?P<literal>[-+]?(?:\d[\d.]*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])|true\b|false\b)"
_AFTER = re.compile(
    rf"\s*(?:{_COMPARISON}|(?:NOT\s+)?BETWEEN\b|(?:NOT\s+)?IN\s*\()\s*{_LITERAL}", re.IGNORECASE
)
_BEFORE = re.compile(rf"(?<![\w.]){_LITERAL}\s*{_COMPARISON}\s*$", re.IGNORECASE)

_EXACT_DIGITS = 15
"""A double keeps so many; whoever compares with more wants all of them."""


class _Piece(NamedTuple):
    start: int
    """Where it begins in the rewritten text."""
    original: int
    """Where it begins in what was written."""
    is_same: bool
    """Whether it is as it was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """An expression for Spark, and the way back to what was written."""

    written: str
    text: str
    pieces: tuple[_Piece, ...]

    def position(self, index: int) -> int:
        """Where in ``written`` stands what is at ``index`` in ``text``."""
        for piece in reversed(self.pieces):
            if piece.start <= index:
                within = index - piece.start if piece.is_same else 0
                return min(piece.original + within, len(self.written))
        return 0


def rewrite(written: str) -> Expression:
    """The expression with its paths into JSON spelled out."""
    texts: list[str] = []
    pieces: list[_Piece] = []
    length = 0
    for start, text, is_same in _parts(written):
        pieces.append(_Piece(start=length, original=start, is_same=is_same))
        texts.append(text)
        length += len(text)
    return Expression(written=written, text="".join(texts), pieces=tuple(pieces))


def _parts(written: str) -> Iterator[tuple[int, str, bool]]:
    done = 0
    for match in _TOKEN.finditer(written):
        if match["path"] is None:
            continue
        yield done, written[done : match.start()], True
        wanted = match["type"] or _type(written, match)
        yield match.start(), _field(match["path"], wanted), False
        done = match.end()
    yield done, written[done:], True


def _field(path: str, wanted: str) -> str:
    root = path if path.startswith("[") else f".{path}"
    quoted = f"${root}".replace("\\", "\\\\").replace("'", "\\'")
    return f"try_variant_get({COLUMN}, '{quoted}', '{wanted}')"


def _type(written: str, match: re.Match[str]) -> str:
    beside = _AFTER.match(written, match.end()) or _BEFORE.search(written[: match.start()])
    if beside is None:
        return "string"
    literal = beside["literal"].lower()
    if literal in ("true", "false"):
        return "boolean"
    if "e" in literal or sum(map(str.isdigit, literal)) <= _EXACT_DIGITS:
        return "double"
    return f"decimal(38,{len(literal.partition('.')[2])})"
