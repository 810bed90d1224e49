"""A connection on a real socket, served by requests that answer when told to."""

import asyncio
import inspect
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from penstock.broker.clock import SystemClock
from penstock.broker.connection import Connection, Requests, Surroundings
from penstock.broker.connection_limits import ConnectionLimits
from penstock.broker.frames import SCRATCH_BYTES
from penstock.broker.reply import Reply
from penstock.broker.request_memory import RequestMemory
from penstock.storage.log_reader import FilePiece
from penstock.storage.real_filesystem import RealFileSystem
from penstock.wire.framing import RequestHeader

PRODUCE = 0
FETCH = 1
VOTE = 10_000
APPEND_ENTRIES = 10_001
FRAME_MAX = 1 << 20


def request(api_key: int, correlation_id: int) -> bytes:
    """A frame whose header is valid; its body is for nobody."""
    version = {PRODUCE: 3, FETCH: 4}.get(api_key, 0)
    header = (
        api_key.to_bytes(2, "big")
        + version.to_bytes(2, "big")
        + correlation_id.to_bytes(4, "big")
        + b"\xff\xff"
        + (b"" if version else b"\x00")  # the others are flexible from their first version on
    )
    return len(header).to_bytes(4, "big") + header


class HeldRequests:
    """Serves by keeping the reply until the test fills it."""

    def __init__(self) -> None:
        self.replies: dict[int, Reply] = {}

    def serve(self, header: RequestHeader, frame: bytearray, reply: Reply) -> None:
        self.replies[header.correlation_id] = reply

    async def wait_started(self, correlation_id: int) -> Reply:
        await until(lambda: correlation_id in self.replies)
        return self.replies[correlation_id]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.001)


class Rig:
    """A listening socket, what its connections share, and a client."""

    def __init__(self, requests: Requests | None) -> None:
        self.requests = HeldRequests()
        self.around = Surroundings(
            requests=requests or self.requests,
            limits=ConnectionLimits(total_max=10, per_address_max=10, creation_rate_max=1000),
            memory=RequestMemory(bytes_max=1 << 20, queued_max=500),
            scratch=bytearray(SCRATCH_BYTES),
            frame_bytes_max=FRAME_MAX,
            idle_seconds_max=600.0,
            clock=SystemClock(),
            connections={},
        )
        self.reader: asyncio.StreamReader
        self.writer: asyncio.StreamWriter

    @property
    def connection(self) -> Connection:
        (connection,) = self.around.connections
        return connection


@asynccontextmanager
async def rig(requests: Requests | None) -> AsyncIterator[Rig]:
    subject = Rig(requests)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(subject.around, loop), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    subject.reader, subject.writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield subject
    finally:
        subject.writer.close()
        server.close()
        for connection in list(subject.around.connections):
            connection.close("test is over")
        await until(lambda: not subject.around.connections)


def run(scenario: Callable[[Rig], Awaitable[None]], requests: Requests | None = None) -> None:
    """With other ``requests`` than those that are held, if the test brings some."""

    async def main() -> None:
        async with rig(requests) as subject:
            await scenario(subject)

    asyncio.run(main())


def test_connection_produces_answered_out_of_order_are_sent_in_order() -> None:
    async def scenario(subject: Rig) -> None:
        subject.writer.write(request(PRODUCE, 1) + request(PRODUCE, 2))
        second = await subject.requests.wait_started(2)
        second.send([b"second"])
        subject.requests.replies[1].send([b"first,"])
        assert await subject.reader.readexactly(12) == b"first,second"

    run(scenario)


def test_connection_other_request_waits_for_the_one_before() -> None:
    async def scenario(subject: Rig) -> None:
        subject.writer.write(request(PRODUCE, 1) + request(FETCH, 2) + request(PRODUCE, 3))
        first = await subject.requests.wait_started(1)
        await asyncio.sleep(0.01)
        assert set(subject.requests.replies) == {1}
        first.send([b"1"])
        fetch = await subject.requests.wait_started(2)
        assert set(subject.requests.replies) == {1, 2}
        fetch.send([b"2"])
        (await subject.requests.wait_started(3)).send([b"3"])
        assert await subject.reader.readexactly(3) == b"123"

    run(scenario)


