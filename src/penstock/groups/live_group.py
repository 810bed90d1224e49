"""A classic group as its coordinator's memory has it: who is there, who waits, how far the round is.

All of this is soft. ``settle`` makes it what a record says; between two records it runs ahead of the log, and
what was not written is lost with the coordinator. The moves are made by ``join``, ``sync``, ``leave`` and
``rebalance``; this file holds what they work on and the rules that every request obeys.
"""

from dataclasses import dataclass

from penstock.coordinator.outcome import NOTHING, Outcome, answer
from penstock.groups.consumer_protocol import PROTOCOL_TYPE, read_subscription
from penstock.groups.context import ShardContext
from penstock.groups.group_state import DECIDED_MOVES, REPLAYED_MOVES, GroupState, check_move
from penstock.groups.member import Member
from penstock.groups.membership import Membership
from penstock.groups.records import GroupMetadataMember, GroupMetadataValue
from penstock.groups.refusals import refused_join, refused_sync
from penstock.groups.timers import GroupTimers
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, InvariantError
from penstock.model.ids import Millis
from penstock.wire.messages.join_group import (
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    JoinGroupResponseMember,
)


@dataclass(slots=True, kw_only=True)
class InitialDelay:
    """A new group waits for more members, and longer as long as they come."""

    #: When it waits no longer, whoever comes.
    until: Millis
    has_new_members: bool = False


