"""What a shard asks of any kind of group. Classic groups are one; others live beside them in the same shard.

A kind brings its own requests and records. Offsets are the same for all: they only ask the group whether a
commit is allowed, and whether a topic is still read.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import CoordinatorRecord, Outcome
from penstock.groups.timers import GroupDeadline
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import Millis, TopicPartition


class GroupKind(StrEnum):
    """The kinds of group; their values are the types that ListGroups shows."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"


@dataclass(frozen=True, slots=True, kw_only=True)
class Committer:
    """Who wants to commit offsets."""

    member_id: str
    group_instance_id: str | None
    #: Below 0 when it comes from outside the group: an administrator, or a consumer that assigns to itself.
    generation_or_epoch: int
    is_transactional: bool
    api_version: int


PartitionRule: TypeAlias = Callable[[TopicPartition], ErrorCode]
"""Why a committer may not commit an offset of one partition; NONE if it may."""


class Group(Protocol):
    """One group, of whatever kind."""

    @property
    def group_id(self) -> str:
        """Its name."""

    @property
    def kind(self) -> GroupKind:
        """What kind of group it is."""

    @property
    def state_name(self) -> str:
        """Its state, as ListGroups shows it."""

    @property
    def protocol_type(self) -> str | None:
        """What its members use it for; none when it has never had any."""

    @property
    def member_count(self) -> int:
        """How many members it has."""

    @property
    def is_empty(self) -> bool:
        """Whether it has no members."""

    @property
    def is_abandoned(self) -> bool:
        """Whether it has no members, and expects none."""

    @property
    def is_void(self) -> bool:
        """Whether nothing would be lost if memory forgot it: nobody is in it and the log does not know it."""

    @property
    def is_decided(self) -> bool:
        """Whether a record of it has to be replayed before anything else can be decided."""

    def serve(self, event: RequestReceived, now: Millis) -> Outcome:
        """Decide on a request of a member. ``ApiError`` refuses it; nothing has changed then."""

    def expire(self, deadline: GroupDeadline, now: Millis) -> Outcome:
        """One of its deadlines is over."""

    def loaded(self, now: Millis) -> Outcome:
        """All its records have been replayed; from now on it is alive."""

    def unload(self, code: ErrorCode) -> Outcome:
        """It is gone from this broker: answer with ``code`` whoever waits, and forget all deadlines."""

    def check_offset_commit(self, committer: Committer) -> PartitionRule | None:
        """Raise ``ApiError`` unless this committer may commit offsets now; of some partitions, by a rule."""

    def note_offset_commit(self, committer: Committer, now: Millis) -> None:
        """A commit was accepted, which is a sign of life."""

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Raise ``ApiError`` unless this member may ask for offsets."""

    def check_offset_delete(self) -> None:
        """Raise ``ApiError`` unless offsets may be deleted; ``is_subscribed_to`` is asked for each topic."""

    def check_deletable(self) -> None:
        """Raise ``ApiError`` unless the whole group may be deleted."""

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether a member reads this topic, or may, as far as the coordinator can tell."""

    def retention_start(self, commit_timestamp: int) -> int | None:
        """Since when an offset is kept for nobody, given its last commit; none while the group needs it."""

    def hard_state(self) -> object:
        """A value that says what the log says of it, to compare it with another; none if it says nothing."""

    def tombstones(self) -> tuple[CoordinatorRecord, ...]:
        """The records that delete all the log knows of it, its offsets aside."""

    def validate(self) -> None:
        """Raise ``InvariantError`` unless everything that must always hold does."""
