"""Reads that must see everything committed before them: ReadIndex (dissertation, section 6.4).

A leader may have been deposed without knowing. So it notes how far it is committed, asks the others once
more, and answers when a majority has shown, by answering something sent later, that it still led after the
question came in. No clock is trusted.
"""

from collections import deque
from dataclasses import dataclass

from penstock.model.limits import RAFT_READS_WAITING_MAX
from penstock.raft.output import ReadReady


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingRead:
    """A read, the commit it must see, and the newest question that was out when it came."""

    token: int
    offset: int
    sequence: int


class Reads:
    """Reads of one leadership that wait to be confirmed, oldest first."""

    __slots__ = ("_early", "_waiting")

    def __init__(self) -> None:
        self._waiting: deque[WaitingRead] = deque()
        #: Tokens of reads that came before anything of this term was committed: only then is it known how
        #: far the predecessors were.
        self._early: list[int] = []

    @property
    def is_full(self) -> bool:
        """Whether no more may wait."""
        return len(self._waiting) + len(self._early) >= RAFT_READS_WAITING_MAX

    @property
    def newest_sequence(self) -> int:
        """Something sent after this must be answered by a majority; -1 when nobody waits."""
        return self._waiting[-1].sequence if self._waiting else -1

    def add(self, token: int, *, offset: int, sequence: int) -> None:
        """Let a read wait for its confirmation."""
        self._waiting.append(WaitingRead(token=token, offset=offset, sequence=sequence))

    def add_early(self, token: int) -> None:
        """Let a read wait until the commit is known."""
        self._early.append(token)

    def commit_known(self, *, offset: int, sequence: int) -> None:
        """The first entry of this term is committed."""
        for token in self._early:
            self.add(token, offset=offset, sequence=sequence)
        self._early.clear()

    def confirm(self, sequence: int) -> list[ReadReady]:
        """A majority has answered questions up to ``sequence``."""
        ready = []
        while self._waiting and self._waiting[0].sequence < sequence:
            read = self._waiting.popleft()
            ready.append(ReadReady(token=read.token, offset=read.offset))
        return ready

    def tokens(self) -> list[int]:
        """Everybody who waits."""
        return [*(read.token for read in self._waiting), *self._early]
