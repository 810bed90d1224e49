"""Looking into living brokers: what watchers are shown, and who is who at a moment."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from penstock.broker.partition import Partition
from penstock.broker.quorum.quorum import Quorum
from penstock.sim.checkers.watching import Look, MetadataView, PartitionView
from penstock.sim.cluster.node import Node
from penstock.sim.runtime.world import World

READ_BYTES_MAX = 1 << 20


class Sight:
    """Sees every broker that serves."""

    def __init__(self, world: World, nodes: Mapping[str, Node]) -> None:
        self._world = world
        self._nodes = nodes
        #: What the last look showed; most of it is still so at the next.
        self._seen: dict[Partition, _Seen] = {}
        self._lives = 0

    def look(self) -> Look:
        """Everything that runs, now."""
        return Look(
            at=self._world.now,
            partitions=tuple(self._partitions()),
            metadata=tuple(self._metadata()),
        )

    def controller(self) -> Node | None:
        """Whoever decides on metadata; of several who believe they do, the one of the latest term."""
        views = [view for view in self.look().metadata if view.is_controller]
        newest = max(views, key=lambda view: view.term, default=None)
        return None if newest is None else self._nodes[newest.node]

    def leader_of(self, topic: str, partition: int) -> Node | None:
        """Whoever leads a partition, as far as the metadata log says."""
        newest = self.look().newest
        known = None if newest is None else newest.image.topics.get(topic)
        if known is None or partition >= len(known.partitions):
            return None
        leader = known.partitions[partition].leader
        return next((node for node in self._serving() if node.node_id == leader), None)

    def _partitions(self) -> Iterator[PartitionView]:
        seen: dict[Partition, _Seen] = {}
        for node in self._nodes.values():
            if node.broker is None or not (node.is_serving or node.is_leaving):
                continue
            for partition in node.broker.replicas:
                found = _view(node, partition, self._seen.get(partition), self._lives)
                self._lives += 1
                if found is not None:
                    seen[partition] = found
                    yield found.view
        self._seen = seen

    def _metadata(self) -> Iterator[MetadataView]:
        """Also of brokers that do not serve yet: they vote, and may be elected."""
        for node in self._nodes.values():
            quorum: Quorum | None = getattr(node.broker, "quorum", None)
            if quorum is not None:
                yield MetadataView(
                    node=node.name,
                    boot=node.boots,
                    node_id=quorum.key.node_id,
                    is_controller=quorum.is_leader,
                    term=quorum.term,
                    applied_offset=quorum.applied_offset,
                    image=quorum.image,
                )

    def _serving(self) -> Iterator[Node]:
        return (node for node in self._nodes.values() if node.broker is not None and node.is_serving)


class _Seen(NamedTuple):
    """A view, and what it was made of: while that is the same, so is the view."""

    made_of: tuple[object, ...]
    life: int
    view: PartitionView


def _view(node: Node, partition: Partition, seen: _Seen | None, new_life: int) -> _Seen | None:
    """The partition as it is now; None before it has heard of its role."""
    assignment, log = partition.replica.assignment, partition.log
    if assignment is None:
        return None
    made_of = (
        assignment,
        node.is_leaving,
        partition.is_leader,
        partition.failure,
        log.log_start_offset,
        partition.last_stable_offset,
        partition.high_watermark,
        log.flushed_offset,
        log.log_end_offset,
        log.cleaned_offset,
    )
    if seen is not None and seen.made_of == made_of:
        return seen
    life = new_life if seen is None else seen.life
    assert node.node_id is not None
    view = PartitionView(
        node=node.name,
        boot=node.boots,
        life=life,
        node_id=node.node_id,
        topic_id=partition.topic_id,
        topic=partition.topic,
        index=partition.index,
        is_leader=partition.is_leader,
        leader_epoch=assignment.leader_epoch,
        partition_epoch=assignment.partition_epoch,
        in_sync_count=len(assignment.isr),
        in_sync_min=assignment.min_isr,
        failure=partition.failure,
        log_start_offset=log.log_start_offset,
        last_stable_offset=partition.last_stable_offset,
        high_watermark=partition.high_watermark,
        flushed_offset=log.flushed_offset,
        log_end_offset=log.log_end_offset,
        cleaned_offset=log.cleaned_offset,
        is_leaving=node.is_leaving,
        read=_Reader(partition),
    )
    return _Seen(made_of, life, view)


class _Reader:
    """Reads batches of one partition, past everything that slows a broker down."""

    def __init__(self, partition: Partition) -> None:
        self._log = partition.log

    def __call__(self, start_offset: int, end_offset: int) -> bytes:
        """Whole batches from an offset on, up to another."""
        return self._log.read(start_offset, max_bytes=READ_BYTES_MAX, end_offset=end_offset).read_bytes()