class LiveGroup:
    """The memory of one classic group."""

    __slots__ = (
        "context",
        "generation",
        "group_id",
        "initial_delay",
        "is_decided",
        "leader_id",
        "members",
        "protocol_name",
        "protocol_type",
        "state",
        "subscribed_topics",
        "timers",
    )

    def __init__(self, group_id: str, context: ShardContext) -> None:
        self.group_id = group_id
        self.context = context
        self.timers = GroupTimers(context.deadlines, group_id)
        self.state = GroupState.EMPTY
        #: Grows by one with every round that ends; one ahead of the log in the sync phase.
        self.generation = 0
        self.members = Membership()
        #: None until the first member, then that of the members, past ones included.
        self.protocol_type: str | None = None
        #: None while there are no members, and in the first join phase.
        self.protocol_name: str | None = None
        #: The first who joined the round; none while there are no members.
        self.leader_id: str | None = None
        #: What the members of this generation read; none when the coordinator cannot tell.
        self.subscribed_topics: frozenset[str] | None = None
        #: Only in the join phase that follows Empty.
        self.initial_delay: InitialDelay | None = None
        #: A record of this group was decided and not replayed yet: nothing else may be decided meanwhile.
        self.is_decided = False

    def move_to(self, state: GroupState) -> None:
        """Enter a state that is not in the log."""
        check_move(self.group_id, self.state, state, moves=DECIDED_MOVES)
        self.state = state

    def settle(self, record: GroupMetadataValue) -> None:
        """Become what a record says; what memory alone knows of the members it names is kept."""
        state = GroupState.STABLE if record.members else GroupState.EMPTY
        check_move(self.group_id, self.state, state, moves=REPLAYED_MOVES)
        self._settle_members(record)
        self.state = state
        self.generation = record.generation
        self.protocol_type = record.protocol_type or None
        self.protocol_name = record.protocol
        self.leader_id = record.leader or next((member.member_id for member in self.members), None)
        self.subscribed_topics = self.find_subscribed_topics()
        self.is_decided = False

    def check_member(self, member_id: str, group_instance_id: str | None) -> Member:
        """The member that sends a request; UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID if it is none."""
        if group_instance_id is not None:
            holder = self.members.static_id(group_instance_id)
            if holder is not None and holder != member_id:
                raise ApiError(ErrorCode.FENCED_INSTANCE_ID)
            if holder is None:
                raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
        member = self.members.get(member_id)
        if member is None:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
        return member

    def check_generation(self, generation: int) -> None:
        """Refuse a request that speaks of another generation."""
        if generation != self.generation:
            raise ApiError(ErrorCode.ILLEGAL_GENERATION)

    def hear_of(self, member: Member, now: Millis) -> None:
        """Begin a member's session anew."""
        self.timers.start_session(member.member_id, member.session_end(now))

    def remove(self, member_id: str) -> Outcome:
        """Let a member go; if it waits for an answer it learns that it is none any more."""
        refusals = self.refuse_waiting(self.members[member_id], ErrorCode.UNKNOWN_MEMBER_ID)
        self.members.remove(member_id)
        self.timers.end_session(member_id)
        if self.leader_id == member_id:
            self.leader_id = next((other.member_id for other in self.members), None)
        return refusals

    def refuse_waiting(self, member: Member, code: ErrorCode) -> Outcome:
        """Answer whatever a member waits for with an error."""
        return self.refuse_join(member, code) + self.refuse_sync(member, code)

    def refuse_join(self, member: Member, code: ErrorCode) -> Outcome:
        """Answer a member's waiting JoinGroup, if there is one, with an error."""
        parked = self.members.unpark_join(member)
        if parked is None:
            return NOTHING
        # A member that is unknown must come back without an id.
        member_id = "" if code is ErrorCode.UNKNOWN_MEMBER_ID else member.member_id
        return answer(parked.token, refused_join(code, member_id, parked.api_version))

    def refuse_sync(self, member: Member, code: ErrorCode) -> Outcome:
        """Answer a member's waiting SyncGroup, if there is one, with an error."""
        parked, member.parked_sync = member.parked_sync, None
        return NOTHING if parked is None else answer(parked.token, refused_sync(code))

    def joined(self, member: Member) -> JoinGroupResponse:
        """What a member learns of this generation; only the leader learns who else is in it."""
        is_leader = member.member_id == self.leader_id
        return JoinGroupResponse(
            generation_id=self.generation,
            protocol_type=self.protocol_type,
            protocol_name=self.protocol_name,
            leader=self.leader_id or "",
            member_id=member.member_id,
            members=self._members_for_leader() if is_leader else (),
        )

    def find_subscribed_topics(self) -> frozenset[str] | None:
        """What the members read by what they said in the chosen protocol."""
        if self.protocol_type != PROTOCOL_TYPE:
            return None
        if self.protocol_name is None:
            return frozenset()
        topics: set[str] = set()
        for member in self.members:
            subscription = read_subscription(member.metadata(self.protocol_name))
            if subscription is None:
                return None
            topics.update(subscription.topics)
        return frozenset(topics)

    def validate(self) -> None:
        """Raise ``InvariantError`` unless state, members and deadlines fit together."""
        self.members.validate()
        for what, holds in (self._state_rules() | self._deadline_rules()).items():
            if not holds:
                raise InvariantError(
                    f"group {self.group_id!r}, {self.state}, generation {self.generation}: {what}"
                )

    def _state_rules(self) -> dict[str, bool]:
        is_empty = self.state is GroupState.EMPTY
        is_joining = self.state is GroupState.PREPARING_REBALANCE
        is_syncing = self.state is GroupState.COMPLETING_REBALANCE
        has_generation = is_syncing or self.state is GroupState.STABLE
        leader = self.members.get(self.leader_id or "")
        return {
            "nothing is decided and not replayed": not self.is_decided,
            "an empty group has no members": not is_empty or not self.members,
            "a generation has members": not has_generation or bool(self.members),
            "a group with members has a leader among them": (leader is not None) == bool(self.members),
            "nobody waits to join outside of the join phase": is_joining or self.members.joined_count == 0,
            "nobody waits for an assignment outside of the sync phase": is_syncing
            or all(member.parked_sync is None for member in self.members),
            "the leader owes the assignment in the sync phase": not is_syncing
            or (leader is not None and leader.owes_sync),
            "all support the protocol of the generation": not has_generation
            or all(self.protocol_name in member.protocol_names() for member in self.members),
            "only a first join phase waits for more members": is_joining or self.initial_delay is None,
            "only new members have never been answered": is_joining
            or not any(member.is_new for member in self.members),
        }

    def _deadline_rules(self) -> dict[str, bool]:
        is_joining = self.state is GroupState.PREPARING_REBALANCE
        owes_sync = any(member.owes_sync for member in self.members)
        return {
            "the join phase ends, and only that": self.timers.has_join_phase == is_joining,
            "the sync phase ends, and only that": self.timers.has_sync_phase == owes_sync,
            "every member that can speak has a session": all(
                member.is_waiting or self.timers.has_session(member.member_id) for member in self.members
            ),
            "every id given out has a session": all(map(self.timers.has_session, self.members.pending)),
        }

    def _settle_members(self, record: GroupMetadataValue) -> None:
        before, self.members = self.members, Membership()
        for stored in record.members:
            member = before.get(stored.member_id)
            if member is None or not _is_same(member, stored, record.protocol):
                member = _loaded(stored, record.protocol)
            member.assignment = stored.assignment
            self.members.add(member)
        for member in before:
            if member.member_id not in self.members:
                self.timers.end_session(member.member_id)
        for member_id in before.pending:
            self.members.add_pending(member_id)

    def _members_for_leader(self) -> tuple[JoinGroupResponseMember, ...]:
        if self.protocol_name is None:
            raise InvariantError(f"group {self.group_id!r} has a leader but no protocol")
        return tuple(
            JoinGroupResponseMember(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                metadata=member.metadata(self.protocol_name),
            )
            for member in self.members
        )


def _is_same(member: Member, stored: GroupMetadataMember, protocol_name: str | None) -> bool:
    """Whether a record speaks of the very member that memory has."""
    return (
        protocol_name in member.protocol_names()
        and member.metadata(protocol_name or "") == stored.subscription
    )


def _loaded(stored: GroupMetadataMember, protocol_name: str | None) -> Member:
    """A member of which only the log is known: it supports what was chosen, and nothing else."""
    protocol = JoinGroupRequestProtocol(name=protocol_name or "", metadata=stored.subscription)
    return Member(
        member_id=stored.member_id,
        group_instance_id=stored.group_instance_id,
        client_id=stored.client_id,
        client_host=stored.client_host,
        # Records of old have none; then the session's counts, as it does for clients of old.
        rebalance_timeout_ms=_rebalance_timeout(stored),
        session_timeout_ms=stored.session_timeout,
        protocols=(protocol,),
    )


def _rebalance_timeout(stored: GroupMetadataMember) -> int:
    return stored.rebalance_timeout if stored.rebalance_timeout >= 0 else stored.session_timeout
