"""How far a move of replicas is: which set of replicas holds when, and when the move is done.

While replicas move, the partition has the old and the new ones: first the new set in its order, then those to
be removed. The move is done when all that are added are in sync; then those to be removed go, from the
in-sync set too. A move that makes the set smaller also waits for everybody who stays, lest it leaves fewer in
sync than there were before.
"""

from dataclasses import dataclass

from penstock.metadata.topic_image import PartitionImage
from penstock.model.ids import NodeId

Nodes = tuple[NodeId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A partition's replicas on the move, or at rest when nobody is added or removed."""

    isr: Nodes
    replicas: Nodes
    adding: Nodes = ()
    removing: Nodes = ()


def begun(partition: PartitionImage, target: Nodes) -> Progress:
    """The first step from where a partition is to ``target``; a move under way takes the new direction."""
    removing = tuple(sorted(set(partition.replicas) - set(target)))
    adding = set(target) - set(partition.replicas)
    # Whoever an earlier move was adding, and is wanted still, has yet to get in sync.
    adding |= set(partition.adding_replicas) & set(target)
    return Progress(
        isr=partition.isr,
        replicas=target + removing,
        adding=tuple(sorted(adding)),
        removing=removing,
    )


def settled(progress: Progress) -> Progress:
    """The move completed if it can be, else as it is."""
    if not progress.adding and not progress.removing:
        return progress
    replicas = _without(progress.replicas, progress.removing)
    isr = _without(progress.isr, progress.removing)
    shrinks = len(progress.adding) < len(progress.removing)
    needed = set(replicas) if shrinks else set(progress.adding)
    if not isr or not needed <= set(isr):
        return progress
    return Progress(isr=isr, replicas=replicas)


def reverted(partition: PartitionImage) -> Progress:
    """The partition as it was before the move; its ISR may come out empty."""
    return Progress(
        isr=_without(partition.isr, partition.adding_replicas),
        replicas=_without(partition.replicas, partition.adding_replicas),
    )


def _without(nodes: Nodes, gone: Nodes) -> Nodes:
    return tuple(node_id for node_id in nodes if node_id not in gone)
