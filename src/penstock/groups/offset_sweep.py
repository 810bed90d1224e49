"""Looking through all groups for offsets to forget: those that are too old, and those of deleted topics.

A sweep goes from group to group in the order of their ids and stops when it has written enough for one
batch; it goes on from there with the next. Offsets that an open transaction may change are never too old.

When the offsets of a group without members are all gone, the group goes too.
"""

from collections.abc import Collection
from dataclasses import dataclass

from penstock.coordinator.outcome import CoordinatorRecord
from penstock.groups.group import Group
from penstock.groups.offset_record import offset_tombstone
from penstock.groups.offsets import CommittedOffset
from penstock.groups.records import NO_EXPIRY
from penstock.groups.shard_state import ShardState
from penstock.model.ids import Millis, TopicPartition
from penstock.model.limits import GROUP_RECORDS_PER_TICK


@dataclass(slots=True, kw_only=True)
class OffsetSweep:
    """One sweep on its way."""

    #: Of deleted topics; without any, a sweep is for what is too old.
    deleted_topics: Collection[str] = ()
    #: The last group that is done.
    done_until: str | None = None
    is_done: bool = False


def step(sweep: OffsetSweep, state: ShardState, now: Millis) -> tuple[CoordinatorRecord, ...]:
    """Go on with a sweep until there is enough for a batch, or nothing is left."""
    records: list[CoordinatorRecord] = []
    for group_id in _groups_left(sweep, state):
        if len(records) >= GROUP_RECORDS_PER_TICK:
            return tuple(records)
        group = state.groups[group_id]
        if sweep.deleted_topics:
            records.extend(_of_deleted_topics(state, group_id, sweep.deleted_topics))
        else:
            records.extend(_expired(state, group, now))
        sweep.done_until = group_id
    sweep.is_done = True
    return tuple(records)


def _groups_left(sweep: OffsetSweep, state: ShardState) -> list[str]:
    done_until = sweep.done_until
    return sorted(each for each in state.groups if done_until is None or each > done_until)


def _of_deleted_topics(state: ShardState, group_id: str, topics: Collection[str]) -> list[CoordinatorRecord]:
    partitions = state.offsets.partitions_of(group_id)
    return [offset_tombstone(group_id, each) for each in partitions if each.topic in topics]


def _expired(state: ShardState, group: Group, now: Millis) -> list[CoordinatorRecord]:
    """The tombstones of offsets nobody needs, and of the group if it needs none any more."""
    offsets = state.offsets.of_group(group.group_id)
    expired = [
        partition
        for partition in sorted(offsets)
        if _is_expired(state, group, partition, offsets[partition], now)
    ]
    records = [offset_tombstone(group.group_id, partition) for partition in expired]
    is_needed = len(expired) < len(offsets) or state.offsets.has_open_transaction(group.group_id)
    if group.is_abandoned and not is_needed:
        records.extend(group.tombstones())
    return records


def _is_expired(
    state: ShardState, group: Group, partition: TopicPartition, offset: CommittedOffset, now: Millis
) -> bool:
    start = group.retention_start(offset.value.commit_timestamp)
    if start is None or group.is_subscribed_to(partition.topic):
        return False
    if state.offsets.is_unstable(group.group_id, partition):
        return False
    if offset.value.expire_timestamp != NO_EXPIRY:
        return now >= offset.value.expire_timestamp
    return now - start >= state.context.settings.offsets_retention_ms
