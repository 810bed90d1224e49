"""One connection to somebody who is no good peer: garbage, silence, slowness."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
from tests.broker.peers.serving import NODE, heartbeat, new_peers, until

from penstock.broker.frames import FrameReader
from penstock.broker.peers.address import Address
from penstock.broker.peers.peer_connection import PeerConnection
from penstock.broker.peers.peer_error import PeerError
from penstock.broker.peers.question import Question
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import encode_response
from penstock.wire.messages.broker_heartbeat import BrokerHeartbeatResponse

Conversation = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

GOOD = encode_response(ApiKey.BROKER_HEARTBEAT, 0, 1, BrokerHeartbeatResponse(throttle_time_ms=1))


async def listen(conversation: Conversation) -> tuple[asyncio.Server, Address]:
    server = await asyncio.start_server(conversation, "127.0.0.1", 0)
    return server, Address("127.0.0.1", server.sockets[0].getsockname()[1])


class Talker:
    """Says the same to everybody who asks something, and notes who has hung up on it."""

    def __init__(self, words: bytes) -> None:
        self._words = words
        self.endings = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(20)
        writer.write(self._words)
        with suppress(ConnectionResetError):
            await reader.read()
        self.endings += 1
        writer.close()


@pytest.mark.parametrize(
    "garbage",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\x00\x00\x00\x01\x01",
        b"\x00\x00\x00\x04\x00\x00\x00\x07",
        b"\x00\x00\x00\x05\x00\x00\x00\x01\x00",
        b"\x00\x00\x00\x00",
    ],
    ids=["other protocol", "no header", "unknown number", "no body", "empty frame"],
)
def test_garbage_ends_the_connection(garbage: bytes) -> None:
    async def main() -> None:
        talker = Talker(garbage)
        server, address = await listen(talker)
        peers = new_peers({NODE: address})
        with pytest.raises(PeerError, match="sent what is no answer") as raised:
            await peers.ask(NODE, heartbeat(1), 0, seconds_max=10.0)
        assert raised.value.was_sent
        await until(lambda: talker.endings == 1)
        peers.close()
        server.close()

    asyncio.run(main())


def test_answer_that_comes_twice_ends_the_connection() -> None:
    async def main() -> None:
        talker = Talker(GOOD + GOOD)
        server, address = await listen(talker)
        peers = new_peers({NODE: address})
        answer = await peers.ask(NODE, heartbeat(1), 0, seconds_max=10.0)
        assert answer.throttle_time_ms == 1
        await until(lambda: talker.endings == 1)
        peers.close()
        server.close()

    asyncio.run(main())


def test_peer_that_accepts_and_hangs_up_is_not_called_without_a_pause() -> None:
    async def main() -> None:
        calls: list[None] = []

        async def conversation(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            calls.append(None)
            writer.transport.abort()

        server, address = await listen(conversation)
        peers = new_peers({NODE: address})
        for _ in range(200):
            with pytest.raises(PeerError, match=str(address)):
                await peers.ask(NODE, heartbeat(1), 0, seconds_max=10.0)
        assert 1 <= len(calls) < 20
        peers.close()
        server.close()

    asyncio.run(main())


class Lost:
    """What a connection says to its owner."""

    def __init__(self) -> None:
        self.rooms = 0
        self.lost: list[PeerConnection] = []

    def note_room(self) -> None:
        self.rooms += 1


async def connect(address: Address, owner: Lost) -> tuple[asyncio.Transport, PeerConnection]:
    made = PeerConnection(
        address,
        FrameReader(bytearray(1024), 1024),
        questions_max=10,
        on_room=owner.note_room,
        on_lost=owner.lost.append,
    )
    transport, _ = await asyncio.get_running_loop().create_connection(lambda: made, *address)
    return transport, made


def question(number: int, frame: bytes) -> Question:
    return Question(
        number=number,
        api_key=ApiKey.BROKER_HEARTBEAT,
        version=0,
        frame=frame,
        answered=asyncio.get_running_loop().create_future(),
    )


def test_connection_has_no_room_while_the_peer_does_not_read() -> None:
    size = 32 * 1024 * 1024

    async def main() -> None:
        may_read = asyncio.Event()

        async def conversation(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await may_read.wait()
            await reader.readexactly(size)
            writer.write(GOOD)
            await reader.read()
            writer.close()

        server, address = await listen(conversation)
        owner = Lost()
        transport, made = await connect(address, owner)
        had_room = [made.has_room]
        asked = question(1, bytes(size))
        made.send(asked)
        had_room.append(made.has_room)
        may_read.set()
        assert (await asked.answered).throttle_time_ms == 1
        had_room.append(made.has_room)
        assert had_room == [True, False, True]
        assert owner.rooms == 2  # written, and answered
        transport.close()
        await until(lambda: owner.lost == [made])
        assert not made.has_room
        server.close()

    asyncio.run(main())


def test_connection_sends_small_questions_at_once() -> None:
    async def main() -> None:
        async def conversation(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()

        server, address = await listen(conversation)
        owner = Lost()
        transport, made = await connect(address, owner)
        used = transport.get_extra_info("socket")
        assert used.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        made.close("is not needed any more")
        made.close("is closed already")
        assert owner.lost == [made]
        assert made.reason == "is not needed any more"
        await asyncio.sleep(0.01)
        assert owner.lost == [made]
        server.close()

    asyncio.run(main())


def test_connection_closed_before_it_was_made_is_never_used() -> None:
    async def main() -> None:
        endings: list[bytes] = []

        async def conversation(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            endings.append(await reader.read())
            writer.close()

        server, address = await listen(conversation)
        made = PeerConnection(
            address,
            FrameReader(bytearray(64), 64),
            questions_max=1,
            on_room=lambda: None,
            on_lost=lambda lost: None,
        )
        made.close("is not wanted any more")
        await asyncio.get_running_loop().create_connection(lambda: made, *address)
        assert not made.has_room
        await until(lambda: endings == [b""])
        server.close()

    asyncio.run(main())
