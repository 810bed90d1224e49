"""How a command fails: one sentence, one hint, one exit code that scripts may rely on."""

import sys
from collections.abc import Mapping
from enum import IntEnum

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import (
    DirectoryInUseError,
    DiskFullError,
    FlushFailedError,
    PenstockError,
    UsageError,
)
from penstock.wire_client.errors import NotServedError, RefusedError, UnreachableError

_REFUSAL_HINTS: Mapping[int, str] = {
    ErrorCode.GROUP_ID_NOT_FOUND: "See what there is with `penstock group list`.",
    ErrorCode.NON_EMPTY_GROUP: "Stop its members first; see who they are with "
    "`penstock group describe GROUP --members`.",
    ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC: "Members still read the topic; stop them first.",
    ErrorCode.TRANSACTIONAL_ID_NOT_FOUND: "See what there is with `penstock txn list`.",
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: "The broker is still reading its log; try again in a moment.",
    ErrorCode.COORDINATOR_NOT_AVAILABLE: "Some broker is not up yet; try again in a moment.",
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "See what there is with `penstock topic list`.",
    ErrorCode.BROKER_ID_NOT_REGISTERED: "See what there is with `penstock broker list`.",
    ErrorCode.NOT_CONTROLLER: "No controller is elected at present; try again in a moment.",
    ErrorCode.INVALID_REPLICA_ASSIGNMENT: "See which brokers there are with `penstock broker list`.",
    ErrorCode.INVALID_CONFIG: "See names, values and what they mean with `penstock config describe KIND NAME "
    "--docs`.",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "Ask an administrator for rights on the group.",
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "Ask an administrator for rights on the id.",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "This needs an administrator's rights on the cluster.",
}
"""What to do about error codes that mean the same whichever command met them."""


class ExitCode(IntEnum):
    """The codes every command keeps to."""

    OK = 0
    FAILED = 1
    """It could not be done, or there is something wrong with what was looked at."""
    USAGE = 2
    """What was typed makes no sense; nothing was done."""
    FLUSH_FAILED = 74
    """``EX_IOERR``: the disk could not make data durable; a supervisor should not restart blindly."""
    INTERRUPTED = 130
    """Ctrl-C before it was done. Commands that go on until then end with OK: ``serve``, ``consume``, ..."""


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
        case RefusedError():
            return _REFUSAL_HINTS.get(error.code, "")
        case UnreachableError():
            return "The cluster itself names this address; check its advertised.listeners and the network."
        case NotServedError():
            return "The broker is too old for this command, or has the feature turned off."
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
