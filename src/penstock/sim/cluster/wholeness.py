"""What a healed cluster still lacks: brokers, leaders, replicas in sync, moves that have not ended."""

from collections.abc import Iterable, Iterator

from penstock.metadata.image import ClusterImage
from penstock.sim.checkers.watching import Look
from penstock.sim.cluster.node import Node


def lacking_in(look: Look, nodes: Iterable[Node]) -> str | None:
    """The first thing that is not as it should be; None when everything is."""
    wanted = list(nodes)
    missing = [node.name for node in wanted if not node.is_serving]
    if missing:
        return f"{missing[0]} does not serve"
    newest = look.newest
    if newest is None:
        return None
    behind = [view.node for view in look.metadata if view.applied_offset < newest.applied_offset]
    if behind:
        return f"{behind[0]} has not applied all metadata"
    return next(_in_image(newest.image, {node.node_id for node in wanted}), None)


def _in_image(image: ClusterImage, wanted: set[int | None]) -> Iterator[str]:
    for node_id, broker in sorted(image.brokers.items()):
        if node_id not in wanted:
            yield f"node {node_id} is still known"
        if not broker.is_active:
            yield f"node {node_id} is fenced"
    for topic in image.topics.values():
        for index, partition in enumerate(topic.partitions):
            name = f"{topic.name}-{index}"
            if not partition.has_leader:
                yield f"{name} has no leader"
            if partition.is_reassigning:
                yield f"{name} is still on the move"
            if set(partition.isr) != set(partition.replicas):
                yield f"{name} has {partition.isr} in sync, of {partition.replicas}"
