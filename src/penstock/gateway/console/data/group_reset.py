"""Moving a group: every offset before and after, and nothing done unless that is asked for."""

from collections.abc import Sequence
from typing import Any

from penstock.gateway.errors import GatewayError
from penstock.model.ids import TopicPartition
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.errors import RefusedError
from penstock.wire_client.groups.description import GroupDescription, describe_groups
from penstock.wire_client.groups.moves import GROUP_IS_ACTIVE, Move, commit_moves, plan_moves
from penstock.wire_client.groups.offsets import Offsets, committed_offsets
from penstock.wire_client.groups.reset_target import Target
from penstock.wire_client.topics import find_leaders


def reset_group(
    cluster: Cluster, group: str, *, target: Target, topics: Sequence[str], is_dry_run: bool
) -> dict[str, Any]:
    """Move a group in ``topics``, or in all that it has read; with ``is_dry_run`` only tell where to."""
    described = describe_groups(cluster, [group]).get(group)
    committed = committed_offsets(cluster, [group])[group]
    moves = plan_moves(cluster, _partitions(cluster, group, topics, committed), committed, target)
    is_active = described is not None and described.is_active
    if not is_dry_run:
        if described is not None and is_active:
            raise _active(group, described)
        _commit(cluster, group, moves)
    return {
        "group": group,
        "dry_run": is_dry_run,
        "is_active": is_active,
        "offsets": [move.as_json() for move in moves],
    }


def _partitions(
    cluster: Cluster, group: str, topics: Sequence[str], committed: Offsets
) -> list[TopicPartition]:
    wanted = set(topics) or {where.topic for where in committed}
    existing = find_leaders(cluster, wanted)
    missing = sorted(set(topics) - {where.topic for where in existing})
    if missing:
        raise GatewayError(404, f"There is no topic {missing[0]!r}.", error_code=40401)
    found = sorted(existing) if topics else sorted(where for where in committed if where in existing)
    if not found:
        raise GatewayError(
            422, f"Group {group!r} has no offset in any topic that exists; name the topics to move it in."
        )
    return found


def _commit(cluster: Cluster, group: str, moves: list[Move]) -> None:
    if all(move.new is None for move in moves):
        raise GatewayError(422, f"Group {group!r} has committed no offset there: nothing can be shifted.")
    try:
        commit_moves(cluster, group, moves)
    except RefusedError as error:
        if error.code not in GROUP_IS_ACTIVE:
            raise
        raise GatewayError(409, f"Group {group!r} has members by now; stop them first.") from error


def _active(group: str, described: GroupDescription) -> GatewayError:
    count = len(described.members)
    members = f"{count} active member{'' if count == 1 else 's'}"
    return GatewayError(409, f"Group {group!r} has {members}; stop them before it is moved.")
