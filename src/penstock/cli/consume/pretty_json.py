"""JSON values made readable: indented, and coloured on a terminal.

Only white space is changed. Numbers, escapes and the order of names stay as the writer wrote them, which a
parser and a printer would not promise.
"""

import json
import sys
from collections.abc import Callable, Iterator

Painter = Callable[[str], str]

PRETTY_BYTES_MAX = 1024 * 1024
"""A larger value is printed as it is: nobody reads it anyway."""

_STEP = "  "


def pretty_json(value: bytes) -> str | None:
    """The value over several lines, or None if it is no JSON object or array."""
    if value.lstrip()[:1] not in (b"{", b"[") or len(value) > PRETTY_BYTES_MAX:
        return None
    try:
        text = value.decode()
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    return "".join(_indented(text))


def new_painter() -> Painter:
    """Colours for JSON where standard output is a terminal; otherwise text stays as it is."""
    if not sys.stdout.isatty():
        return str
    from rich.console import Console
    from rich.highlighter import JSONHighlighter

    console, highlight = Console(soft_wrap=True), JSONHighlighter()

    def paint(text: str) -> str:
        with console.capture() as captured:
            console.print(highlight(text), end="")
        return captured.get()

    return paint


def _indented(text: str) -> Iterator[str]:
    depth, is_empty = 0, False
    for token in _tokens(text):
        if token in "}]":
            depth -= 1
            yield token if is_empty else f"\n{_STEP * depth}{token}"
            is_empty = False
            continue
        if is_empty:
            yield f"\n{_STEP * depth}"
            is_empty = False
        if token in "{[":
            depth += 1
            is_empty = True
            yield token
        elif token == ",":
            yield f",\n{_STEP * depth}"
        else:
            yield ": " if token == ":" else token


def _tokens(text: str) -> Iterator[str]:
    """Strings, numbers and words whole, everything else character by character, without white space."""
    position, length = 0, len(text)
    while position < length:
        start, first = position, text[position]
        position += 1
        if first == '"':
            while text[position] != '"':
                position += 2 if text[position] == "\\" else 1
            position += 1
        elif first.isspace():
            continue
        elif first not in "{}[],:":
            while position < length and text[position] not in "{}[],: \t\r\n":
                position += 1
        yield text[start:position]
