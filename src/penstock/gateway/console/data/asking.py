"""Questions of which some may go unanswered: a page shows what was told, and says what was not."""

from collections.abc import Callable
from typing import TypeVar

from penstock.wire_client.errors import WireClientError

Answer = TypeVar("Answer")


class Asking:
    """Collects, as ``notes``, why something is not told."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def told(self, ask: Callable[[], Answer]) -> Answer | None:
        """What ``ask`` finds out, or None where the cluster refuses, is silent, or does not understand."""
        try:
            return ask()
        except WireClientError as error:
            self.notes.append(str(error))
            return None
