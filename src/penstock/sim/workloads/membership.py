"""A place in a consumer group of the classic protocol: joining, learning one's partitions, staying, leaving.

The assignment is round robin over the members in the order of their ids; brokers only carry it.
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from penstock.model.error_codes import ErrorCode
from penstock.sim.workloads.connection import Unanswered
from penstock.sim.workloads.history import Ending, Function
from penstock.sim.workloads.producing import GROUP
from penstock.sim.workloads.workload import Workload
from penstock.wire.messages.heartbeat import HeartbeatRequest
from penstock.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from penstock.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from penstock.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

JOIN_VERSION = 9
SYNC_VERSION = 5
HEARTBEAT_VERSION = 4
LEAVE_VERSION = 5
PROTOCOL_TYPE, PROTOCOL = "consumer", "roundrobin"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSettings:
    """The group, and what its members want."""

    group: str
    topic: str
    partition_count: int
    session_timeout_ms: int = 2000
    rebalance_timeout_ms: int = 2000


class Membership:
    """One member, or somebody who would like to be."""

    def __init__(self, workload: Workload, settings: GroupSettings) -> None:
        self._workload = workload
        self._client = workload.client
        self._settings = settings
        self.member_id = ""
        self.generation = -1
        #: What it owns in this generation.
        self.partitions: tuple[int, ...] = ()

    async def join(self) -> bool:
        """Become a member of the next generation; False when that did not work out this time."""
        self.partitions = ()
        try:
            answer = await self._ask(self._join_request(), JOIN_VERSION)
            if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                self.member_id = answer.member_id
                answer = await self._ask(self._join_request(), JOIN_VERSION)
            if self._is_refused(answer.error_code):
                return False
            self.member_id, self.generation = answer.member_id, answer.generation_id
            return await self._learn_assignment(answer)
        except Unanswered:
            self._client.forget_coordinator(GROUP, self._settings.group)
            return False

    async def heartbeat(self) -> bool:
        """Whether it is still a member of this generation, as far as anybody says."""
        request = HeartbeatRequest(
            group_id=self._settings.group, generation_id=self.generation, member_id=self.member_id
        )
        try:
            answer = await self._ask(request, HEARTBEAT_VERSION)
        except Unanswered:
            self._client.forget_coordinator(GROUP, self._settings.group)
            return True
        return not self._is_refused(answer.error_code)

    async def leave(self) -> None:
        """Say goodbye; nobody waits for the answer to be good."""
        member = MemberIdentity(member_id=self.member_id)
        request = LeaveGroupRequest(group_id=self._settings.group, members=(member,))
        self.member_id, self.partitions = "", ()
        try:
            await self._ask(request, LEAVE_VERSION)
        except Unanswered:
            self._client.forget_coordinator(GROUP, self._settings.group)

    def note_error(self, code: int) -> None:
        """What a commit was answered with may say that the membership is over."""
        self._is_refused(code)

    async def _learn_assignment(self, joined: Any) -> bool:
        assignments: tuple[SyncGroupRequestAssignment, ...] = ()
        if joined.leader == joined.member_id:
            assignments = tuple(self._assign(member.member_id for member in joined.members))
        request = SyncGroupRequest(
            group_id=self._settings.group,
            generation_id=self.generation,
            member_id=self.member_id,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=PROTOCOL,
            assignments=assignments,
        )
        answer = await self._ask(request, SYNC_VERSION)
        if self._is_refused(answer.error_code):
            return False
        self.partitions = _decode_assignment(answer.assignment)
        history, key = self._workload.history, f"{self._settings.group}/{self.generation}"
        owned = history.begin(self._workload.process, Function.OWN, key, value=self.partitions)
        history.end(owned, Ending.OK)
        return True

    def _assign(self, members: Iterable[str]) -> Iterable[SyncGroupRequestAssignment]:
        ordered = sorted(members)
        for place, member in enumerate(ordered):
            share = range(place, self._settings.partition_count, len(ordered))
            content = _encode_assignment(self._settings.topic, tuple(share))
            yield SyncGroupRequestAssignment(member_id=member, assignment=content)

    def _join_request(self) -> JoinGroupRequest:
        protocol = JoinGroupRequestProtocol(
            name=PROTOCOL, metadata=_encode_subscription(self._settings.topic)
        )
        return JoinGroupRequest(
            group_id=self._settings.group,
            session_timeout_ms=self._settings.session_timeout_ms,
            rebalance_timeout_ms=self._settings.rebalance_timeout_ms,
            member_id=self.member_id,
            protocol_type=PROTOCOL_TYPE,
            protocols=(protocol,),
        )

    def _is_refused(self, code: int) -> bool:
        if code == ErrorCode.NONE:
            return False
        if code == ErrorCode.UNKNOWN_MEMBER_ID:
            self.member_id = ""
        if code in (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE):
            self._client.forget_coordinator(GROUP, self._settings.group)
        return True

    async def _ask(self, request: Any, version: int) -> Any:
        return await self._client.ask_coordinator(GROUP, self._settings.group, request, version)


def _encode_subscription(topic: str) -> bytes:
    return struct.pack(">hi", 0, 1) + _string(topic) + struct.pack(">i", -1)


def _encode_assignment(topic: str, partitions: tuple[int, ...]) -> bytes:
    numbers = struct.pack(f">i{len(partitions)}i", len(partitions), *partitions)
    return struct.pack(">hi", 0, 1) + _string(topic) + numbers + struct.pack(">i", -1)


def _decode_assignment(data: bytes) -> tuple[int, ...]:
    if not data:
        return ()
    (length,) = struct.unpack_from(">h", data, 6)
    (count,) = struct.unpack_from(">i", data, 8 + length)
    return struct.unpack_from(f">{count}i", data, 12 + length)


def _string(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()
