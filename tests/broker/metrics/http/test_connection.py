"""Raw sockets against a listener: good requests are answered, others end, and nothing waits for ever."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from penstock.broker.metrics.http.answer import HttpAnswer
from penstock.broker.metrics.http.connection import HttpSurroundings
from penstock.broker.metrics.http.listener import HttpListener
from penstock.broker.metrics.http.request import HEAD_BYTES_MAX, HttpRequest
from penstock.broker.tasks import Tasks
from penstock.model.errors import OperatingError

GET = b"GET /%d HTTP/1.1\r\nHost: a\r\n\r\n"


class Site:
    """Answers with the path, or as a test wants."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.body: bytes | None = None

    async def respond(self, request: HttpRequest) -> HttpAnswer:
        self.asked.append(request.path)
        await asyncio.sleep(0)
        if request.path == "/fails":
            raise ValueError("as the test wants")
        return HttpAnswer(body=(request.path.encode() if self.body is None else self.body,))


class Caller:
    """One connection to the site."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def answer(self) -> tuple[int, bytes]:
        """Status and body of the next answer."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
        return int(head.split()[1]), await self.reader.readexactly(length)

    async def is_closed(self) -> bool:
        try:
            return await self.reader.read(1) == b""
        except ConnectionResetError:
            return True


class Rig:
    def __init__(self, **limits: Any) -> None:
        self.site = Site()
        self.around = HttpSurroundings(
            respond=self.site.respond, tasks=Tasks(asyncio.get_running_loop()), connections={}, **limits
        )
        self.listener = HttpListener(self.around)
        self.callers: list[Caller] = []

    async def call(self) -> Caller:
        host, _, port = self.listener.address.rpartition(":")
        caller = Caller(*await asyncio.open_connection(host, int(port)))
        self.callers.append(caller)
        return caller


@asynccontextmanager
async def rig(**limits: Any) -> AsyncIterator[Rig]:
    subject = Rig(**limits)
    await subject.listener.start("127.0.0.1", 0)
    try:
        async with asyncio.timeout(20):
            yield subject
    finally:
        for caller in subject.callers:
            caller.writer.close()
        await subject.listener.stop()


def test_requests_of_one_connection_are_answered_in_order() -> None:
    async def main() -> None:
        async with rig() as subject:
            caller = await subject.call()
            caller.writer.write(GET % 1 + GET % 2 + (GET % 3)[:10])
            assert [await caller.answer(), await caller.answer()] == [(200, b"/1"), (200, b"/2")]
            caller.writer.write((GET % 3)[10:])
            assert await caller.answer() == (200, b"/3")

    asyncio.run(main())


def test_connection_ends_when_the_caller_wants_it_to() -> None:
    async def main() -> None:
        async with rig() as subject:
            caller = await subject.call()
            caller.writer.write(b"GET /bye HTTP/1.0\r\n\r\n")
            assert await caller.answer() == (200, b"/bye")
            assert await caller.is_closed()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\x16\x03\x01\x00\xa5\x01\x00\x00 TLS?\r\n\r\n", 400),
        (b"\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", 400),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * HEAD_BYTES_MAX, 431),
        (b"\x00" * HEAD_BYTES_MAX, 431),
    ],
)
def test_bad_request_is_refused_and_the_connection_ends(sent: bytes, status: int) -> None:
    async def main() -> None:
        async with rig() as subject:
            caller = await subject.call()
            caller.writer.write(sent)
            assert (await caller.answer())[0] == status
            assert await caller.is_closed()
            assert not subject.site.asked

    asyncio.run(main())


def test_page_that_fails_is_an_error_and_tells_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with rig() as subject:
            caller = await subject.call()
            caller.writer.write(b"GET /fails HTTP/1.1\r\nHost: a\r\n\r\n")
            status, body = await caller.answer()
            assert status == 500
            assert b"as the test wants" not in body

    asyncio.run(main())
    assert "page failed" in caplog.text


def test_request_that_never_ends_is_given_up() -> None:
    async def main() -> None:
        async with rig(head_seconds_max=0.05) as subject:
            caller = await subject.call()
            caller.writer.write(b"GET / HTTP/1.1\r\n")
            assert await caller.is_closed()

    asyncio.run(main())


def test_silent_connection_is_given_up() -> None:
    async def main() -> None:
        async with rig(idle_seconds_max=0.05) as subject:
            silent, served = await subject.call(), await subject.call()
            served.writer.write(GET % 1)
            assert await served.answer() == (200, b"/1")
            assert await silent.is_closed()
            assert await served.is_closed()

    asyncio.run(main())


def test_answer_that_nobody_reads_is_given_up() -> None:
    async def main() -> None:
        async with rig(write_seconds_max=0.05) as subject:
            subject.site.body = b"x" * 20_000_000
            caller = await subject.call()
            caller.writer.write(GET % 1)
            while subject.around.connections or not subject.site.asked:
                await asyncio.sleep(0.01)

    asyncio.run(main())


def test_connections_beyond_the_bound_are_turned_away() -> None:
    async def main() -> None:
        async with rig(connections_max=2) as subject:
            first, second = await subject.call(), await subject.call()
            for caller in (first, second):
                caller.writer.write(GET % 1)
                assert await caller.answer() == (200, b"/1")
            third = await subject.call()
            assert (await third.answer())[0] == 503
            assert await third.is_closed()
            first.writer.close()
            while len(subject.around.connections) > 1:
                await asyncio.sleep(0.01)
            fourth = await subject.call()
            fourth.writer.write(GET % 4)
            assert await fourth.answer() == (200, b"/4")

    asyncio.run(main())


def test_taken_address_is_refused_by_name_and_avoided_otherwise() -> None:
    async def main() -> None:
        async with rig() as first:
            host, _, port = first.listener.address.rpartition(":")
            other = HttpListener(first.around)
            with pytest.raises(OperatingError, match=rf"{port}: the address is taken.*metrics.listener=off"):
                await other.start(host, int(port))
            await other.start_near(host, int(port))
            assert other.address != first.listener.address
            await other.stop()
            await other.start_near(host, 70_000)
            assert other.address.startswith(f"{host}:")
            await other.stop()

    asyncio.run(main())
