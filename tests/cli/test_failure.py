"""Exit codes are a promise to scripts, so each is pinned here."""

import pytest

from penstock.cli.failure import CommandFailed, ExitCode, exit_code_of, report
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import (
    DirectoryInUseError,
    DiskFullError,
    FlushFailedError,
    InvariantError,
    PenstockError,
    StorageError,
    UsageError,
)
from penstock.wire_client.errors import NotServedError, RefusedError, UnreachableError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CommandFailed("x"), 1),
        (CommandFailed("x", code=ExitCode.USAGE), 2),
        (UsageError("x"), 2),
        (FlushFailedError("x"), 74),
        (StorageError("x"), 1),
        (RefusedError(ErrorCode.GROUP_ID_NOT_FOUND, doing="x"), 1),
        (DirectoryInUseError("x"), 1),
        (InvariantError("x"), 1),
    ],
)
def test_exit_code_of_each_kind_is_stable(error: PenstockError, code: int) -> None:
    assert exit_code_of(error) == code


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        (CommandFailed("Broken.", hint="Mend it."), "Mend it."),
        (DirectoryInUseError("Taken."), "--data-dir"),
        (DiskFullError("Full."), "Free some space"),
        (FlushFailedError("Lost."), "kernel log"),
        (RefusedError(ErrorCode.NON_EMPTY_GROUP, doing="x"), "Stop its members first"),
        (UnreachableError("Nobody there."), "advertised.listeners"),
        (NotServedError("Unknown."), "too old"),
    ],
)
def test_report_error_with_hint_prints_two_lines(
    error: PenstockError, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report(error)

    captured = capsys.readouterr()
    first, second = captured.err.splitlines()
    assert first == f"Error: {error}"
    assert second.startswith("Hint: ")
    assert hint in second
    assert captured.out == ""


def test_report_error_without_hint_prints_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(UsageError("No such thing.")) == ExitCode.USAGE
    assert capsys.readouterr().err == "Error: No such thing.\n"
