"""Messages of the quorum on their way: questions become requests to peers, their answers events; and back.

Questions may be lost: to a peer that has too many already, or does not answer, nothing more is said. A
request of a peer's is always answered, and soon, since others of that peer wait behind it: with what the
machine answers, or with an error code when it answers nothing, which the peer takes for silence.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from penstock.broker.peers.address import Address
from penstock.broker.peers.lane import Lane
from penstock.broker.peers.peer_error import PeerError
from penstock.broker.quorum.addresses import Addresses
from penstock.broker.quorum.asking_peers import AskingPeers
from penstock.broker.quorum.raft_driver import Handled
from penstock.broker.tasks import Tasks
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId
from penstock.model.limits import RAFT_QUESTIONS_PER_PEER_MAX
from penstock.raft.messages import (
    AppendEntries,
    AppendResponse,
    InstallSnapshot,
    Message,
    ObserveRequest,
    ObserveResponse,
    SnapshotResponse,
    TimeoutNow,
    VoteRequest,
    VoteResponse,
)
from penstock.raft.output import InstallOrder, Output
from penstock.raft.replica import NOBODY, ReplicaKey
from penstock.raft.wire_form import from_wire, to_wire
from penstock.records.errors import CorruptBatchError
from penstock.wire.messages.raft_append_entries import RaftAppendEntriesRequest, RaftAppendEntriesResponse
from penstock.wire.messages.raft_install_snapshot import (
    RaftInstallSnapshotRequest,
    RaftInstallSnapshotResponse,
)
from penstock.wire.messages.raft_observe import RaftObserveRequest, RaftObserveResponse
from penstock.wire.messages.raft_timeout_now import RaftTimeoutNowRequest, RaftTimeoutNowResponse
from penstock.wire.messages.raft_vote import RaftVoteRequest, RaftVoteResponse
from penstock.wire.schema import Struct, replace

logger = logging.getLogger(__name__)

VERSION = 0
ANSWER_SECONDS_MAX = 10.0
"""How long a peer's request may wait for the disk; it asks again long before."""

Question: TypeAlias = VoteRequest | AppendEntries | InstallSnapshot | TimeoutNow | ObserveRequest
RequestStruct: TypeAlias = (
    RaftVoteRequest
    | RaftAppendEntriesRequest
    | RaftInstallSnapshotRequest
    | RaftTimeoutNowRequest
    | RaftObserveRequest
)

_RESPONSES: dict[type[Struct], type[Any]] = {
    RaftVoteRequest: RaftVoteResponse,
    RaftAppendEntriesRequest: RaftAppendEntriesResponse,
    RaftInstallSnapshotRequest: RaftInstallSnapshotResponse,
    RaftTimeoutNowRequest: RaftTimeoutNowResponse,
    RaftObserveRequest: RaftObserveResponse,
}

_ANSWERS: dict[type[Message], type[Message]] = {
    VoteRequest: VoteResponse,
    AppendEntries: AppendResponse,
    InstallSnapshot: SnapshotResponse,
    ObserveRequest: ObserveResponse,
    TimeoutNow: TimeoutNow,
}


class _Place(NamedTuple):
    """What an answer goes by: what it is, whom it is for, and which of its questions it answers."""

    kind: type[Message]
    asker: ReplicaKey
    sequence: int


