"""Whoever is in sync, or may lead, has everything committed on its own disk (I4)."""

from collections.abc import Iterator

from penstock.metadata.topic_image import PartitionImage
from penstock.sim.checkers.committed import Committed
from penstock.sim.checkers.watching import Look, MetadataView, PartitionView


class InSyncDurable:
    """Compares the disks of those whom the metadata log counts on with what was committed."""

    rule = "those in sync have everything committed on disk"

    def __init__(self) -> None:
        self._committed = Committed()
        #: The newest that anybody has had, who may be dead by now: those who live need not have heard of it.
        self._newest: MetadataView | None = None

    def look(self, look: Look) -> Iterator[str]:
        """Look at every running replica that the newest image counts on.

        Only leaders say what is committed: they have applied what allowed them to commit it, and so it is in
        this look. A follower may know of a commit whose reason died with the leader, until the next is found.
        """
        self._committed.note(view for view in look.partitions if view.is_leader)
        newest = self._keep_newest(look)
        if newest is None:
            return
        for view in look.partitions:
            topic = newest.image.topics_by_id.get(view.topic_id)
            if topic is None or view.index >= len(topic.partitions):
                continue
            partition = topic.partitions[view.index]
            if view.node_id in (*partition.isr, *partition.eligible_leader_replicas):
                yield from self._judge(view, partition)

    def _keep_newest(self, look: Look) -> MetadataView | None:
        seen = look.newest
        if seen is not None and (self._newest is None or seen.applied_offset > self._newest.applied_offset):
            self._newest = seen
        return self._newest

    def _judge(self, view: PartitionView, partition: PartitionImage) -> Iterator[str]:
        committed = self._committed.up_to(view.key, partition.leader_epoch)
        if view.flushed_offset < committed:
            yield (
                f"{view.node} is counted on for {view.name} and has {view.flushed_offset} on disk, "
                f"but everything below {committed} was committed"
            )
