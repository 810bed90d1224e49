"""A member of a consumer group: who it is, what it wants, and how far it has come towards what it is to have.

The two halves are two records, and change apart from each other. ``profile`` is what the member says of
itself. ``progress`` is what the coordinator has granted it, and at which epoch.

::

                 everything it is to have is its own
         Stable <──────────────────────────────────── UnreleasedPartitions
           │  ▲ ╲                                        ▲    partitions it is to have
           │  │   ╲───── others still hold some ─────────┘    are held by others
           │  └──────────────────────────╮
           ▼    it has let go            │
        UnrevokedPartitions ─────────────┘   partitions it has are to go to others;
                                             it stays at its epoch until it has let go of them
"""

from dataclasses import dataclass, field, replace
from enum import IntEnum

from penstock.groups.consumer_records import ClassicMemberMetadata, ConsumerGroupMemberMetadataValue
from penstock.groups.partitions import NOTHING_HELD, Held, Partitions
from penstock.wire.messages.consumer_group_heartbeat import JOIN_EPOCH, STATIC_LEAVE_EPOCH


class MemberState(IntEnum):
    """How far a member is; the numbers are those in the log."""

    #: It has what it is to have, or has not been told yet that this has changed.
    STABLE = 0
    #: It holds partitions that are not its own any more. It is told which it may keep, and has its rebalance
    #: timeout to let go of the others.
    UNREVOKED_PARTITIONS = 1
    #: It has let go of everything, and others have not let go yet of what it is to have.
    UNRELEASED_PARTITIONS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What a member has."""

    #: 0 before it has been given anything; -2 of a static member that is away. Only grows otherwise.
    epoch: int = JOIN_EPOCH
    #: The epoch before: a member whose last answer was lost still speaks of it.
    previous_epoch: int = JOIN_EPOCH
    state: MemberState = MemberState.STABLE
    #: What it may read.
    assigned: Held = field(default_factory=dict)
    #: What it has to let go of; nobody else may have that before it says so. Not empty just in Unrevoked.
    revoking: Held = field(default_factory=dict)

    def is_reconciled_to(self, target_epoch: int) -> bool:
        """Whether it has all that the assignment of this epoch gives it."""
        return self.state is MemberState.STABLE and self.epoch == target_epoch

    def at(self, epoch: int) -> "Progress":
        """The same at another epoch."""
        return self if epoch == self.epoch else replace(self, epoch=epoch, previous_epoch=self.epoch)

    def released(self) -> "Progress":
        """The same of a member that has let go of all it had to."""
        return replace(self, state=MemberState.STABLE, revoking=NOTHING_HELD)


NEW = Progress()
"""Of a member that has just come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerMember:
    """One member."""

    member_id: str
    profile: ConsumerGroupMemberMetadataValue
    progress: Progress = NEW

    @property
    def instance_id(self) -> str | None:
        """By what it keeps its place while its client restarts."""
        return self.profile.instance_id

    @property
    def classic(self) -> ClassicMemberMetadata | None:
        """What is known of it if it speaks the classic protocol."""
        return self.profile.classic_member_metadata

    @property
    def speaks_classic(self) -> bool:
        """Whether it speaks JoinGroup, SyncGroup and Heartbeat rather than ConsumerGroupHeartbeat."""
        return self.profile.classic_member_metadata is not None

    @property
    def is_away(self) -> bool:
        """Whether it is a static member that has left, and will come back."""
        return self.progress.epoch == STATIC_LEAVE_EPOCH

    def assigned_partitions(self) -> Partitions:
        """What it may read."""
        return frozenset(self.progress.assigned)
