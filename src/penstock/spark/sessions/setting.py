"""One setting of Spark, and who made it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Origin(StrEnum):
    """Who made a setting; the later named win over the earlier."""

    PENSTOCK = "penstock"
    DEFAULTS_FILE = "spark-defaults.conf"
    SUBMIT_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"
    RUNNING = "the running JVM"
    ASKED = "you"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A name of Spark's and a value as Spark takes it."""

    name: str
    value: str
    origin: Origin

    def __str__(self) -> str:
        return f"{self.name}={self.value}"


def as_texts(conf: Mapping[str, object]) -> dict[str, str]:
    """What people write in Python as Spark wants to read it: ``True`` is ``true``."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in conf.items()
    }
