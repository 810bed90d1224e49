"""A term of the quorum has one controller (I1)."""

from collections.abc import Iterator

from penstock.sim.checkers.watching import Look


class OneController:
    """Remembers who decided in each term."""

    rule = "a term has one controller"

    def __init__(self) -> None:
        self._controllers: dict[int, str] = {}

    def look(self, look: Look) -> Iterator[str]:
        """Compare with everybody who was seen to decide."""
        for view in look.metadata:
            if not view.is_controller:
                continue
            known = self._controllers.setdefault(view.term, view.node)
            if known != view.node:
                yield f"{known} and {view.node} were both controllers of term {view.term}"
