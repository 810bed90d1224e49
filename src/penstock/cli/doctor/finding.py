"""What one check found out, and what to do about it."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARNING = "warning"
    """It works, but not as well or as safely as it could."""
    PROBLEM = "problem"
    """A broker would not start, or must not be trusted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the report."""

    check: str
    level: Level
    text: str
    advice: str = ""

    def as_json(self) -> dict[str, Any]:
        """The fields under their names."""
        return asdict(self)


def ok(check: str, text: str) -> Finding:
    """All is well."""
    return Finding(check=check, level=Level.OK, text=text)


def warning(check: str, text: str, advice: str) -> Finding:
    """It could be better."""
    return Finding(check=check, level=Level.WARNING, text=text, advice=advice)


def problem(check: str, text: str, advice: str) -> Finding:
    """It must be better."""
    return Finding(check=check, level=Level.PROBLEM, text=text, advice=advice)