def test_connection_request_that_others_wait_for_is_told_so() -> None:
    async def scenario(subject: Rig) -> None:
        subject.writer.write(request(FETCH, 1))
        waiting = await subject.requests.wait_started(1)
        waiting.when_crowded = lambda: waiting.send([b"first"])
        subject.writer.write(request(FETCH, 2))
        (await subject.requests.wait_started(2)).send([b"second"])
        assert await subject.reader.readexactly(11) == b"firstsecond"

    run(scenario)


class PromptRequests:
    """Answers at once, and notes how deep the stack is by then."""

    def __init__(self) -> None:
        self.depths: list[int] = []

    def serve(self, header: RequestHeader, frame: bytearray, reply: Reply) -> None:
        self.depths.append(_stack_depth())
        reply.send([header.correlation_id.to_bytes(2, "big")])


class WaitingRequests:
    """Answers each request when the next one comes, as followers are answered, and the last one at once."""

    def __init__(self, last: int) -> None:
        self._last = last
        self.depths: list[int] = []

    def serve(self, header: RequestHeader, frame: bytearray, reply: Reply) -> None:
        self.depths.append(_stack_depth())
        answer = partial(reply.send, [header.correlation_id.to_bytes(2, "big")])
        if header.correlation_id == self._last:
            answer()
        else:
            reply.when_crowded = answer


def _stack_depth() -> int:
    depth, frame = 0, inspect.currentframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    return depth


@pytest.mark.parametrize(
    ("requests", "api_key"),
    [(PromptRequests(), PRODUCE), (PromptRequests(), FETCH), (WaitingRequests(399), FETCH)],
    ids=["produces", "fetches", "fetches that wait for each other"],
)
def test_connection_many_requests_answered_at_once_do_not_pile_up_on_the_stack(
    requests: PromptRequests | WaitingRequests, api_key: int
) -> None:
    count = 400

    async def scenario(subject: Rig) -> None:
        subject.writer.write(b"".join(request(api_key, number) for number in range(count)))
        expected = b"".join(number.to_bytes(2, "big") for number in range(count))
        assert await subject.reader.readexactly(2 * count) == expected
        assert max(requests.depths) - min(requests.depths) < 10

    run(scenario, requests)


def test_connection_raft_requests_begin_while_others_wait_and_are_answered_in_order() -> None:
    async def scenario(subject: Rig) -> None:
        subject.writer.write(request(APPEND_ENTRIES, 1) + request(VOTE, 2) + request(APPEND_ENTRIES, 3))
        (await subject.requests.wait_started(3)).send([b"3"])
        assert list(subject.requests.replies) == [1, 2, 3]
        subject.requests.replies[2].send([b"2"])
        subject.requests.replies[1].send([b"1"])
        assert await subject.reader.readexactly(3) == b"123"

    run(scenario)


def test_connection_pipelines_do_not_mix() -> None:
    async def scenario(subject: Rig) -> None:
        subject.writer.write(request(VOTE, 1) + request(PRODUCE, 2) + request(VOTE, 3))
        first = await subject.requests.wait_started(1)
        await asyncio.sleep(0.01)
        assert list(subject.requests.replies) == [1]
        first.send([b"1"])
        second = await subject.requests.wait_started(2)
        assert list(subject.requests.replies) == [1, 2]
        second.send([b"2"])
        (await subject.requests.wait_started(3)).send([b"3"])
        assert await subject.reader.readexactly(3) == b"123"

    run(scenario)


def test_connection_lost_is_told_once_to_the_last_who_wanted_to_know() -> None:
    async def scenario(subject: Rig) -> None:
        told: list[str] = []
        for number in (1, 2):
            subject.writer.write(request(FETCH, number))
            reply = await subject.requests.wait_started(number)
            reply.when_connection_is_lost(partial(told.append, f"of request {number}"))
            reply.send([b"."])
        await subject.reader.readexactly(2)
        assert told == []
        subject.writer.close()
        await until(lambda: not subject.around.connections)
        assert told == ["of request 2"]

    run(scenario)


def test_connection_lost_already_is_told_soon() -> None:
    async def scenario(subject: Rig) -> None:
        told: list[str] = []
        subject.writer.write(request(FETCH, 1))
        reply = await subject.requests.wait_started(1)
        subject.writer.close()
        await until(lambda: not subject.around.connections)
        reply.when_connection_is_lost(partial(told.append, "late"))
        assert told == []
        await until(lambda: told == ["late"])

    run(scenario)


