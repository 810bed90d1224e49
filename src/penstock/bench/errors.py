"""What may go wrong while measuring."""

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import OperatingError


class BenchError(OperatingError):
    """The broker did not do its part; a figure measured over errors would be worthless."""

    def __init__(self, message: str, *, code: int = ErrorCode.NONE) -> None:
        super().__init__(message)
        #: What the broker answered; NONE if it was not an answer that was wrong.
        self.code = code


def check(error_code: int, *, doing: str) -> None:
    """Raise unless ``error_code`` is success."""
    if error_code != ErrorCode.NONE:
        raise BenchError(f"The broker could not {doing}: {_name(error_code)}.", code=error_code)


def _name(error_code: int) -> str:
    try:
        return ErrorCode(error_code).name
    except ValueError:
        return f"error code {error_code}"
