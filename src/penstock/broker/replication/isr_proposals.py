"""Leaders' proposals of other in-sync sets, on their way to the controller.

Proposals of one turn of the loop go together. What the controller answers only says whether to ask again; the
set itself changes when the metadata log says so.
"""

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Protocol

from penstock.broker.partition import Partition
from penstock.broker.peers.peer_error import PeerError
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import TopicId
from penstock.replication.leader_events import ProposalAnswered, ProposeIsr
from penstock.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    BrokerState,
    PartitionData,
    TopicData,
)
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.replication.replication import Replication

logger = logging.getLogger(__name__)

ANSWER_SECONDS_MAX = 5.0
REST_SECONDS_MIN = 0.05
REST_SECONDS_MAX = 1.0

Proposals = dict[Partition, ProposeIsr]


class ControllerAsking(Protocol):
    """The way to the active controller."""

    async def ask(self, request: Struct, *, seconds_max: float) -> Any:
        """Its answer; ``PeerError`` or NOT_CONTROLLER when there is none within the time."""


class IsrProposals:
    """Those of one broker. One request is under way at a time; a partition has one proposal at most."""

    def __init__(self, replication: "Replication") -> None:
        self._replication = replication
        self._broker = replication.broker
        self._waiting: Proposals = {}
        self._task: asyncio.Task[None] | None = None
        self._failures = 0

    def add(self, partition: Partition, proposal: ProposeIsr) -> None:
        """Ask the controller, soon."""
        self._waiting[partition] = proposal
        if self._task is None:
            self._task = self._broker.tasks.start(self._ask_all(), name="propose in-sync sets")

    def stop(self) -> None:
        """Ask for nothing any more."""
        if self._task is not None:
            self._task.cancel()

    async def _ask_all(self) -> None:
        try:
            while self._waiting:
                await asyncio.sleep(self._rest_seconds())
                waiting, self._waiting = self._waiting, {}
                self._failures = self._failures + 1 if await self._ask(waiting) else 0
        finally:
            self._task = None

    def _rest_seconds(self) -> float:
        """None at first: the end of this turn is soon enough."""
        if not self._failures:
            return 0.0
        return min(REST_SECONDS_MIN * 2.0 ** min(self._failures - 1, 16), REST_SECONDS_MAX)

    async def _ask(self, proposals: Proposals) -> bool:
        """Ask for some; whether any of them will be asked again."""
        current = {
            partition: proposal
            for partition, proposal in proposals.items()
            if partition.is_leader and partition.leader.proposal == proposal
        }
        if not current:
            return False
        try:
            response = await self._broker.control.ask(self._request(current), seconds_max=ANSWER_SECONDS_MAX)
        except PeerError as error:
            logger.warning("controller does not answer", extra={"reason": str(error)})
            codes: dict[tuple[bytes, int], ErrorCode] = {}
        except ApiError as error:
            logger.warning("in-sync sets cannot be proposed", extra={"reason": str(error)})
            codes = {}
        else:
            codes = _codes(response, current)
        for partition, proposal in current.items():
            code = codes.get((partition.topic_id, partition.index), ErrorCode.REQUEST_TIMED_OUT)
            self._answered(partition, proposal, code)
        return bool(self._waiting)

    def _request(self, proposals: Proposals) -> AlterPartitionRequest:
        by_topic: dict[TopicId, list[PartitionData]] = {}
        for partition, proposal in proposals.items():
            by_topic.setdefault(partition.topic_id, []).append(_wanted(partition, proposal))
        return AlterPartitionRequest(
            broker_id=self._broker.node_id,
            broker_epoch=self._replication.broker_epoch,
            topics=tuple(
                TopicData(topic_id=topic_id, partitions=tuple(partitions))
                for topic_id, partitions in by_topic.items()
            ),
        )

    def _answered(self, partition: Partition, proposal: ProposeIsr, code: ErrorCode) -> None:
        if code is not ErrorCode.NONE:
            logger.info(
                "in-sync set was not taken",
                extra={"partition": str(partition), "members": proposal.members, "code": code.name},
            )
        if partition.is_leader:
            event = ProposalAnswered(proposal=proposal, error_code=code)
            partition.carry_out(partition.leader.handle(event))


def _wanted(partition: Partition, proposal: ProposeIsr) -> PartitionData:
    return PartitionData(
        partition_index=partition.index,
        leader_epoch=proposal.leader_epoch,
        partition_epoch=proposal.partition_epoch,
        leader_recovery_state=proposal.recovery_state,
        new_isr_with_epochs=tuple(
            BrokerState(broker_id=node_id, broker_epoch=epoch) for node_id, epoch in proposal.members
        ),
    )


def _codes(response: AlterPartitionResponse, asked: Proposals) -> dict[tuple[bytes, int], ErrorCode]:
    if response.error_code:
        code = ErrorCode(response.error_code)
        return {(partition.topic_id, partition.index): code for partition in asked}
    return {
        (topic.topic_id, result.partition_index): ErrorCode(result.error_code)
        for topic in response.topics
        for result in topic.partitions
    }
