"""How strictly versions of a subject must go together, and what may be done to a subject at all."""

from enum import StrEnum

from penstock.schemas import Direction


class CompatibilityLevel(StrEnum):
    """What a new version is compared with, and who must be able to read whose records."""

    NONE = "NONE"
    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"

    @property
    def direction(self) -> Direction | None:
        """Who must read whose records; None if nobody must."""
        return None if self is CompatibilityLevel.NONE else Direction(self.removesuffix("_TRANSITIVE"))

    @property
    def is_transitive(self) -> bool:
        """Whether all versions are compared, not the latest alone."""
        return self.endswith("_TRANSITIVE")


class Mode(StrEnum):
    """What may be done: everything, nothing but reading, or registering with ids that others gave."""

    READWRITE = "READWRITE"
    READONLY = "READONLY"
    READONLY_OVERRIDE = "READONLY_OVERRIDE"
    IMPORT = "IMPORT"

    @property
    def is_read_only(self) -> bool:
        """Whether nothing may be changed."""
        return self in (Mode.READONLY, Mode.READONLY_OVERRIDE)


DEFAULT_LEVEL = CompatibilityLevel.BACKWARD
DEFAULT_MODE = Mode.READWRITE
