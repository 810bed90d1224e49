"""Why a reader's JSON Schema might refuse a document, as entries of a list."""

from penstock.schemas.incompatibility import Incompatibility

Found = list[Incompatibility]


def escaped(name: str) -> str:
    """A name as a JSON pointer has it."""
    return name.replace("~", "~0").replace("/", "~1")


def reason(kind: str, path: str, message: str) -> Found:
    """One reason; ``message`` is a sentence without its full stop."""
    return [Incompatibility(kind=kind, path=path, message=f"{message}.")]
