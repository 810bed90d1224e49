"""What a group has committed: shown, set, or reset; a dry run says what would be done.

Only a group without members is moved: its members would not know.
"""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, model_validator

from penstock.gateway.errors import GatewayError
from penstock.gateway.gateway import Gateway
from penstock.gateway.rest.groups.groups import GroupName, ShownProgress, find_group
from penstock.gateway.rest.parameters import TIMESTAMP_MAX, TOPIC_NAME
from penstock.gateway.rest.records.cursor import OFFSET_MAX, PARTITION_MAX
from penstock.gateway.rest.records.start import check_partitions, topic_partitions
from penstock.model.ids import TopicPartition
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.errors import RefusedError
from penstock.wire_client.groups.description import describe_groups
from penstock.wire_client.groups.moves import GROUP_IS_ACTIVE, Move, commit_moves, plan_moves
from penstock.wire_client.groups.offsets import Offsets, committed_offsets, progress_of
from penstock.wire_client.groups.reset_target import Reference, Target

OFFSETS_MAX = 100_000

TopicText = Annotated[str, Field(pattern=TOPIC_NAME)]


class CommitOffset(BaseModel):
    """An offset to go on from."""

    model_config = ConfigDict(extra="forbid")

    topic: TopicText
    partition: int = Field(ge=0, le=PARTITION_MAX)
    offset: int = Field(ge=0, le=OFFSET_MAX)


class CommitWish(BaseModel):
    """Offsets for a group to go on from."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"example": {"offsets": [{"topic": "orders", "partition": 0, "offset": 17}]}},
    )

    offsets: Annotated[list[CommitOffset], Field(min_length=1, max_length=OFFSETS_MAX)]
    dry_run: bool = False


class ResetWish(BaseModel):
    """Where a group is to go on: ``value`` is a timestamp, how far to shift, or an offset."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"to": "earliest", "topics": ["orders"], "dry_run": True},
                {"to": "timestamp", "value": 1763400000000},
                {"to": "shift", "value": -100},
            ]
        },
    )

    to: Reference
    value: int | None = Field(default=None, ge=-OFFSET_MAX, le=OFFSET_MAX)
    topics: list[TopicText] | None = None
    """All that the group has committed, if left out."""
    partitions: list[Annotated[int, Field(ge=0, le=PARTITION_MAX)]] | None = None
    """All, if left out."""
    dry_run: bool = False

    @model_validator(mode="after")
    def _check_value(self) -> "ResetWish":
        needs_value = self.to in (Reference.TIMESTAMP, Reference.SHIFT, Reference.OFFSET)
        if needs_value != (self.value is not None):
            raise ValueError(f"to={self.to} is given {'with' if needs_value else 'without'} a value")
        if self.to is Reference.TIMESTAMP and not 0 <= (self.value or 0) <= TIMESTAMP_MAX:
            raise ValueError(f"a timestamp is from 0 to {TIMESTAMP_MAX} ms")
        return self


class ShownMove(BaseModel):
    """One offset before and after; null where there was none, or where nothing is to be done."""

    topic: str
    partition: int
    old_offset: int | None
    new_offset: int | None
    change: int | None
    """How many records are skipped; negative for those that will be read again."""
    note: str


class Moves(BaseModel):
    """What was done, or would be."""

    is_dry_run: bool
    moves: list[ShownMove]


def group_offsets_router(gateway: Gateway) -> APIRouter:
    """The routes about what groups have committed."""
    routes = APIRouter()

    @routes.get("/groups/{group:name}/offsets")
    def show_offsets(group: GroupName) -> list[ShownProgress]:
        """What a group has committed, and its lag."""
        with gateway.kafka.cluster() as cluster:
            progress = progress_of(cluster, [find_group(cluster, group)])[group]
        return [ShownProgress(**each.as_json()) for each in progress]

    @routes.put("/groups/{group:name}/offsets")
    def set_offsets(group: GroupName, wish: CommitWish) -> Moves:
        """Let a group without members go on from these offsets; it need not exist."""
        with gateway.kafka.cluster() as cluster:
            _check_without_members(cluster, group)
            committed = committed_offsets(cluster, [group]).get(group, {})
            moves = [move for each in wish.offsets for move in _set(cluster, committed, each)]
            return _carried_out(cluster, group, moves, is_dry_run=wish.dry_run)

    @routes.post("/groups/{group:name}/offsets/reset")
    def reset_offsets(group: GroupName, wish: ResetWish) -> Moves:
        """Move a group without members; with `dry_run`, say what that would do."""
        target = Target(wish.to, wish.value or 0)
        with gateway.kafka.cluster() as cluster:
            _check_without_members(cluster, group)
            committed = committed_offsets(cluster, [group]).get(group, {})
            partitions = _chosen(cluster, committed, wish)
            if not partitions:
                raise GatewayError(
                    404,
                    f"The group {group!r} has committed nothing; say which topics it is to read.",
                    error_code=40403,
                    error="GROUP_ID_NOT_FOUND",
                )
            moves = plan_moves(cluster, partitions, committed, target)
            return _carried_out(cluster, group, moves, is_dry_run=wish.dry_run)

    return routes


def _check_without_members(cluster: Cluster, group: str) -> None:
    found = describe_groups(cluster, [group]).get(group)
    if found is not None and found.is_active:
        raise GatewayError(
            409,
            f"The group {group!r} has {len(found.members)} members; stop them first.",
            error_code=40901,
            error="NON_EMPTY_GROUP",
        )


def _set(cluster: Cluster, committed: Offsets, wish: CommitOffset) -> list[Move]:
    check_partitions(wish.topic, [wish.partition], topic_partitions(cluster, wish.topic))
    partition = TopicPartition(wish.topic, wish.partition)
    return plan_moves(cluster, [partition], committed, Target(Reference.OFFSET, wish.offset))


def _chosen(cluster: Cluster, committed: Offsets, wish: ResetWish) -> Sequence[TopicPartition]:
    if wish.topics is None:
        chosen = sorted(committed)
    else:
        chosen = [
            TopicPartition(topic, number)
            for topic in sorted(set(wish.topics))
            for number in topic_partitions(cluster, topic)
        ]
    return [each for each in chosen if wish.partitions is None or each.partition in wish.partitions]


def _carried_out(cluster: Cluster, group: str, moves: Sequence[Move], *, is_dry_run: bool) -> Moves:
    if not is_dry_run:
        try:
            commit_moves(cluster, group, moves)
        except RefusedError as error:
            if error.code not in GROUP_IS_ACTIVE:
                raise
            raise GatewayError(
                409, f"The group {group!r} has members; stop them first.", error="NON_EMPTY_GROUP"
            ) from error
    return Moves(is_dry_run=is_dry_run, moves=[ShownMove(**move.as_json()) for move in moves])
