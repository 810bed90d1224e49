"""A filter's text in pieces: words, quoted texts, fields, paths into JSON, comparisons, brackets.

Whatever is no field, no path and no comparison is text to look for, so that what people paste just works:
``http://x?a=b`` is one word. Only a word that looks like a comparison of an unknown field is refused, since
it would look for something else than was meant.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from penstock.gateway.console.filters.errors import FilterError

_OPERATOR = r"(?:!=|==|<=|>=|[:=<>~])"
_QUOTED = r'"(?:[^"\\]|\\.)*"' + r"|'(?:[^'\\]|\\.)*'"
_BRACKETS = rf"\[(?:\d+|\*|{_QUOTED})\]"
_SKIPPED = re.compile(r"\s*")
_PIECE = re.compile(
    rf"""(?P<open>\() | (?P<close>\))
    | (?P<path>\$(?:key)?(?:\.[^\s.\[\]()"'=<>!:~]+|{_BRACKETS})*)(?=[\s)=<>!:~]|$)
    | (?P<field>(?:key|value|partition|offset|timestamp|size)(?=\s*{_OPERATOR})
        |header(?:s)?(?:\.[^\s\[\]()"'=<>!:~]+|\[(?:{_QUOTED})\]))
    | (?P<operator>{_OPERATOR})
    | (?P<quoted>{_QUOTED})
    | (?P<word>[^\s()]+)""",
    re.VERBOSE | re.IGNORECASE,
)
_LITERAL = re.compile(rf"(?P<quoted>{_QUOTED})|(?P<word>[^\s()]+)")
_LIKE_A_COMPARISON = re.compile(rf"[\w.\[\]]+{_OPERATOR}(?<!:)\S+|[A-Za-z_][\w.]*:[^/\s].*")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class Kind(StrEnum):
    """What a piece is."""

    OPEN = "open"
    CLOSE = "close"
    PATH = "path"
    FIELD = "field"
    OPERATOR = "operator"
    QUOTED = "quoted"
    WORD = "word"


class Token(NamedTuple):
    """A piece of a filter; quotation marks are taken off."""

    kind: Kind
    text: str
    position: int


def tokens(text: str) -> Iterator[Token]:
    """The pieces of a filter, in order."""
    position, expects_literal, follows_operand = _start(text), False, False
    while position < len(text):
        found = (_LITERAL if expects_literal else _PIECE).match(text, position)
        if found is None or found.lastgroup is None:
            raise FilterError(f"{text[position]!r} does not belong here", position=position)
        token = Token(Kind(found.lastgroup), _plain(found), position)
        if not expects_literal:
            _check(token, follows_operand=follows_operand)
        yield token
        expects_literal = token.kind is Kind.OPERATOR
        follows_operand = token.kind in (Kind.PATH, Kind.FIELD)
        position = _start(text, found.end())


def unquoted(text: str) -> str:
    """A quoted text without its marks and escapes."""
    return _ESCAPE.sub(r"\1", text[1:-1])


def _start(text: str, position: int = 0) -> int:
    found = _SKIPPED.match(text, position)
    return found.end() if found else position


def _plain(found: re.Match[str]) -> str:
    return unquoted(found[0]) if found.lastgroup == "quoted" else found[0]


def _check(token: Token, *, follows_operand: bool) -> None:
    if token.kind is Kind.OPERATOR and not follows_operand:
        raise FilterError(
            f"{token.text!r} needs a field before it: key, value, header.NAME, $.path.in.json, partition, "
            "offset, timestamp or size; put it in quotation marks to look for the text",
            position=token.position,
        )
    if token.kind is Kind.WORD and _LIKE_A_COMPARISON.fullmatch(token.text):
        _refuse_comparison(token)


def _refuse_comparison(token: Token) -> None:
    name = re.split(_OPERATOR, token.text, maxsplit=1)[0]
    raise FilterError(
        f"There is no field {name!r}; write $.{name} for a field of JSON values, or put {token.text!r} in "
        "quotation marks to look for the text",
        position=token.position,
    )
