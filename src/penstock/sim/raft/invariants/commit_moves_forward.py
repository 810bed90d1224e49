"""What is committed stays so: a node's commit never goes back, and nothing below it is cut."""

from collections.abc import Iterator

from penstock.sim.raft.book import Book
from penstock.sim.raft.invariants import Step


class CommitMovesForward:
    """Within the life of a process; and no cut ever below what anybody has committed in that log."""

    name = "commits move forward"

    def check(self, book: Book, step: Step) -> Iterator[str]:
        """Look at cuts and commits."""
        process, output = step.process, step.output
        if output.commit_offset is not None and output.commit_offset < process.applied_offset:
            yield f"{process.key} commits {output.commit_offset} after {process.applied_offset}"
        if output.truncate_to is not None and output.truncate_to < process.applied_offset:
            yield f"{process.key} cuts at {output.truncate_to} what it applied up to {process.applied_offset}"