def test_connection_lost_tells_only_requests_that_are_not_answered() -> None:
    async def scenario(subject: Rig) -> None:
        told: list[int] = []
        for number in (1, 2):
            subject.writer.write(request(FETCH, number))
            reply = await subject.requests.wait_started(number)
            reply.when_abandoned = partial(told.append, number)
            if number == 1:
                reply.send([b"."])
        await subject.reader.readexactly(1)
        assert told == []
        subject.writer.close()
        await until(lambda: not subject.around.connections)
        assert told == [2]

    run(scenario)


def test_connection_answered_request_keeps_nobody_who_served_it() -> None:
    class Server:
        def __init__(self, reply: Reply) -> None:
            self.reply = reply

        def give_up(self) -> None:
            """There is nothing to give up."""

    async def scenario(subject: Rig) -> None:
        subject.writer.write(request(FETCH, 1))
        reply = await subject.requests.wait_started(1)
        server = Server(reply)
        reply.when_abandoned = reply.when_crowded = server.give_up
        known = weakref.ref(server)
        del server
        assert known() is not None
        reply.send([b"."])
        assert known() is None

    run(scenario)


def test_connection_request_without_answer_lets_the_next_one_go() -> None:
    async def scenario(subject: Rig) -> None:
        subject.writer.write(request(PRODUCE, 1) + request(FETCH, 2))
        (await subject.requests.wait_started(1)).send([])
        (await subject.requests.wait_started(2)).send([b"only"])
        assert await subject.reader.readexactly(4) == b"only"

    run(scenario)


def test_connection_frame_over_the_limit_is_dropped() -> None:
    async def scenario(subject: Rig) -> None:
        subject.writer.write((FRAME_MAX + 1).to_bytes(4, "big"))
        assert await _read_to_end(subject.reader) == b""

    run(scenario)


def test_connection_pipeline_is_bounded_and_goes_on_when_answered() -> None:
    async def scenario(subject: Rig) -> None:
        count = 500
        subject.writer.write(b"".join(request(PRODUCE, number) for number in range(count)))
        await subject.requests.wait_started(63)
        await asyncio.sleep(0.01)
        assert len(subject.requests.replies) == 64
        for number in range(count):
            (await subject.requests.wait_started(number)).send([number.to_bytes(2, "big")])
        expected = b"".join(number.to_bytes(2, "big") for number in range(count))
        assert await subject.reader.readexactly(2 * count) == expected

    run(scenario)


def test_connection_lost_gives_all_memory_back() -> None:
    async def scenario(subject: Rig) -> None:
        half_a_frame = (1000).to_bytes(4, "big") + b"x" * 10
        subject.writer.write(request(PRODUCE, 1) + request(FETCH, 2) + half_a_frame)
        await subject.requests.wait_started(1)
        await until(lambda: subject.around.memory.held_bytes == 20 + 1000)
        subject.writer.close()
        await until(lambda: not subject.around.connections)
        assert subject.around.memory.held_bytes == 10, "what was produced is still to be written"
        assert subject.around.limits.total == 0
        assert subject.requests.replies[1].is_abandoned
        subject.requests.replies[1].send([b"too late"])
        assert subject.around.memory.held_bytes == 0

    run(scenario)


def test_connection_lost_keeps_the_memory_of_what_it_brought_until_that_is_refused() -> None:
    async def scenario(subject: Rig) -> None:
        subject.writer.write(request(PRODUCE, 1) + request(PRODUCE, 2))
        await subject.requests.wait_started(2)
        subject.requests.replies[2].close_connection("refused")
        await until(lambda: not subject.around.connections)
        assert subject.around.memory.held_bytes == 10, "of the one that is under way"
        subject.requests.replies[1].close_connection("refused too")
        assert subject.around.memory.held_bytes == 0

    run(scenario)


def test_connection_idle_too_long_is_closed() -> None:
    async def scenario(subject: Rig) -> None:
        await until(lambda: bool(subject.around.connections))
        subject.connection.close_if_overdue(subject.around.clock.monotonic() + 599)
        assert subject.around.connections
        subject.connection.close_if_overdue(subject.around.clock.monotonic() + 601)
        assert await _read_to_end(subject.reader) == b""

    run(scenario)


