"""A peer on the real server, which answers when a test likes, and a broker that asks it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from penstock.broker.clock import Clock, SystemClock
from penstock.broker.peers.address import Address
from penstock.broker.peers.lane import Lane
from penstock.broker.peers.peers import Peers
from penstock.broker.reply import Reply
from penstock.broker.server import Server
from penstock.config.sources import load_broker_config
from penstock.model.ids import NodeId
from penstock.wire.framing import RequestHeader, decode_request, encode_response
from penstock.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from penstock.wire.messages.raft_vote import RaftVoteRequest, RaftVoteResponse
from penstock.wire.schema import Struct

NODE = NodeId(2)


def heartbeat(number: int) -> BrokerHeartbeatRequest:
    """A question that is told from others by its number."""
    return BrokerHeartbeatRequest(broker_id=number)


def vote(number: int) -> RaftVoteRequest:
    """As ``heartbeat``; of a kind that may follow others on its connection."""
    return RaftVoteRequest(term=number)


def number_in(message: Struct) -> int:
    """The number of a question, also in its answer."""
    match message:
        case BrokerHeartbeatRequest():
            return message.broker_id
        case BrokerHeartbeatResponse():
            return message.throttle_time_ms
        case RaftVoteRequest() | RaftVoteResponse():
            return message.term
    raise AssertionError(f"no question of these tests: {message}")


def answer_to(request: Struct) -> Struct:
    """An answer with the number of its question."""
    if isinstance(request, RaftVoteRequest):
        return RaftVoteResponse(term=request.term)
    return BrokerHeartbeatResponse(throttle_time_ms=number_in(request))


class Asked:
    """A question that has reached the peer."""

    def __init__(self, header: RequestHeader, request: Any, reply: Reply) -> None:
        self.header = header
        self.request = request
        self._reply = reply

    def answer(self, message: Struct | None = None) -> None:
        header = self.header
        message = answer_to(self.request) if message is None else message
        self._reply.send(
            [encode_response(header.api_key, header.api_version, header.correlation_id, message)]
        )

    def hang_up(self) -> None:
        self._reply.close_connection("the test wants it")


class Peer:
    """Serves on the real server, on whichever loop runs."""

    def __init__(self, clock: Clock | None = None, *, answers_at_once: bool = False) -> None:
        self.asked: list[Asked] = []
        self._answers_at_once = answers_at_once
        self._server = Server(load_broker_config(flags={}), self, clock or SystemClock())

    async def listen(self, host: str = "127.0.0.1", port: int = 0) -> Address:
        bound = await self._server.bind(host, port)
        await self._server.accept()
        return Address(host, bound)

    def serve(self, header: RequestHeader, frame: bytearray, reply: Reply) -> None:
        request = decode_request(header.api_key, header.api_version, frame, header.body_position)
        self.asked.append(Asked(header, request, reply))
        if self._answers_at_once:
            self.asked[-1].answer()

    @property
    def connection_count(self) -> int:
        return self._server.connection_count

    @property
    def numbers(self) -> list[int]:
        """Which questions have come, in order."""
        return [number_in(each.request) for each in self.asked]

    async def wait_asked(self, count: int) -> Asked:
        """The last of so many questions."""
        await until(lambda: len(self.asked) >= count)
        return self.asked[count - 1]

    async def wait_connections(self, count: int) -> None:
        await until(lambda: self.connection_count == count)

    async def stop(self) -> None:
        await self._server.stop(0.0)


class Pair:
    """A peer on a real socket, and a broker that asks it."""

    def __init__(self) -> None:
        self.peer = Peer()
        self.addresses: dict[NodeId, Address] = {}
        self.peers = new_peers(self.addresses)

    @property
    def address(self) -> Address:
        return self.addresses[NODE]

    def ask(
        self,
        number: int,
        *,
        node_id: NodeId = NODE,
        lane: Lane = Lane.CONTROL,
        seconds_max: float = 10.0,
    ) -> "asyncio.Task[Any]":
        """Ask beside the test."""
        question: Struct = vote(number) if lane is Lane.QUORUM else heartbeat(number)
        asking = self.peers.ask(node_id, question, 0, seconds_max=seconds_max, lane=lane)
        return asyncio.get_running_loop().create_task(asking)


def new_peers(addresses: dict[NodeId, Address], **options: int) -> Peers:
    """Peers on the loop that runs."""
    return Peers(
        loop=asyncio.get_running_loop(),
        clock=SystemClock(),
        client_id="broker-1",
        address_of=addresses.get,
        **options,
    )


def run(scenario: Callable[[Pair], Awaitable[None]]) -> None:
    """Run a scenario; when it is over, so is everything it began."""

    async def main() -> None:
        subject = Pair()
        subject.addresses[NODE] = await subject.peer.listen()
        try:
            await scenario(subject)
        finally:
            subject.peers.close()
            await subject.peer.stop()
        await until(lambda: len(asyncio.all_tasks()) == 1)

    asyncio.run(main())


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.001)
