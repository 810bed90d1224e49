"""How a command fails: one sentence, one hint, one exit code that scripts may rely on."""

import sys
from enum import IntEnum

from penstock.model.errors import (
    DirectoryInUseError,
    DiskFullError,
    FlushFailedError,
    PenstockError,
    UsageError,
)


class ExitCode(IntEnum):
    """The codes every command keeps to."""

    OK = 0
    FAILED = 1
    USAGE = 2
    FLUSH_FAILED = 74
    """``EX_IOERR``: the disk could not make data durable; a supervisor should not restart blindly."""


class CommandFailed(PenstockError):
    """A command could not do what was asked; ``hint`` says what to try next."""

    def __init__(self, message: str, *, hint: str = "", code: ExitCode = ExitCode.FAILED) -> None:
        super().__init__(message)
        self.hint = hint
        self.code = code


def exit_code_of(error: PenstockError) -> ExitCode:
    """The exit code an error of ours ends the process with."""
    match error:
        case CommandFailed():
            return error.code
        case UsageError():
            return ExitCode.USAGE
        case FlushFailedError():
            return ExitCode.FLUSH_FAILED
        case _:
            return ExitCode.FAILED


def hint_of(error: PenstockError) -> str:
    """What the person at the terminal may do about ``error``; empty when we know nothing better."""
    match error:
        case CommandFailed():
            return error.hint
        case DirectoryInUseError():
            return "Stop the other broker, or choose another directory with --data-dir."
        case DiskFullError():
            return "Free some space, or choose another directory with --data-dir."
        case FlushFailedError():
            return "Check the disk and the kernel log before starting again."
        case _:
            return ""


def report(error: PenstockError) -> ExitCode:
    """Tell standard error about ``error`` and return the code to exit with."""
    print(f"Error: {error}", file=sys.stderr)
    if hint := hint_of(error):
        print(f"Hint: {hint}", file=sys.stderr)
    return exit_code_of(error)