def test_connection_slow_sender_is_closed_though_bytes_trickle_in() -> None:
    async def scenario(subject: Rig) -> None:
        subject.writer.write((1000).to_bytes(4, "big") + b"x")
        await until(lambda: subject.around.memory.held_bytes > 0)
        begun = subject.around.clock.monotonic()
        subject.writer.write(b"y")
        await until(lambda: subject.around.memory.held_bytes > 1)
        subject.connection.close_if_overdue(begun + 29)
        assert subject.around.connections
        subject.connection.close_if_overdue(begun + 35)
        assert await _read_to_end(subject.reader) == b""

    run(scenario)


def test_connection_silent_sender_is_closed_soon_when_others_wait_for_memory() -> None:
    async def scenario(subject: Rig) -> None:
        subject.writer.write((1000).to_bytes(4, "big") + b"x")
        await until(lambda: subject.around.memory.held_bytes > 0)
        begun = subject.around.clock.monotonic()
        subject.connection.close_if_overdue(begun + 3)
        assert subject.around.connections
        subject.around.memory.wait("somebody else", lambda: None)
        subject.connection.close_if_overdue(begun + 3)
        assert await _read_to_end(subject.reader) == b""

    run(scenario)


def test_connection_file_larger_than_all_buffers_arrives_whole(tmp_path: Path) -> None:
    content = bytes(range(256)) * 40_000 * 4
    (tmp_path / "segment").write_bytes(b"skip" + content + b"rest")
    file = RealFileSystem().open(str(tmp_path / "segment"))

    async def scenario(subject: Rig) -> None:
        subject.writer.write(request(FETCH, 1) + request(FETCH, 2))
        reply = await subject.requests.wait_started(1)
        reply.send([b"head", FilePiece(file, 4, len(content)), b"tail"])
        (await subject.requests.wait_started(2)).send([b"next"])
        received = await subject.reader.readexactly(len(content) + 12)
        assert received == b"head" + content + b"tailnext"

    run(scenario)
    file.close()


def test_connection_finished_answers_what_is_under_way_and_nothing_more() -> None:
    async def scenario(subject: Rig) -> None:
        subject.writer.write(request(PRODUCE, 1))
        reply = await subject.requests.wait_started(1)
        subject.connection.finish()
        subject.writer.write(request(PRODUCE, 2))  # Unread when the socket closes: must not cost the reply.
        assert subject.connection.is_owed_an_answer
        reply.send([b"last"])
        await until(lambda: not subject.connection.is_owed_an_answer)
        subject.connection.hang_up()
        assert await _read_to_end(subject.reader) == b"last"
        assert list(subject.requests.replies) == [1]
        subject.writer.close()
        await until(lambda: not subject.around.connections)
        assert subject.around.memory.held_bytes == 0

    run(scenario)


def test_connection_client_that_reads_nothing_is_closed_after_a_while() -> None:
    async def scenario(subject: Rig) -> None:
        subject.writer.write(request(FETCH, 1))
        reply = await subject.requests.wait_started(1)
        reply.send([bytes(1 << 20)] * 32)
        await asyncio.sleep(0.05)
        now = subject.around.clock.monotonic()
        subject.connection.close_if_overdue(now + 50)
        assert subject.around.connections
        subject.connection.close_if_overdue(now + 200)
        await until(lambda: not subject.around.connections)

    run(scenario)


def test_connection_client_that_reads_one_large_part_slowly_is_kept() -> None:
    async def scenario(subject: Rig) -> None:
        subject.writer.write(request(FETCH, 1))
        reply = await subject.requests.wait_started(1)
        reply.send([bytes(32 << 20)])
        now = subject.around.clock.monotonic()
        for read in range(1, 16):
            await subject.reader.readexactly(2 << 20)
            await asyncio.sleep(0.005)
            subject.connection.close_if_overdue(now + 20 * read)

    run(scenario)


async def _read_to_end(reader: asyncio.StreamReader) -> bytes:
    try:
        async with asyncio.timeout(10):
            return await reader.read()
    except ConnectionResetError:
        return b""
