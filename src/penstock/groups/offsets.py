"""How far groups have come: committed offsets, and those that wait for the end of a transaction. All hard
state.

A group's offset in a partition is the newest one committed. Newest is what stands last in the log, not what
took effect last: a transaction may end long after its offsets were written, and offsets committed outside
of it in the meantime are newer. So each offset remembers where its record stands.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from penstock.groups.records import OffsetCommitKey, OffsetCommitValue
from penstock.model.errors import InvariantError
from penstock.model.ids import NO_PRODUCER_ID, TopicId, TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedOffset:
    """An offset, and where in the log its record stands."""

    value: OffsetCommitValue
    record_offset: int


GroupOffsets = dict[TopicPartition, CommittedOffset]

_NONE: Mapping[TopicPartition, CommittedOffset] = MappingProxyType({})


class Offsets:
    """The offsets of all groups of a shard. Empty tables are not kept."""

    __slots__ = ("_committed", "_open", "_pending")

    def __init__(self) -> None:
        self._committed: dict[str, GroupOffsets] = {}
        #: By producer id: what its open transaction commits.
        self._pending: dict[int, dict[str, GroupOffsets]] = {}
        #: By group: the producers whose open transactions commit offsets of it.
        self._open: dict[str, set[int]] = {}

    def get(self, group_id: str, partition: TopicPartition) -> CommittedOffset | None:
        """A group's offset in a partition."""
        return self._committed.get(group_id, _NONE).get(partition)

    def of_group(self, group_id: str) -> Mapping[TopicPartition, CommittedOffset]:
        """All committed offsets of a group."""
        return self._committed.get(group_id, _NONE)

    def group_ids(self) -> Collection[str]:
        """The groups that have offsets, committed or waiting."""
        return self._committed.keys() | self._open.keys()

    def has_any(self, group_id: str) -> bool:
        """Whether a group has offsets, committed or waiting."""
        return group_id in self._committed or group_id in self._open

    def has_open_transaction(self, group_id: str) -> bool:
        """Whether offsets of a group wait for the end of a transaction."""
        return group_id in self._open

    def is_unstable(self, group_id: str, partition: TopicPartition) -> bool:
        """Whether a transaction that is still open will change this offset if it commits."""
        return any(partition in pending for pending in self._pending_of(group_id))

    def partitions_of(self, group_id: str) -> tuple[TopicPartition, ...]:
        """Where a group has offsets, committed or waiting, in a fixed order."""
        partitions = set(self.of_group(group_id)).union(*self._pending_of(group_id))
        return tuple(sorted(partitions))

    def topic_ids(self, group_id: str, partition: TopicPartition) -> set[TopicId]:
        """For which topics of a name a group has an offset in a partition, committed or waiting."""
        tables = (self.of_group(group_id), *self._pending_of(group_id))
        return {table[partition].value.topic_id for table in tables if partition in table}

    def topics(self) -> set[tuple[str, TopicId]]:
        """The topics that anybody has offsets in, committed or waiting."""
        pending = (table for groups in self._pending.values() for table in groups.values())
        return {
            (partition.topic, offset.value.topic_id)
            for table in (*self._committed.values(), *pending)
            for partition, offset in table.items()
        }

    def replay(
        self, key: OffsetCommitKey, value: OffsetCommitValue | None, *, offset: int, producer_id: int
    ) -> None:
        """Take in what a record says."""
        partition = TopicPartition(key.topic, key.partition)
        if value is None:
            self._forget(key.group_id, partition)
            return
        committed = CommittedOffset(value=value, record_offset=offset)
        if producer_id == NO_PRODUCER_ID:
            self._committed.setdefault(key.group_id, {})[partition] = committed
            return
        self._pending.setdefault(producer_id, {}).setdefault(key.group_id, {})[partition] = committed
        self._open.setdefault(key.group_id, set()).add(producer_id)

    def complete_transaction(self, producer_id: int, *, is_commit: bool) -> tuple[str, ...]:
        """A transaction has ended: what it committed counts, or never was. Returns the groups concerned."""
        groups = self._pending.pop(producer_id, {})
        for group_id, pending in groups.items():
            self._close(group_id, producer_id)
            if is_commit:
                self._commit_pending(group_id, pending)
        return tuple(groups)

    def hard_state(self) -> tuple[object, object]:
        """A value that says all, to compare it with another."""
        committed = {group_id: dict(offsets) for group_id, offsets in self._committed.items()}
        pending = {
            producer_id: {group_id: dict(offsets) for group_id, offsets in groups.items()}
            for producer_id, groups in self._pending.items()
        }
        return committed, pending

    def validate(self) -> None:
        """Raise ``InvariantError`` unless the index of open transactions is right and no table is empty."""
        open_: dict[str, set[int]] = {}
        for producer_id, groups in self._pending.items():
            for group_id in groups:
                open_.setdefault(group_id, set()).add(producer_id)
        if open_ != self._open:
            raise InvariantError(f"open transactions are {open_}, the index says {self._open}")
        tables = [*self._committed.values(), *self._pending.values()]
        tables.extend(table for groups in self._pending.values() for table in groups.values())
        if not all(tables):
            raise InvariantError("an empty table of offsets was kept")

    def _pending_of(self, group_id: str) -> Iterator[GroupOffsets]:
        for producer_id in self._open.get(group_id, ()):
            yield self._pending[producer_id][group_id]

    def _commit_pending(self, group_id: str, pending: GroupOffsets) -> None:
        committed = self._committed.setdefault(group_id, {})
        for partition, offset in pending.items():
            present = committed.get(partition)
            if present is None or offset.record_offset > present.record_offset:
                committed[partition] = offset

    def _forget(self, group_id: str, partition: TopicPartition) -> None:
        """A tombstone takes back the offset, and what open transactions have written before it."""
        committed = self._committed.get(group_id)
        if committed is not None:
            committed.pop(partition, None)
            if not committed:
                del self._committed[group_id]
        for producer_id in tuple(self._open.get(group_id, ())):
            groups = self._pending[producer_id]
            groups[group_id].pop(partition, None)
            if not groups[group_id]:
                del groups[group_id]
                self._close(group_id, producer_id)
            if not groups:
                del self._pending[producer_id]

    def _close(self, group_id: str, producer_id: int) -> None:
        producers = self._open[group_id]
        producers.discard(producer_id)
        if not producers:
            del self._open[group_id]
