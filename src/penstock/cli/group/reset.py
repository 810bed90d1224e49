"""Moving the offsets of a group that nobody is a member of: first a plan, then one commit."""

from dataclasses import dataclass
from typing import Any

from penstock.cli.failure import CommandFailed
from penstock.cli.partition_choice import PartitionChoice, chosen_partitions
from penstock.model.ids import TopicPartition
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.errors import RefusedError
from penstock.wire_client.groups.description import GroupDescription, describe_groups
from penstock.wire_client.groups.moves import (
    GROUP_IS_ACTIVE,
    Move,
    UnknownRangeError,
    commit_moves,
    plan_moves,
)
from penstock.wire_client.groups.offsets import Offsets, committed_offsets
from penstock.wire_client.groups.reset_target import Target
from penstock.wire_client.topics import find_leaders


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


def reset(cluster: Cluster, name: str, *, choice: PartitionChoice, target: Target, dry_run: bool) -> Reset:
    """Move a group's offsets in the chosen partitions, or where it has any when none are chosen."""
    group = describe_groups(cluster, [name]).get(name)
    if group is not None and group.is_active and not dry_run:
        raise _active(group)
    committed = committed_offsets(cluster, [name])[name]
    partitions = _partitions(cluster, name, choice, committed)
    moves = _planned(cluster, partitions, committed, target)
    if all(move.new is None for move in moves):
        raise CommandFailed(
            f"Group {name!r} has committed no offset there, so there is nothing to shift.",
            hint="Use --to-earliest, --to-latest, --to-offset or a time instead.",
        )
    if not dry_run:
        _commit(cluster, name, moves)
    return Reset(group=name, is_dry_run=dry_run, moves=moves, notes=_notes(name, group, dry_run))


def _planned(
    cluster: Cluster, partitions: list[TopicPartition], committed: Offsets, target: Target
) -> tuple[Move, ...]:
    try:
        return tuple(plan_moves(cluster, partitions, committed, target))
    except UnknownRangeError as error:
        topic = error.partition.topic
        raise CommandFailed(
            str(error), hint=f"See its state with `penstock topic describe {topic}`."
        ) from error


def _commit(cluster: Cluster, group: str, moves: tuple[Move, ...]) -> None:
    try:
        commit_moves(cluster, group, moves)
    except RefusedError as error:
        if error.code not in GROUP_IS_ACTIVE:
            raise
        raise CommandFailed(
            f"Group {group!r} has members by now, so its offsets cannot be reset.", hint=_stop_hint(group)
        ) from error


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
