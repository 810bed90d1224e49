"""Requests that name many keys: each is asked of its own shard, and the answers come in the same order."""

import asyncio
from collections.abc import Iterable

from penstock.broker.coordination.coordinator import Coordinator
from penstock.wire.framing import RequestHeader
from penstock.wire.schema import Struct


async def ask_each(
    coordinator: Coordinator, requests: Iterable[tuple[str, Struct]], header: RequestHeader
) -> list[Struct]:
    """Ask for every key by itself, all at once."""
    return await asyncio.gather(*(coordinator.ask(key, request, header) for key, request in requests))
