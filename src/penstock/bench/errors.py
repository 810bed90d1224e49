"""What may go wrong while measuring."""

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import OperatingError


class BenchError(OperatingError):
    """The broker did not do its part; a figure measured over errors would be worthless."""


def check(error_code: int, *, doing: str) -> None:
    """Raise unless ``error_code`` is success."""
    if error_code != ErrorCode.NONE:
        raise BenchError(f"The broker could not {doing}: {_name(error_code)}.")


def _name(error_code: int) -> str:
    try:
        return ErrorCode(error_code).name
    except ValueError:
        return f"error code {error_code}"
