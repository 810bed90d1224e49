"""What a leader calls committed is on the disks of a majority of the voters."""

from collections.abc import Iterator

from penstock.raft.replica import ReplicaKey
from penstock.raft.transition import Role
from penstock.sim.raft.book import Book
from penstock.sim.raft.disk import Files
from penstock.sim.raft.invariants import Step


class CommitIsDurable:
    """Acknowledged means on disk, on enough of them."""

    name = "committed means on the disks of a majority"

    def __init__(self, files: dict[ReplicaKey, "Files"]) -> None:
        #: What would survive a crash now, of nodes that are down too; of a disk that is lost, what it held.
        self._files = files

    def check(self, book: Book, step: Step) -> Iterator[str]:
        """Count the disks that have the last entry a leader has committed."""
        offset, node = step.output.commit_offset, step.process.node
        if offset is None or node.role is not Role.LEADER:
            return
        term = node.log.terms.before(offset)
        holders = {key for key, files in self._files.items() if _has(files, offset, term)}
        if not node.voters.has_majority(holders):
            yield (
                f"{node.key} commits up to {offset} in term {node.term}, which is on the disks of "
                f"{sorted(key.node_id for key in holders)} of {node.voters}"
            )


def _has(files: Files, offset: int, term: int | None) -> bool:
    if files.snapshot.snapshot_id.end_offset >= offset:
        return True
    return files.term_before(offset) == term
