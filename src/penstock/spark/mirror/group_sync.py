"""Consumer groups at the target as far as they are at the source, so that they can go on there.

A group goes on where nothing is missed. It may get some records again: how many is told by how far the next
sync point before its offset is. Groups that have members at the target have moved there and are left alone,
and no group ever goes back.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.client import OffsetResetPolicy, PenstockClientError, TopicPartition
from penstock.spark.mirror.clusters import Clusters, patiently
from penstock.spark.mirror.naming import Renaming, Selection
from penstock.spark.mirror.offset_map import Entries, MirroredPartition
from penstock.spark.mirror.sync_points import translated, translated_back

_WITHOUT_MEMBERS = frozenset({"empty", "dead"})


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChange:
    """What was done about a group at the target."""

    group: str
    offsets: Mapping[TopicPartition, int]
    """What it has committed there now, of partitions that changed."""
    refusal: str | None = None
    """Why it could not be done."""

    def __str__(self) -> str:
        if self.refusal is not None:
            return f"group {self.group} stays as it is at the target: {self.refusal}"
        places = ", ".join(f"{topic}-{number} {offset}" for (topic, number), offset in self.offsets.items())
        return f"group {self.group} would go on from {places}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSync:
    """Carries offsets of groups over."""

    clusters: Clusters
    selection: Selection
    renaming: Renaming

    def bring_in_step(self, entries: Entries, reverse: Entries) -> list[GroupChange]:
        """Translate and commit; ``entries`` is the offset map of the target, ``reverse`` of the source."""
        source, target = self.clusters.source.admin, self.clusters.target.admin
        groups = [each.group_id for each in source.list_groups() if self.selection.means_group(each.group_id)]
        busy = {each.group_id for each in target.list_groups() if each.state not in _WITHOUT_MEMBERS}
        changes = [
            self._carry(group, entries=entries, reverse=reverse) for group in groups if group not in busy
        ]
        return [change for change in changes if change is not None]

    def _carry(self, group: str, *, entries: Entries, reverse: Entries) -> GroupChange | None:
        try:
            ahead = self._ahead(group, entries=entries, reverse=reverse)
            if ahead:
                target = self.clusters.target.admin
                patiently(lambda: target.alter_group_offsets(group, ahead))
        except PenstockClientError as error:
            if error.is_retriable:  # It is not about this group: a cluster does not answer.
                raise
            # Such as that a member has come since they were listed, or that it is none that has offsets.
            return GroupChange(group=group, offsets={}, refusal=str(error))
        return GroupChange(group=group, offsets=ahead) if ahead else None

    def _ahead(self, group: str, *, entries: Entries, reverse: Entries) -> dict[TopicPartition, int]:
        """Where it is to go on at the target, of partitions where that is further than it is there."""
        target = self.clusters.target.admin
        committed = patiently(lambda: self.clusters.source.admin.group_offsets(group))
        wanted = self.positions(committed, entries=entries, reverse=reverse)
        if not wanted:
            return {}
        present = patiently(lambda: target.group_offsets(group))
        firsts = target.list_offsets(wanted, OffsetResetPolicy.EARLIEST)
        return {
            partition: max(offset, firsts[partition])
            for partition, offset in wanted.items()
            if max(offset, firsts[partition]) > present.get(partition, -1)
        }

    def positions(
        self, committed: Mapping[TopicPartition, int], *, entries: Entries, reverse: Entries
    ) -> dict[TopicPartition, int]:
        """Where a group with these offsets at the source goes on at the target, partition by partition."""
        found = {}
        for (topic, number), offset in committed.items():
            copy = self.renaming.copy_of(topic)
            there = MirroredPartition(self.clusters.source.cluster_id, topic, number, copy)
            back = MirroredPartition(self.clusters.target.cluster_id, copy, number, topic)
            if there not in entries:
                continue
            place = translated(entries[there].points, offset)
            if back in reverse:
                # Records that came from the target are there already, perhaps before those from here.
                place = min(place, translated_back(reverse[back].points, offset))
            found[TopicPartition(copy, number)] = place
        return found