class Correspondence:
    """One node's messages."""

    def __init__(
        self,
        key: ReplicaKey,
        cluster_id: str,
        *,
        peers: AskingPeers,
        addresses: Addresses,
        tasks: Tasks,
        question_seconds_max: float,
        receive: Callable[[Message, Handled | None], bool],
    ) -> None:
        self._key = key
        self._cluster_id = cluster_id
        self._peers = peers
        self._addresses = addresses
        self._tasks = tasks
        self._seconds_max = question_seconds_max
        self._receive = receive
        #: Called with a node that did not answer, or could not be reached at all.
        self.on_silence: Callable[[NodeId], None] = lambda node_id: None
        #: Questions on their way, by node.
        self._asked: Counter[NodeId] = Counter()
        #: Requests of peers that the machine has not answered yet.
        self._waiting: dict[_Place, asyncio.Future[Message | None]] = {}
        #: Questions that were not asked, or not answered.
        self.lost_count = 0

    # What this node says

    def send(self, message: Message) -> None:
        """Ask a peer, or answer one that has asked."""
        match message:
            case VoteResponse() | AppendResponse() | SnapshotResponse() | ObserveResponse():
                self._answer(_place_of(message), message)
            case _:
                self._ask(message)

    def _answer(self, place: _Place, message: Message | None) -> None:
        waiting = self._waiting.pop(place, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(message)

    def _ask(self, question: Question) -> None:
        node_id = question.target.node_id
        if self._asked[node_id] >= RAFT_QUESTIONS_PER_PEER_MAX:
            self.lost_count += 1
            return
        self._asked[node_id] += 1
        self._tasks.start(self._ask_and_hear(question), name=f"ask node {node_id} of the quorum")

    async def _ask_and_hear(self, question: Question) -> None:
        try:
            response = await self._question(question)
        except PeerError:
            self.lost_count += 1  # Raft asks again if it must
            if self._addresses.address_of_replaced(question.target) is None:
                self.on_silence(question.target.node_id)
            return
        finally:
            self._asked[question.target.node_id] -= 1
        if response.error_code or isinstance(question, TimeoutNow):
            return
        if isinstance(response, RaftObserveResponse) and response.leader_host:
            address = Address(response.leader_host, response.leader_port)
            self._addresses.note_rumour(NodeId(response.leader.node_id), address)
        try:
            self._receive(from_wire(response, self._cluster_id), None)
        except ApiError as error:
            logger.warning(
                "peer's answer makes no sense",
                extra={"peer": question.target.node_id, "reason": str(error)},
            )

    async def _question(self, question: Question) -> Any:
        request = to_wire(question, self._cluster_id)
        own = self._addresses.own
        if own is not None and isinstance(request, RaftVoteRequest | RaftObserveRequest):
            request = replace(request, host=own.host, port=own.port)
        if question.target == NOBODY:
            return await self._ask_at(self._addresses.address_of_anybody(), request)
        replaced = self._addresses.address_of_replaced(question.target)
        if replaced is not None:
            return await self._ask_at(replaced, request)
        return await self._peers.ask(
            question.target.node_id, request, VERSION, seconds_max=self._seconds_max, lane=Lane.QUORUM
        )

    async def _ask_at(self, address: Address | None, request: Struct) -> Any:
        if address is None:
            raise PeerError("nobody is known who could be asked", was_sent=False)
        return await self._peers.ask_at(
            address, request, VERSION, seconds_max=self._seconds_max, lane=Lane.QUORUM
        )

    # What others say

    async def answer(self, request: RequestStruct) -> Struct:
        """The answer to a peer's request; an error code when there is nothing to say."""
        try:
            message = from_wire(request, self._cluster_id)
        except CorruptBatchError:
            return _nothing(request, ErrorCode.CORRUPT_MESSAGE)
        except ApiError as error:
            return _nothing(request, error.code)
        if isinstance(request, RaftVoteRequest | RaftObserveRequest) and request.host:
            self._addresses.note(message.sender, Address(request.host, request.port))
        answered = await self._hear(message)
        if isinstance(request, RaftTimeoutNowRequest):
            return RaftTimeoutNowResponse()
        if answered is None:
            return _nothing(request, ErrorCode.REQUEST_TIMED_OUT)
        return self._response(answered)

    def _response(self, answered: Message) -> Struct:
        response = to_wire(answered, self._cluster_id)
        if isinstance(answered, ObserveResponse) and answered.leader is not None:
            address = self._addresses.address_of(answered.leader.node_id)
            if address is not None:
                return replace(response, leader_host=address.host, leader_port=address.port)
        return response

    async def _hear(self, message: Message) -> Message | None:
        """Let the machine hear a question, and wait for its answer if there will be one."""
        place = _Place(_ANSWERS[type(message)], message.sender, _sequence_of(message))
        self._answer(place, None)  # an earlier copy need not be answered twice
        waiting: asyncio.Future[Message | None] = asyncio.get_running_loop().create_future()
        self._waiting[place] = waiting

        def handled(output: Output) -> None:
            if not _will_answer(output, place):
                self._answer(place, None)

        try:
            if not self._receive(message, handled):
                return None
            async with asyncio.timeout(ANSWER_SECONDS_MAX):
                return await waiting
        except TimeoutError:
            return None
        finally:
            if self._waiting.get(place) is waiting:
                del self._waiting[place]


def _will_answer(output: Output, place: _Place) -> bool:
    """Whether the machine answers now, or once a snapshot is installed."""
    if any(isinstance(order, InstallOrder) for order in output.snapshot_orders):
        return place.kind is SnapshotResponse
    return any(_place_of(message) == place for message in (*output.send_now, *output.send_after_persist))


def _place_of(message: Message) -> _Place:
    return _Place(type(message), message.target, _sequence_of(message))


def _sequence_of(message: Message) -> int:
    return 0 if isinstance(message, TimeoutNow | ObserveRequest | ObserveResponse) else message.sequence


def _nothing(request: RequestStruct, code: ErrorCode) -> Struct:
    """An answer that says nothing."""
    answer: Struct = _RESPONSES[type(request)](error_code=code)
    return answer
