"""Moving the offsets of a group that nobody is a member of: first a plan, then one commit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from penstock.cli.failure import CommandFailed
from penstock.cli.group.description import GroupDescription, describe_groups
from penstock.cli.group.offsets import BY_NAME_VERSION_MAX, Offsets, committed_offsets, end_offsets
from penstock.cli.group.reset_target import Reference, Situation, Target, new_offset
from penstock.cli.partition_choice import PartitionChoice, chosen_partitions
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.list_offsets import EARLIEST_TIMESTAMP
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.wire_client.cluster import PASSING, Cluster
from penstock.wire_client.connection import Connection
from penstock.wire_client.coordinators import Coordinated, ask_coordinator
from penstock.wire_client.errors import check
from penstock.wire_client.topics import by_topic, find_leaders, offsets_at

_GROUP_IS_ACTIVE = frozenset(
    {
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.REBALANCE_IN_PROGRESS,
        ErrorCode.STALE_MEMBER_EPOCH,
    }
)
"""How a broker refuses a commit from outside a group that has members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One offset before and after; ``new`` is None where nothing is to be done."""

    partition: TopicPartition
    old: int | None
    new: int | None
    note: str

    @property
    def change(self) -> int | None:
        """How many records are skipped; negative for those that will be read again."""
        return None if self.old is None or self.new is None else self.new - self.old

    def as_json(self) -> dict[str, Any]:
        """The numbers under their names."""
        return {
            "topic": self.partition.topic,
            "partition": self.partition.partition,
            "old_offset": self.old,
            "new_offset": self.new,
            "change": self.change,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset:
    """What a reset did, or would do; ``notes`` are sentences about the group as a whole."""

    group: str
    is_dry_run: bool
    moves: tuple[Move, ...]
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The whole as plain dictionaries and lists."""
        return {
            "group": self.group,
            "dry_run": self.is_dry_run,
            "offsets": [move.as_json() for move in self.moves],
            "notes": list(self.notes),
        }


class CommitOutcome(NamedTuple):
    """The first error of a commit, if there is one, and where it is."""

    error_code: int
    partition: TopicPartition | None = None


def reset(cluster: Cluster, name: str, *, choice: PartitionChoice, target: Target, dry_run: bool) -> Reset:
    """Move a group's offsets in the chosen partitions, or where it has any when none are chosen."""
    group = describe_groups(cluster, [name]).get(name)
    if group is not None and group.is_active and not dry_run:
        raise _active(group)
    committed = committed_offsets(cluster, [name])[name]
    partitions = _partitions(cluster, name, choice, committed)
    moves = tuple(plan_moves(cluster, partitions, committed, target))
    if all(move.new is None for move in moves):
        raise CommandFailed(
            f"Group {name!r} has committed no offset there, so there is nothing to shift.",
            hint="Use --to-earliest, --to-latest, --to-offset or a time instead.",
        )
    if not dry_run:
        commit_moves(cluster, name, moves)
    return Reset(group=name, is_dry_run=dry_run, moves=moves, notes=_notes(name, group, dry_run))


def plan_moves(
    cluster: Cluster, partitions: Sequence[TopicPartition], committed: Offsets, target: Target
) -> list[Move]:
    """What ``target`` means for each of ``partitions``."""
    starts = offsets_at(cluster, dict.fromkeys(partitions, EARLIEST_TIMESTAMP))
    ends = end_offsets(cluster, partitions)
    at_time: dict[TopicPartition, int | None] = {}
    if target.reference is Reference.TIMESTAMP:
        at_time = offsets_at(cluster, dict.fromkeys(partitions, target.number))
    return [
        _move(partition, target, _situation(partition, starts, ends, committed, at_time))
        for partition in partitions
    ]


def commit_moves(cluster: Cluster, group: str, moves: Iterable[Move]) -> None:
    """Commit all new offsets at once, as somebody who is no member of the group."""
    offsets = {move.partition: move.new for move in moves if move.new is not None}
    outcome = ask_coordinator(
        cluster, Coordinated.GROUP, group, lambda broker: _commit(broker, group, offsets)
    )
    if outcome.error_code in _GROUP_IS_ACTIVE:
        raise CommandFailed(
            f"Group {group!r} has members by now, so its offsets cannot be reset.", hint=_stop_hint(group)
        )
    check(outcome.error_code, doing=f"reset the offset of group {group!r} in {outcome.partition}")


def _partitions(
    cluster: Cluster, name: str, choice: PartitionChoice, committed: Offsets
) -> list[TopicPartition]:
    if choice:
        return chosen_partitions(choice, find_leaders(cluster, choice))
    existing = find_leaders(cluster, {partition.topic for partition in committed})
    known = sorted(partition for partition in committed if partition in existing)
    if not known:
        raise CommandFailed(
            f"Group {name!r} has no offset in any topic that exists, so --all-topics names none.",
            hint="Name topics with --topic; groups are listed by `penstock group list`.",
        )
    return known


def _notes(name: str, group: GroupDescription | None, is_dry_run: bool) -> tuple[str, ...]:
    if group is None:
        when = "does not exist yet; a reset makes it" if is_dry_run else "did not exist before"
        return (f"Group {name!r} {when}.",)
    if group.is_active:
        return (f"Group {name!r} has active members; they must stop before its offsets can be reset.",)
    return ()


def _active(group: GroupDescription) -> CommandFailed:
    """Why the offsets of a group with members are not touched."""
    count = len(group.members)
    members = f"{count} active member{'' if count == 1 else 's'}"
    return CommandFailed(
        f"Group {group.group!r} has {members} (state {group.state}), so its offsets cannot be reset.",
        hint=_stop_hint(group.group),
    )


def _stop_hint(group: str) -> str:
    return (
        "Stop its consumers, or wait until the sessions of dead ones end; "
        f"`penstock group describe {group} --members` shows who they are."
    )


def _situation(
    partition: TopicPartition,
    starts: dict[TopicPartition, int | None],
    ends: dict[TopicPartition, int | None],
    committed: Offsets,
    at_time: dict[TopicPartition, int | None],
) -> Situation:
    start, end = starts[partition], ends[partition]
    if start is None or end is None:
        raise CommandFailed(
            f"The offsets of {partition} cannot be looked up: it has no leader, or is gone.",
            hint=f"See its state with `penstock topic describe {partition.topic}`.",
        )
    return Situation(start=start, end=end, committed=committed.get(partition), at_time=at_time.get(partition))


def _move(partition: TopicPartition, target: Target, situation: Situation) -> Move:
    offset, note = new_offset(target, situation)
    return Move(partition=partition, old=situation.committed, new=offset, note=note)


def _commit(broker: Connection, group: str, offsets: Offsets) -> CommitOutcome:
    topics = tuple(
        OffsetCommitRequestTopic(
            name=topic,
            partitions=tuple(
                OffsetCommitRequestPartition(
                    partition_index=number, committed_offset=offsets[TopicPartition(topic, number)]
                )
                for number in numbers
            ),
        )
        for topic, numbers in by_topic(offsets).items()
    )
    request = OffsetCommitRequest(group_id=group, topics=topics)
    answer = broker.call(ApiKey.OFFSET_COMMIT, request, at_most=BY_NAME_VERSION_MAX)
    refused = [
        CommitOutcome(partition.error_code, TopicPartition(topic.name, partition.partition_index))
        for topic in answer.topics
        for partition in topic.partitions
        if partition.error_code != ErrorCode.NONE
    ]
    refused.sort(key=lambda outcome: outcome.error_code in PASSING)
    return refused[0] if refused else CommitOutcome(ErrorCode.NONE)
