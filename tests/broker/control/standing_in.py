"""A quorum that decides at once, for what is built on one; and a clock that a test moves."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from penstock.metadata.describe_quorum import QuorumFacts, QuorumMember
from penstock.metadata.image import ClusterImage
from penstock.metadata.result import Result
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import Millis, NodeId
from penstock.raft.replica import ReplicaKey, Voter
from penstock.raft.voters import VoterSet, voter_set

R = TypeVar("R")

WAIT_SECONDS = 10.0


class MovedClock:
    """Time passes when the test says so."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def wall_ms(self) -> Millis:
        return Millis(int(self.seconds * 1000))

    def monotonic(self) -> float:
        return self.seconds


class InstantQuorum:
    """Leads when told to; what is decided is applied on the spot."""

    def __init__(self, image: ClusterImage, *, key: ReplicaKey) -> None:
        self.image = image
        self.key = key
        self.applied_offset = 100
        self.is_leader = True
        self.leader_id: NodeId | None = key.node_id
        self.voters: VoterSet = voter_set([Voter(key=key)])
        self.observers: list[QuorumMember] = []
        #: Raised by the next decisions, one each.
        self.refusals: list[ApiError] = []
        self.on_applied: Callable[[], None] = lambda: None

    async def submit(self, decide: Callable[[ClusterImage], Result[R]]) -> R:
        return await self.submit_at(lambda image, offset: decide(image))

    async def submit_at(self, decide: Callable[[ClusterImage, int], Result[R]]) -> R:
        await asyncio.sleep(0)
        if self.refusals:
            raise self.refusals.pop(0)
        if not self.is_leader:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        result = decide(self.image, self.applied_offset)
        if result.records:
            self.image = self.image.apply(result.records)
            self.applied_offset += len(result.records)
            self.on_applied()
        return result.response

    async def wait_applied(self, offset: int, *, seconds_max: float) -> bool:
        return self.applied_offset >= offset

    async def add_voter(self, voter: Voter) -> None:
        if self.refusals:
            raise self.refusals.pop(0)
        self.voters = self.voters.including(voter)

    async def remove_voter(self, key: ReplicaKey) -> None:
        self.voters = self.voters.excluding(key)

    def facts(self) -> QuorumFacts:
        members = tuple(
            QuorumMember(node_id=each.node_id, directory_id=each.directory_id) for each in self.voters.keys
        )
        return QuorumFacts(
            leader_id=self.key.node_id,
            leader_epoch=1,
            high_watermark=self.applied_offset,
            voters=members,
            observers=tuple(self.observers),
        )


async def until(condition: Callable[[], object]) -> None:
    """Return as soon as ``condition`` holds; fail when it never does."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not condition():
            await asyncio.sleep(0.001)
