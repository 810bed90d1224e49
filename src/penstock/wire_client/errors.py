"""What may go wrong between a program and a cluster.

::

    WireClientError
    ├── UnreachableError        nobody listens there
    ├── BrokenConnectionError   it broke, fell silent, or what came was not Kafka's protocol
    ├── HandshakeError          the two sides cannot trust each other as they are set up
    ├── NotServedError          the broker does not know the request, or no version of it that we know
    └── RefusedError            the broker understood and said no; ``code`` says why

Every message is a sentence that can be shown to a person.
"""

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import OperatingError


class WireClientError(OperatingError):
    """Something went wrong in talking to a cluster."""


class UnreachableError(WireClientError):
    """No connection could be made."""


class BrokenConnectionError(WireClientError):
    """A connection that was made is of no more use."""


class HandshakeError(WireClientError):
    """TLS or logging in came to nothing, and will again until somebody changes a setting."""


class NotServedError(WireClientError):
    """The broker and this program share no version of a request."""


class RefusedError(WireClientError):
    """The broker answered with an error code.

    ``doing`` completes the sentence "Cannot ...", ``detail`` is what the broker itself said about it.
    """

    def __init__(self, code: int, *, doing: str, detail: str | None = None) -> None:
        name = code_name(code)
        super().__init__(f"Cannot {doing}: {_reason(name, detail)} ({name}).")
        self.code = code


def check(code: int, *, doing: str, detail: str | None = None) -> None:
    """Raise unless ``code`` is success."""
    if code != ErrorCode.NONE:
        raise RefusedError(code, doing=doing, detail=detail)


def code_name(code: int) -> str:
    """Kafka's name of an error code; a number for one that is newer than this program."""
    return ErrorCode(code).name if code in ErrorCode.__members__.values() else f"error code {code}"


def _reason(name: str, detail: str | None) -> str:
    """What the broker said, or else what the name of the code says."""
    return detail.rstrip(".") if detail else name.replace("_", " ").lower()
