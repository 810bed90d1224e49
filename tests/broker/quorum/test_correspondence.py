"""Requests of peers are always answered, and questions to silent peers do not pile up."""

import asyncio
from typing import Any

import pytest
from tests.raft.node_driver import key

from penstock.broker.peers.address import Address
from penstock.broker.peers.lane import Lane
from penstock.broker.peers.peer_error import PeerError
from penstock.broker.quorum.addresses import Addresses
from penstock.broker.quorum.correspondence import Correspondence
from penstock.broker.quorum.raft_driver import Handled
from penstock.broker.tasks import Tasks
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import RegisterBrokerRecord
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import NodeId
from penstock.model.limits import RAFT_QUESTIONS_PER_PEER_MAX
from penstock.raft.messages import (
    Message,
    ObserveRequest,
    ObserveResponse,
    TimeoutNow,
    VoteRequest,
    VoteResponse,
)
from penstock.raft.output import Output
from penstock.raft.replica import NOBODY
from penstock.raft.wire_form import to_wire
from penstock.wire.messages.raft_vote import RaftVoteRequest, RaftVoteResponse
from penstock.wire.schema import Struct, replace

CLUSTER = "a cluster"
QUESTION = VoteRequest(sender=key(2), target=key(1), term=3, sequence=5, last_term=1, end_offset=9)
ANSWER = VoteResponse(sender=key(1), target=key(2), term=3, sequence=5, is_granted=True)


class SilentPeers:
    """Take every question and answer none, or refuse to."""

    def __init__(self) -> None:
        self.asked: list[Struct] = []
        self.asked_at: list[Address] = []
        self.error: PeerError | None = None

    async def ask(
        self, node_id: NodeId, request: Struct, version: int, *, seconds_max: float, lane: Lane
    ) -> Any:
        self.asked.append(request)
        if self.error is not None:
            raise self.error
        await asyncio.get_running_loop().create_future()

    async def ask_at(
        self, address: Address, request: Struct, version: int, *, seconds_max: float, lane: Lane
    ) -> Any:
        self.asked_at.append(address)
        return await self.ask(NodeId(-1), request, version, seconds_max=seconds_max, lane=lane)


class Node:
    """A machine that answers as it is told to."""

    def __init__(self, *answers: Message, is_taking: bool = True) -> None:
        self.answers = answers
        self.is_taking = is_taking
        self.heard: list[Message] = []
        self.peers = SilentPeers()
        self.addresses = Addresses((Address("somebody", 1),))
        self.addresses.own = Address("here", 7)
        self.tasks = Tasks(asyncio.get_running_loop())
        self.correspondence = Correspondence(
            key(1),
            CLUSTER,
            peers=self.peers,
            addresses=self.addresses,
            tasks=self.tasks,
            question_seconds_max=1.0,
            receive=self.receive,
        )

    def receive(self, message: Message, handled: Handled | None) -> bool:
        self.heard.append(message)
        if handled is not None and self.is_taking:
            handled(Output(send_after_persist=self.answers))
            for answer in self.answers:
                self.correspondence.send(answer)
        return self.is_taking


def wire(message: Message = QUESTION, cluster: str = CLUSTER) -> Any:
    return to_wire(message, cluster)


def answered(request: Any, *answers: Message, is_taking: bool = True) -> Any:
    async def scenario() -> Struct:
        return await Node(*answers, is_taking=is_taking).correspondence.answer(request)

    return asyncio.run(scenario())


def test_peer_gets_what_the_machine_answers() -> None:
    response = answered(wire(), ANSWER)
    assert isinstance(response, RaftVoteResponse)
    assert (response.error_code, response.is_granted, response.sequence) == (0, True, 5)


def test_peer_whose_question_has_no_answer_is_told_so_at_once() -> None:
    other = VoteResponse(sender=key(1), target=key(3), term=3, sequence=5, is_granted=True)
    assert answered(wire(), other).error_code == ErrorCode.REQUEST_TIMED_OUT
    assert answered(wire()).error_code == ErrorCode.REQUEST_TIMED_OUT
    assert answered(wire(), is_taking=False).error_code == ErrorCode.REQUEST_TIMED_OUT


