"""How a benchmark tells how far it is; whoever runs it decides what people see of that."""

from typing import Protocol


class Progress(Protocol):
    """Called a few times a second."""

    def __call__(self, share: float) -> None:
        """``share`` of the work is done, from 0 to 1."""


def silent(share: float) -> None:
    """A ``Progress`` that nobody sees."""
