"""Looking through all groups for offsets to forget: those that are too old, and those of deleted topics.

A sweep goes from group to group in the order of their ids and stops when it has written enough for one
batch; it goes on from there with the next. Offsets that an open transaction may change are never too old.

A topic may be made anew, and offsets of the new one committed, while those of the former are being swept, or
before anybody comes to sweep them. So a sweep is after ids of topics, not after names. Where offsets of both
are in one place, as when an open transaction writes over a former one, it leaves them: a tombstone would take
back both, and readers are not told offsets of former topics anyway.

When the offsets of a group without members are all gone, the group goes too.
"""

from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from penstock.coordinator.outcome import CoordinatorRecord
from penstock.groups.group import Group
from penstock.groups.offset_record import offset_tombstone
from penstock.groups.offsets import CommittedOffset
from penstock.groups.records import NO_EXPIRY
from penstock.groups.shard_state import ShardState
from penstock.model.ids import ZERO_TOPIC_ID, Millis, TopicId, TopicPartition
from penstock.model.limits import GROUP_RECORDS_PER_TICK


@dataclass(slots=True, kw_only=True)
class OffsetSweep:
    """One sweep on its way."""

    #: By the names of deleted topics, which ids are theirs; without any, a sweep is for what is too old.
    deleted_topics: Mapping[str, Set[TopicId]] = field(default_factory=dict)
    #: The last group that is done.
    done_until: str | None = None
    is_done: bool = False


def of_deleted(topics: Mapping[str, TopicId]) -> OffsetSweep:
    """A sweep for topics that are gone just now; offsets that were written without an id are theirs."""
    return OffsetSweep(deleted_topics={name: {topic_id, ZERO_TOPIC_ID} for name, topic_id in topics.items()})


def of_check(state: ShardState) -> list[OffsetSweep]:
    """The sweeps of a regular check: for topics that went unnoticed if there are any, and for what is old.

    A coordinator may die, or be refused its tombstones, before its sweep for a deleted topic has ended. The
    next one does not begin with another as soon as it is loaded: as long as tombstones are refused for want
    of replicas, each try costs the shard, and nobody could ask it anything.
    """
    gone = _unnoticed(state)
    return [*([OffsetSweep(deleted_topics=gone)] if gone else ()), OffsetSweep()]


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


def _unnoticed(state: ShardState) -> Mapping[str, Set[TopicId]]:
    gone: defaultdict[str, set[TopicId]] = defaultdict(set)
    for name, topic_id in state.offsets.topics():
        if topic_id not in (ZERO_TOPIC_ID, state.topics.id_of(name)):
            gone[name].add(topic_id)
    return gone


def _groups_left(sweep: OffsetSweep, state: ShardState) -> list[str]:
    done_until = sweep.done_until
    return sorted(each for each in state.groups if done_until is None or each > done_until)


def _of_deleted_topics(
    state: ShardState, group_id: str, topics: Mapping[str, Set[TopicId]]
) -> list[CoordinatorRecord]:
    offsets = state.offsets
    return [
        offset_tombstone(group_id, each)
        for each in offsets.partitions_of(group_id)
        if each.topic in topics and offsets.topic_ids(group_id, each) <= topics[each.topic]
    ]


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
