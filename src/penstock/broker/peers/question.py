"""One request to a peer, from the moment it is asked until it is answered or given up."""

import asyncio
from dataclasses import dataclass
from typing import Any

from penstock.broker.peers.peer_error import PeerError
from penstock.wire.api_keys import APIS, ApiKey


@dataclass(slots=True, kw_only=True, eq=False)
class Question:
    """Encoded when it is asked, so that a message that cannot be encoded is its asker's problem alone."""

    #: The correlation id; no other question on the same line has it.
    number: int
    api_key: ApiKey
    version: int
    frame: bytes
    answered: "asyncio.Future[Any]"
    was_sent: bool = False

    def __str__(self) -> str:
        return APIS[self.api_key].name

    @property
    def is_over(self) -> bool:
        """Whether whoever asked has, or is about to get, an answer or the reason why there is none."""
        return self.answered.done() and not self.answered.cancelled()

    def answer(self, message: Any) -> None:
        """Hand the answer over, if anybody still wants it."""
        if not self.answered.done():
            self.answered.set_result(message)

    def fail(self, reason: str) -> None:
        """There will be no answer."""
        if not self.answered.done():
            self.answered.set_exception(PeerError(reason, was_sent=self.was_sent))
