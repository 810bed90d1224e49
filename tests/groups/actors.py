"""Clients of a group as tests speak of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.groups.shell import Shell

from penstock.groups.consumer_protocol import ConsumerProtocolSubscription, write_subscription
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from penstock.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from penstock.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from penstock.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse

GROUP = "readers"


def subscription(*topics: str) -> bytes:
    return write_subscription(ConsumerProtocolSubscription(topics=topics))


def protocols(*names: str, topics: tuple[str, ...] = ("orders",)) -> tuple[JoinGroupRequestProtocol, ...]:
    return tuple(JoinGroupRequestProtocol(name=name, metadata=subscription(*topics)) for name in names)


@dataclass
class Actor:
    """A consumer that does exactly what it is told."""

    shell: Shell
    name: str
    instance: str | None = None
    group: str = GROUP
    version: int = 9
    session_ms: int = 10_000
    rebalance_ms: int = 60_000
    protocol_type: str = "consumer"
    protocols: tuple[JoinGroupRequestProtocol, ...] = protocols("range")
    member_id: str = ""
    generation: int = -1
    #: The JoinGroup or SyncGroup that was sent last.
    token: int = 0
    is_leader: bool = False

    def send_join(self, *, member_id: str | None = None) -> int:
        """Send JoinGroup with the id it has, or another one."""
        request = JoinGroupRequest(
            group_id=self.group,
            session_timeout_ms=self.session_ms,
            rebalance_timeout_ms=self.rebalance_ms,
            member_id=self.member_id if member_id is None else member_id,
            group_instance_id=self.instance,
            protocol_type=self.protocol_type,
            protocols=self.protocols,
        )
        self.token = self.shell.send(request, version=self.version, client=self.name)
        return self.token

    def join(self) -> int:
        """Join as clients do: when sent back with an id, come again."""
        self.send_join()
        if self.is_answered and self.joined().error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = self.joined().member_id
            self.send_join()
        return self.token

    @property
    def is_answered(self) -> bool:
        return not self.shell.is_waiting(self.token)

    def joined(self) -> JoinGroupResponse:
        """The answer to the last JoinGroup; the actor learns from it."""
        response = self.shell.answer(JoinGroupResponse, self.token)
        if response.error_code == ErrorCode.NONE:
            self.member_id, self.generation = response.member_id, response.generation_id
            self.is_leader = response.leader == response.member_id
        return response

    def sync(self, assignments: Mapping[str, bytes] | None = None) -> int:
        """Send SyncGroup; the leader's has assignments."""
        request = SyncGroupRequest(
            group_id=self.group,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance,
            assignments=tuple(
                SyncGroupRequestAssignment(member_id=member_id, assignment=assignment)
                for member_id, assignment in (assignments or {}).items()
            ),
        )
        self.token = self.shell.send(request, version=min(self.version, 5), client=self.name)
        return self.token

    def synced(self) -> SyncGroupResponse:
        return self.shell.answer(SyncGroupResponse, self.token)

    def heartbeat(self) -> int:
        """Send Heartbeat; returns its error code."""
        request = HeartbeatRequest(
            group_id=self.group,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance,
        )
        return self.shell.ask(HeartbeatResponse, request, version=4).error_code

    def leave(self) -> int:
        """Send LeaveGroup for itself; returns its error code."""
        identity = MemberIdentity(member_id=self.member_id, group_instance_id=self.instance)
        request = LeaveGroupRequest(group_id=self.group, members=(identity,))
        response = self.shell.ask(LeaveGroupResponse, request, version=5)
        return response.error_code or response.members[0].error_code

    def commit(self, offset: int, *, topic: str = "orders", partition: int = 0) -> int:
        """Commit an offset as a member; returns its error code."""
        request = OffsetCommitRequest(
            group_id=self.group,
            generation_id_or_member_epoch=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance,
            topics=(
                OffsetCommitRequestTopic(
                    name=topic,
                    partitions=(
                        OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset),
                    ),
                ),
            ),
        )
        response = self.shell.ask(OffsetCommitResponse, request, version=8)
        return response.topics[0].partitions[0].error_code


def stable_group(shell: Shell, *actors: Actor) -> None:
    """Bring a group of these into its first generation, the first one leading; each gets its own name."""
    for actor in actors:
        actor.join()
    shell.wait(shell.settings.group_initial_rebalance_delay_ms * 2)
    finish_round(*actors)


def finish_round(*actors: Actor) -> None:
    """All have joined: let them all sync, the leader last."""
    leaders = [actor for actor in actors if actor.joined().leader == actor.member_id]
    assert len(leaders) == 1
    for actor in actors:
        if actor is not leaders[0]:
            actor.sync()
    leaders[0].sync({actor.member_id: actor.name.encode() for actor in actors})
    for actor in actors:
        assert actor.synced().error_code == ErrorCode.NONE
