"""What the handlers of keywords ask of the whole comparison."""

from collections.abc import Sequence
from typing import Protocol

from penstock.schemas.json_schema.parts import Part
from penstock.schemas.json_schema.reasons import Found
from penstock.schemas.json_schema.written import Written


class Prover(Protocol):
    """Tells whether one schema includes another."""

    def refusals(self, reader: Sequence[Part], known: Written, path: str) -> Found:
        """Why a reader's schemas might refuse a value of which that is known; nothing if they never do."""

    def is_apart(self, known: Written, part: Part) -> bool:
        """Whether it is certain that a value of which that is known does not fit into a schema."""
