"""Those who wait for the machine: what was asked of it, and what became of it.

A request that is accepted is done when its place in the log is committed while the log still has its term
there. Until then nobody knows, least of all a leader that was deposed: its entries may be committed by the
next leader, or cut off.
"""

import asyncio
from collections.abc import Iterable

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.raft.entry import Entry
from penstock.raft.output import Accepted, Answer, Refusal, Refused

UNDECIDED_SECONDS = 5.0
"""How long those wait who proposed something to a leader that was deposed: several elections."""

_REFUSALS = {
    Refusal.OVERLOADED: ErrorCode.REQUEST_TIMED_OUT,
    Refusal.CHANGE_PENDING: ErrorCode.REQUEST_TIMED_OUT,
    Refusal.NOT_CAUGHT_UP: ErrorCode.REQUEST_TIMED_OUT,
    Refusal.NOT_FOLLOWING: ErrorCode.REQUEST_TIMED_OUT,
    Refusal.QUORUM_AT_RISK: ErrorCode.REQUEST_TIMED_OUT,
    Refusal.NOT_A_VOTER: ErrorCode.VOTER_NOT_FOUND,
    Refusal.ALREADY_A_VOTER: ErrorCode.DUPLICATE_VOTER,
    Refusal.LAST_VOTER: ErrorCode.INVALID_REQUEST,
}


class Proposal:
    """One request."""

    __slots__ = ("accepted", "done", "turn_over")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.accepted: Accepted | None = None
        #: What the machine said, once it is in force.
        self.done: asyncio.Future[Answer] = loop.create_future()
        #: Done, or this node no longer leads: the next decision need not wait for this one.
        self.turn_over: asyncio.Future[None] = loop.create_future()

    def finish(self, answer: Answer) -> None:
        """It is in force, or was refused."""
        if not self.done.done():
            self.done.set_result(answer)
        self.end_turn()

    def fail(self, code: ErrorCode, message: str) -> None:
        """It is not in force, or nobody knows."""
        if not self.done.done():
            self.done.set_exception(ApiError(code, message))
            self.done.exception()  # whoever asked may have been cancelled: then nobody looks at it
        self.end_turn()

    def end_turn(self) -> None:
        """Let the next one go on."""
        if not self.turn_over.done():
            self.turn_over.set_result(None)


class Proposals:
    """All requests that are not decided, by their tokens, which are in the order of the log."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._token = 0
        self._waiting: dict[int, Proposal] = {}

    def begin(self) -> tuple[int, Proposal]:
        """A token for the machine, and what its answers will be told to."""
        self._token += 1
        proposal = self._waiting[self._token] = Proposal(self._loop)
        return self._token, proposal

    def answered(self, answer: Answer) -> None:
        """The machine answers; what is accepted still has to be committed."""
        proposal = self._waiting.get(answer.token)
        if proposal is None:
            return
        if isinstance(answer, Accepted):
            proposal.accepted = answer
        else:
            del self._waiting[answer.token]
            proposal.finish(answer)

    def applied(self, entries: Iterable[Entry]) -> None:
        """These entries are committed and in the image."""
        terms = {entry.end_offset: entry.term for entry in entries}
        for token, proposal in list(self._waiting.items()):
            accepted = proposal.accepted
            if accepted is not None and accepted.end_offset in terms:
                del self._waiting[token]
                if terms[accepted.end_offset] == accepted.term:
                    proposal.finish(accepted)
                else:
                    proposal.fail(*_CUT_OFF)

    def truncated(self, offset: int) -> None:
        """Everything from ``offset`` on is gone."""
        for token, proposal in list(self._waiting.items()):
            if proposal.accepted is not None and proposal.accepted.end_offset > offset:
                del self._waiting[token]
                proposal.fail(*_CUT_OFF)

    def overtaken(self) -> None:
        """A snapshot took the place of the log: it does not tell who made which change."""
        self._give_up([token for token, proposal in self._waiting.items() if proposal.accepted is not None])

    def deposed(self) -> None:
        """This node no longer leads: whoever waits may go on to wait, but not for long."""
        for proposal in self._waiting.values():
            proposal.end_turn()
        if self._waiting:
            self._loop.call_later(UNDECIDED_SECONDS, self._give_up, list(self._waiting))

    def fail_all(self, code: ErrorCode, message: str) -> None:
        """Nobody needs to wait any more."""
        waiting, self._waiting = self._waiting, {}
        for proposal in waiting.values():
            proposal.fail(code, message)

    def _give_up(self, tokens: list[int]) -> None:
        for token in tokens:
            proposal = self._waiting.pop(token, None)
            if proposal is not None:
                proposal.fail(
                    ErrorCode.REQUEST_TIMED_OUT,
                    "The leader of the quorum was deposed; the change may or may not have been made.",
                )


def refusal_error(refused: Refused) -> ApiError:
    """What to tell whoever asked for something that was refused; most of it is for another node to do."""
    code = _REFUSALS.get(refused.reason, ErrorCode.NOT_CONTROLLER)
    return ApiError(code, f"The quorum refuses: {refused.reason}.")


_CUT_OFF = (ErrorCode.NOT_CONTROLLER, "Another leader of the quorum has taken over; nothing was changed.")
