"""Names that tests use for APIs and errors, and what to say to a name that is none."""

from collections.abc import Mapping

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import UsageError
from penstock.wire.api_keys import APIS, ApiSpec

_BY_NAME = {spec.name.lower(): spec for spec in APIS.values() if spec.is_served and not spec.is_private}


def find_api(name: str) -> ApiSpec:
    """The API that clients know by that name, as in ``Produce`` or ``OffsetCommit``."""
    spec = _BY_NAME.get(name.replace("_", "").lower())
    if spec is None:
        hint = _hint(name.lower(), {each: known.name for each, known in _BY_NAME.items()})
        raise UsageError(f"There is no API called {name!r} that clients use{hint}")
    return spec


def find_error(error: str | int) -> ErrorCode:
    """The error of that name or number."""
    try:
        code = ErrorCode[error.upper()] if isinstance(error, str) else ErrorCode(error)
    except (KeyError, ValueError):
        hint = _hint(str(error).upper(), {name: name for name in ErrorCode.__members__})
        raise UsageError(f"Kafka has no error {error!r}{hint}") from None
    if code is ErrorCode.NONE:
        raise UsageError("NONE is no error: a request that is to succeed needs no fault.")
    return code


def _hint(name: str, known: Mapping[str, str]) -> str:
    """What was perhaps meant."""
    from difflib import get_close_matches  # only here: brokers start without mistakes more often than not

    near = get_close_matches(name, known, n=1)
    return f"; did you mean {known[near[0]]}?" if near else "."
