"""Bars."""

import io
import sys

import pytest

from penstock.cli.bars import bar


def use_stream(monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))


@pytest.mark.parametrize(
    ("share", "drawn"), [(0, ""), (0.5, "██"), (1, "████"), (2, "████"), (0.53, "██▏"), (0.0001, "▏")]
)
def test_bar_is_as_long_as_its_share_and_never_nothing_for_something(
    monkeypatch: pytest.MonkeyPatch, share: float, drawn: str
) -> None:
    use_stream(monkeypatch, "utf-8")

    assert bar(share, width=4) == drawn


def test_bar_where_there_are_no_blocks_is_of_number_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    use_stream(monkeypatch, "ascii")

    assert bar(0.6, width=4) == "###"
