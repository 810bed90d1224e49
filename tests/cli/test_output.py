"""Tables: whole lines for programs, fitted ones for people."""

import io
import re
import sys

import pytest

from penstock.cli.output import print_table, working


class TerminalStream(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_table_into_a_pipe_is_aligned_and_never_cut(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("TOPIC", "LAG", "NOTE"), [("orders", 5, ""), ("x" * 300, 1234, "late")], numbers=(1,))

    assert capsys.readouterr().out.splitlines() == [
        "TOPIC" + " " * 297 + " LAG  NOTE",
        "orders" + " " * 296 + "   5",
        "x" * 300 + "  1234  late",
    ]


def test_table_without_rows_is_its_header(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("TOPIC", "PARTITIONS"), [])

    assert capsys.readouterr().out == "TOPIC  PARTITIONS\n"


def test_table_on_a_terminal_is_fitted_to_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = TerminalStream()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", "40")

    print_table(("TOPIC", "LAG"), [("x" * 100, 5), ("[red]", 1234)], numbers=(1,))

    lines = re.sub(r"\x1b\[\d+m", "", screen.getvalue()).splitlines()
    assert max(map(len, lines)) <= 40
    assert "[red]" in screen.getvalue()
    assert sum(line.count("x") for line in lines) == 100


def test_working_is_shown_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with working("Reading"):
        pass
    assert capsys.readouterr() == ("", "")

    screen = TerminalStream()
    monkeypatch.setattr(sys, "stderr", screen)
    with working("Reading"):
        pass
    assert "Reading" in screen.getvalue()
