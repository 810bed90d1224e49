"""A transaction for programs with an event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from penstock.client.errors import ClosedError, ConfigurationError, PenstockClientError
from penstock.client.producing.transaction import Transaction, Transactions, TransactionState
from penstock.client.topic_partition import Offsets
from penstock.client.trouble import logger

if TYPE_CHECKING:
    from penstock.client.asynchronous.consumer import AsyncConsumer

Call = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Has a function called in another thread."""

Submit = Callable[[Callable[[], Any]], object]
"""The same without waiting; before anything that is to be called later."""


class Snapshot(NamedTuple):
    """Where a consumer stood when its offsets were asked for."""

    offsets: Offsets
    metadata: Any

    def seen_offsets(self) -> Offsets:
        """Up to where its caller had seen every partition."""
        return self.offsets

    def group_metadata(self) -> Any:
        """Who it was in its group."""
        return self.metadata


class AsyncTransaction:
    """``Transaction`` with coroutines; begins when its block does.

    A commit that has begun goes on when its task is cancelled: it is not known then what became of it. The
    next transaction begins when it has ended. One whose task is cancelled while it begins is aborted before
    the next one begins: nobody waits for that, since the broker may not be there.
    """

    def __init__(self, transactions: Transactions, call: Call, submit: Submit) -> None:
        self._transactions = transactions
        self._call = call
        self._submit = submit
        self._begun: Transaction | None = None
        self._ending: asyncio.Future[Any] | None = None

    async def send_offsets(self, consumer: "AsyncConsumer") -> None:
        """Commit, with the records, up to where ``consumer`` was read: every message is copied once."""
        snapshot = Snapshot(*await consumer.offsets_for_transaction())
        await self._call(partial(self._open().send_offsets, snapshot))

    async def commit(self) -> None:
        """End it well before its block ends. After a retriable error, call it again: it goes on."""
        await self._ended(self._open().commit)

    async def abort(self) -> None:
        """End it so that nothing of it is ever seen."""
        await self._ended(self._open().abort)

    async def __aenter__(self) -> Self:
        try:
            await self._call(self._begin)
        except asyncio.CancelledError:
            with suppress(ClosedError):  # Closing aborts what is open.
                self._submit(self._abandon)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        begun = self._open()
        is_ending = self._ending is not None and not self._ending.done()
        is_committing = error is not None and begun.state is TransactionState.COMMITTING
        if is_ending or is_committing or begun.is_ended:
            return
        if error is None:
            await (self.abort() if begun.state is TransactionState.ABORTING else self.commit())
            return
        try:
            await self.abort()
        except PenstockClientError as failure:
            logger.debug("a transaction could not be aborted: %s", failure)
            error.add_note(f"The transaction could not be aborted either: {failure}")

    def _open(self) -> Transaction:
        if self._begun is None:
            raise ConfigurationError("The transaction has not begun: use it in an async with block")
        return self._begun

    async def _ended(self, end: Callable[[], None]) -> None:
        self._ending = asyncio.ensure_future(_awaited(self._call(end)))
        await asyncio.shield(self._ending)

    # Inside, in the worker.

    def _begin(self) -> None:
        self._begun = self._transactions.begin()

    def _abandon(self) -> None:
        """Nobody holds it: if it was begun nevertheless, it would be in the way of all others."""
        if self._begun is None or self._begun.is_ended:
            return
        try:
            self._begun.abort()
        except PenstockClientError as failure:
            logger.warning("a transaction that was cancelled could not be aborted: %s", failure)


async def _awaited(answer: Awaitable[Any]) -> Any:
    return await answer
