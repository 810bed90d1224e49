"""A member of a classic group, as its coordinator's memory has it.

Its identity, timeouts, assignment and what it said in the chosen protocol are in the log too; all else (its
other protocols, requests that wait) lives only here, and a coordinator that takes over does without.
"""

from collections.abc import Collection
from dataclasses import dataclass

from penstock.coordinator.events import RequestReceived
from penstock.model.errors import InvariantError
from penstock.model.ids import Millis
from penstock.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol

Protocols = tuple[JoinGroupRequestProtocol, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parked:
    """A request that waits for its answer."""

    token: int
    api_version: int


@dataclass(slots=True, kw_only=True)
class Member:
    """One member."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    #: In the order of the member's liking; at least one of them is every member's.
    protocols: Protocols
    #: Of this generation; empty until the leader has spoken.
    assignment: bytes = b""
    #: Whether its first JoinGroup has not been answered yet.
    is_new: bool = False
    #: Only while the group is in its join phase.
    parked_join: Parked | None = None
    #: Only while the group is in its sync phase.
    parked_sync: Parked | None = None
    #: Whether this generation's SyncGroup is still to come from it.
    owes_sync: bool = False

    @property
    def is_static(self) -> bool:
        """Whether it keeps its place while its client restarts."""
        return self.group_instance_id is not None

    @property
    def is_waiting(self) -> bool:
        """Whether the coordinator owes it an answer: then its silence means nothing."""
        return (self.parked_join is not None and not self.is_new) or self.parked_sync is not None

    def protocol_names(self) -> tuple[str, ...]:
        """The names of its protocols, the best liked first."""
        return tuple(protocol.name for protocol in self.protocols)

    def metadata(self, protocol_name: str) -> bytes:
        """What it said about itself in a protocol."""
        for protocol in self.protocols:
            if protocol.name == protocol_name:
                return protocol.metadata
        raise InvariantError(f"member {self.member_id!r} has no protocol {protocol_name!r}")

    def vote(self, candidates: Collection[str]) -> str:
        """The candidate it likes best."""
        for protocol in self.protocols:
            if protocol.name in candidates:
                return protocol.name
        raise InvariantError(f"member {self.member_id!r} supports none of {sorted(candidates)}")

    def session_end(self, now: Millis) -> Millis:
        """When it is taken for dead if nothing is heard of it from now on."""
        return Millis(now + self.session_timeout_ms)


def new_member(event: RequestReceived, request: JoinGroupRequest, member_id: str) -> Member:
    """The member that a JoinGroup request introduces."""
    return Member(
        member_id=member_id,
        group_instance_id=request.group_instance_id,
        client_id=event.client_id,
        client_host=event.client_host,
        rebalance_timeout_ms=rebalance_timeout_of(request),
        session_timeout_ms=request.session_timeout_ms,
        protocols=request.protocols,
    )


def rebalance_timeout_of(request: JoinGroupRequest) -> int:
    """How long a member wants to be waited for; clients of old say it with their session timeout."""
    has_own = request.rebalance_timeout_ms >= 0
    return request.rebalance_timeout_ms if has_own else request.session_timeout_ms