def test_order_to_stand_is_confirmed() -> None:
    assert answered(wire(TimeoutNow(sender=key(2), target=key(1), term=3))).error_code == 0


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (wire(cluster="another"), ErrorCode.INCONSISTENT_CLUSTER_ID),
        (replace(wire(), term=-1), ErrorCode.INVALID_REQUEST),
    ],
)
def test_request_that_makes_no_sense_never_reaches_the_machine(request_: Any, code: ErrorCode) -> None:
    async def scenario() -> tuple[Any, list[Message]]:
        node = Node(ANSWER)
        return await node.correspondence.answer(request_), node.heard

    response, heard = asyncio.run(scenario())
    assert (response.error_code, heard) == (code, [])


def test_who_looks_for_the_leader_is_told_where_it_listens() -> None:
    async def scenario() -> Any:
        response = ObserveResponse(sender=key(1), target=key(2), term=3, leader=key(3))
        node = Node(response)
        node.addresses.note(key(3), Address("leader", 5))
        question = ObserveRequest(sender=key(2), target=key(1), term=3, end_offset=0)
        return await node.correspondence.answer(wire(question))

    response = asyncio.run(scenario())
    assert (response.leader.node_id, response.leader_host, response.leader_port) == (3, "leader", 5)


def test_where_the_sender_listens_is_noted() -> None:
    async def scenario() -> Address | None:
        node = Node(ANSWER)
        await node.correspondence.answer(replace(wire(), host="there", port=8))
        return node.addresses.address_of(NodeId(2))

    assert asyncio.run(scenario()) == Address("there", 8)


def test_question_tells_where_this_node_listens() -> None:
    async def scenario() -> Struct:
        node = Node()
        node.correspondence.send(replace_target(QUESTION))
        await asyncio.sleep(0)
        await node.tasks.stop()
        return node.peers.asked[0]

    asked = asyncio.run(scenario())
    assert isinstance(asked, RaftVoteRequest)
    assert (asked.host, asked.port) == ("here", 7)


def replace_target(question: VoteRequest) -> VoteRequest:
    return VoteRequest(sender=key(1), target=key(2), term=3, sequence=5, last_term=1, end_offset=9)


def test_question_to_nobody_goes_to_those_to_begin_with() -> None:
    async def scenario() -> list[Address]:
        node = Node()
        node.correspondence.send(ObserveRequest(sender=key(1), target=NOBODY, term=0, end_offset=0))
        await asyncio.sleep(0)
        await node.tasks.stop()
        return node.peers.asked_at

    assert asyncio.run(scenario()) == [Address("somebody", 1)]


def test_question_to_a_forgotten_directory_goes_there_and_its_silence_says_nothing_of_its_successor() -> None:
    async def scenario() -> tuple[list[Address], list[NodeId]]:
        node = Node()
        silent: list[NodeId] = []
        node.correspondence.on_silence = silent.append
        node.peers.error = PeerError("is down", was_sent=False)
        record = RegisterBrokerRecord(broker_id=2, broker_epoch=1, log_dirs=(key(2, disk=9).directory_id,))
        node.addresses.follow(ClusterImage(), ClusterImage().apply([record]))
        await node.correspondence.answer(replace(wire(), host="there", port=8))
        for target in (key(2), key(2, disk=9)):
            node.correspondence.send(ObserveRequest(sender=key(1), target=target, term=0, end_offset=0))
            await asyncio.sleep(0)
        await node.tasks.stop()
        return node.peers.asked_at, silent

    assert asyncio.run(scenario()) == ([Address("there", 8)], [NodeId(2)])


def test_questions_to_a_silent_peer_are_lost_beyond_a_bound() -> None:
    async def scenario() -> tuple[int, int]:
        node = Node()
        for _ in range(RAFT_QUESTIONS_PER_PEER_MAX + 10):
            node.correspondence.send(replace_target(QUESTION))
        await asyncio.sleep(0)
        await node.tasks.stop()
        return len(node.peers.asked), node.correspondence.lost_count

    assert asyncio.run(scenario()) == (RAFT_QUESTIONS_PER_PEER_MAX, 10)


def test_question_that_a_peer_does_not_answer_is_lost_and_makes_room() -> None:
    async def scenario() -> tuple[int, int]:
        node = Node()
        node.peers.error = PeerError("is down", was_sent=False)
        for _ in range(3 * RAFT_QUESTIONS_PER_PEER_MAX):
            node.correspondence.send(replace_target(QUESTION))
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        await node.tasks.stop()
        return len(node.peers.asked), len(node.heard)

    assert asyncio.run(scenario()) == (3 * RAFT_QUESTIONS_PER_PEER_MAX, 0)
