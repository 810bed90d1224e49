"""Whose fault it was: every error Penstock raises, in four branches.

::

    PenstockError
    ├── InvariantError          a bug: something that must hold does not; stop what noticed it
    ├── ApiError                a client's mistake: answered with its Kafka error code, and life goes on
    │   └── DecodeError         bytes that are no message of this protocol
    ├── UsageError              a local caller's mistake: a bad option, setting or argument
    └── OperatingError          the world failed us: disk, peer, file
        ├── StorageError
        │   ├── CorruptLogError     bytes on disk are not what was written
        │   ├── DiskFullError       no room; reads go on, writes come back when there is room
        │   └── FlushFailedError    a flush failed: nothing after it can be believed
        └── DirectoryInUseError     another process holds the data directory

Messages name the thing, the value and the limit. Nothing of an error but ``code`` and the text of an
``ApiError`` ever reaches a client.
"""

from penstock.model.error_codes import ErrorCode


class PenstockError(Exception):
    """The root of the tree."""


class InvariantError(PenstockError):
    """A bug. Used instead of ``assert`` where safety depends on it, so that ``-O`` cannot remove it."""


class ApiError(PenstockError):
    """A request cannot be served as asked; ``code`` goes back on the wire."""

    def __init__(self, code: ErrorCode, message: str = "") -> None:
        super().__init__(message or code.name)
        self.code = code
        self.message = message


class DecodeError(ApiError):
    """Bytes that cannot be read as the message they claim to be."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.INVALID_REQUEST, message)


class UsageError(PenstockError, ValueError):
    """A caller on this machine asked for something that makes no sense."""


class OperatingError(PenstockError):
    """The world around us failed; the shell retries, degrades or stops."""


class StorageError(OperatingError):
    """Something went wrong with files."""


class CorruptLogError(StorageError):
    """Bytes on disk differ from what was acknowledged."""


class DiskFullError(StorageError):
    """There is no room for what should be written."""


class FlushFailedError(StorageError):
    """The operating system could not make data durable; what it holds now is unknown."""


class DirectoryInUseError(OperatingError):
    """Another process holds the data directory."""
