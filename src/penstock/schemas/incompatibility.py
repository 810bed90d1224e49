"""One reason why records of one schema cannot be read with another."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Incompatibility:
    """Why a reader cannot read a writer's records.

    ``kind`` is the name that other registries give it, ``path`` the place in the reader's schema (a JSON
    pointer; for Protobuf, names and field numbers), and ``message`` says what is wrong and what would be
    right.
    """

    kind: str
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind} at {self.path}: {self.message}"
