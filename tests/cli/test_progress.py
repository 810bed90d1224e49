"""Watching the cluster at work."""

import sys

import pytest
from tests.cli.test_output import TerminalStream

from penstock.cli import progress


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "POLL_SECONDS", 0.001)


def test_watch_looks_until_all_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    told = iter([2, 1, 0, None])

    assert progress.watch("Moving", lambda: next(told), total=2, seconds_max=30) is None
    assert capsys.readouterr() == ("", "")


def test_watch_whose_time_is_over_tells_what_is_left() -> None:
    assert progress.watch("Moving", lambda: 7, total=9, seconds_max=0) == 7


def test_watch_shows_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = TerminalStream()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "80")
    told = iter([5, 3, None])

    progress.watch("Moving partitions", lambda: next(told), total=4, seconds_max=30)
    assert "Moving partitions" in screen.getvalue()
    assert "/4" in screen.getvalue()


def test_advancing_adds_up_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = TerminalStream()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "80")

    with progress.advancing("Reading", 4096, unit="bytes") as advance:
        advance(1024)
        advance(3072)
    assert "4.0/4.0 KiB" in screen.getvalue()


def test_advancing_is_silent_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.advancing("Reading", 10) as advance:
        advance(10)

    assert capsys.readouterr() == ("", "")
