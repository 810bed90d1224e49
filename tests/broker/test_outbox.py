"""Replies leave in order, however they are sent: joined, gathered by the kernel, or from files."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random

import pytest

from penstock.broker.outbox import GATHER_PARTS_MAX, JOIN_BYTES_MAX, Outbox, Part
from penstock.storage.log_reader import FilePiece
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.real_filesystem import RealFileSystem
from penstock.storage.tail_cache import TailCache

SECONDS_MAX = 30.0


class Sender(asyncio.Protocol):
    """The broker's side of a connection."""

    def __init__(self) -> None:
        self.outbox: Outbox | None = None
        self.tail_cache = TailCache(0)
        self.is_gone = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.outbox = Outbox(asyncio.get_running_loop(), transport, self.tail_cache)

    def pause_writing(self) -> None:
        assert self.outbox is not None
        self.outbox.pause()

    def resume_writing(self) -> None:
        assert self.outbox is not None
        self.outbox.resume()

    def connection_lost(self, error: Exception | None) -> None:
        assert self.outbox is not None
        self.outbox.discard()
        self.is_gone.set()


Talk = Callable[[Sender, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def converse(talk: Talk) -> None:
    """Have both sides of one real connection."""

    async def both() -> None:
        sender = Sender()
        server = await asyncio.get_running_loop().create_server(lambda: sender, "127.0.0.1", 0)
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            while sender.outbox is None:
                await asyncio.sleep(0)
            await talk(sender, reader, writer)
            writer.close()
            await sender.is_gone.wait()

    asyncio.run(asyncio.wait_for(both(), SECONDS_MAX))


def random_parts(seed: int, *, total: int, part_bytes_max: int) -> list[bytes]:
    random = Random(seed)
    parts: list[bytes] = []
    while total > 0:
        parts.append(random.randbytes(random.randint(0, part_bytes_max)))
        total -= len(parts[-1])
    return parts


@pytest.mark.parametrize("part_bytes_max", [100, 20_000, 3 * JOIN_BYTES_MAX])
@pytest.mark.parametrize("total", [10_000, 20_000_000])
def test_parts_arrive_in_order_with_a_reader_that_starts_late(part_bytes_max: int, total: int) -> None:
    if part_bytes_max == 100:
        total //= 20
    parts = random_parts(part_bytes_max, total=total, part_bytes_max=part_bytes_max)
    sent = b"".join(parts)

    async def talk(sender: Sender, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert sender.outbox is not None
        half = len(parts) // 2
        sender.outbox.put(parts[:half])
        await asyncio.sleep(0.05)
        sender.outbox.put(parts[half:])
        assert await reader.readexactly(len(sent)) == sent
        assert sender.outbox.is_empty
        assert (sender.outbox.queued_bytes, sender.tail_cache.lent_bytes) == (0, 0)

    converse(talk)


def test_files_between_gathered_parts_keep_their_place(tmp_path: Path) -> None:
    content = Random(1).randbytes(3_000_000)
    path = tmp_path / "segment"
    path.write_bytes(content)
    file = RealFileSystem().open(str(path))
    small = random_parts(2, total=2_000_000, part_bytes_max=9_000)
    assert len(small) > GATHER_PARTS_MAX
    parts: list[Part] = [
        *small,
        FilePiece(file, 5, 1_000_000),
        *small[:30],
        FilePiece(file, 0, len(content)),
        b"end",
    ]
    sent = b"".join([*small, content[5:1_000_005], *small[:30], content, b"end"])

    async def talk(sender: Sender, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert sender.outbox is not None
        sender.outbox.put(parts)
        assert await reader.readexactly(len(sent)) == sent
        assert (sender.outbox.queued_bytes, sender.tail_cache.lent_bytes) == (0, 0)

    converse(talk)
    file.close()


def test_memory_that_waits_for_a_slow_reader_is_counted_and_files_are_not(tmp_path: Path) -> None:
    path = tmp_path / "segment"
    path.write_bytes(bytes(30_000_000))
    file = RealFileSystem().open(str(path))

    async def talk(sender: Sender, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert sender.outbox is not None
        sender.outbox.put([FilePiece(file, 0, 30_000_000), bytes(1_000), bytes(2_000)])
        await asyncio.sleep(0.05)
        assert sender.outbox.queued_bytes > 3_000
        assert sender.tail_cache.lent_bytes == 3_000
        writer.close()
        await sender.is_gone.wait()
        assert sender.tail_cache.lent_bytes == 0

    converse(talk)
    file.close()


def test_file_that_cannot_be_read_ends_the_connection() -> None:
    disk = MemoryFileSystem(Random(1))
    file = disk.open("/segment", create=True)
    file.write(0, [b"x" * 1_000])

    async def talk(sender: Sender, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert sender.outbox is not None
        file.close()
        sender.outbox.put([b"header", FilePiece(file, 0, 1_000)])
        await sender.is_gone.wait()
        assert sender.outbox.queued_bytes == 0

    converse(talk)


def test_what_nobody_reads_any_more_is_dropped() -> None:
    parts = random_parts(3, total=30_000_000, part_bytes_max=20_000)

    async def talk(sender: Sender, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert sender.outbox is not None
        sender.outbox.put(parts)
        await reader.readexactly(100_000)
        writer.transport.abort()
        await sender.is_gone.wait()
        assert sender.outbox.queued_bytes == 0

    converse(talk)
