"""Indented JSON: the same tokens, other white space."""

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.test_output import TerminalStream

from penstock.cli.consume.pretty_json import PRETTY_BYTES_MAX, new_painter, pretty_json

DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
).filter(lambda value: isinstance(value, dict | list))


@given(DOCUMENTS, st.booleans())
def test_pretty_of_any_document_is_what_a_printer_makes_of_it(value: object, is_ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii)

    assert pretty_json(text.encode()) == json.dumps(value, ensure_ascii=is_ascii, indent=2)


def test_pretty_keeps_numbers_and_escapes_as_they_were_written() -> None:
    assert pretty_json(b'{ "a":1.10,"b":"\\u00e9\\"","c":1e400,"d":{},"e":[ ]}') == (
        '{\n  "a": 1.10,\n  "b": "\\u00e9\\"",\n  "c": 1e400,\n  "d": {},\n  "e": []\n}'
    )


@pytest.mark.parametrize(
    "value",
    [b"", b"plain", b"12", b'"text"', b"{broken", b"\xff{}", b"[" * 100_000, b"[" + b" " * PRETTY_BYTES_MAX],
    ids=["empty", "text", "number", "string", "broken", "bytes", "deep", "large"],
)
def test_pretty_of_anything_else_is_none(value: bytes) -> None:
    assert pretty_json(value) is None


def test_painter_colours_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    assert new_painter()('{"a": 1}') == '{"a": 1}'

    monkeypatch.setattr(sys, "stdout", TerminalStream())
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    painted = new_painter()('{"a": 1}')
    assert "\x1b[" in painted
