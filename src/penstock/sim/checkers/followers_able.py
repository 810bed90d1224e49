"""Followers can follow: none finds that its leader contradicts what was committed, or is given up."""

from collections.abc import Iterator

from penstock.sim.checkers.watching import Look


class FollowersAble:
    """Looks for replicas that have given up."""

    rule = "followers can follow"

    def look(self, look: Look) -> Iterator[str]:
        """Take their own word for it."""
        for view in look.partitions:
            if view.failure is not None:
                yield f"{view.name} on {view.node} follows nobody any more: {view.failure}"
