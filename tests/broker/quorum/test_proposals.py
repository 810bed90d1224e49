"""Those who wait for the quorum learn what became of theirs, each in its own way."""

import asyncio
from collections.abc import Callable

import pytest
from tests.raft.node_driver import entry, key

from penstock.broker.quorum.proposals import Proposal, Proposals, refusal_error
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.raft.output import Accepted, HandedOver, Refusal, Refused


def outcome(after: Callable[[Proposals, int], None], *, offset: int = 4, term: int = 2) -> Proposal:
    """A proposal that was accepted, and something that happened after."""

    async def scenario() -> Proposal:
        proposals = Proposals(asyncio.get_running_loop())
        token, proposal = proposals.begin()
        proposals.answered(Accepted(token=token, offset=offset, end_offset=offset + 1, term=term))
        assert not proposal.done.done()
        after(proposals, token)
        return proposal

    return asyncio.run(scenario())


def code_of(proposal: Proposal) -> ErrorCode:
    error = proposal.done.exception()
    assert isinstance(error, ApiError)
    return error.code


def test_proposal_is_done_when_its_entry_is_applied() -> None:
    proposal = outcome(lambda proposals, _: proposals.applied([entry(3, 2), entry(4, 2)]))
    assert isinstance(proposal.done.result(), Accepted)
    assert proposal.turn_over.done()


def test_proposal_in_whose_place_another_entry_is_applied_was_cut_off() -> None:
    proposal = outcome(lambda proposals, _: proposals.applied([entry(4, 3)]))
    assert code_of(proposal) is ErrorCode.NOT_CONTROLLER


@pytest.mark.parametrize(("offset", "is_cut"), [(3, True), (4, True), (5, False)])
def test_proposal_ends_when_the_log_is_cut_before_its_end(offset: int, is_cut: bool) -> None:
    proposal = outcome(lambda proposals, _: proposals.truncated(offset))
    assert proposal.done.done() is is_cut
    if is_cut:
        assert code_of(proposal) is ErrorCode.NOT_CONTROLLER


def test_proposal_that_a_snapshot_overtakes_is_in_doubt() -> None:
    assert code_of(outcome(lambda proposals, _: proposals.overtaken())) is ErrorCode.REQUEST_TIMED_OUT


def test_proposal_of_a_deposed_leader_waits_and_lets_others_go_on() -> None:
    proposal = outcome(lambda proposals, _: proposals.deposed())
    assert proposal.turn_over.done()
    assert not proposal.done.done()


def test_answers_to_other_requests_are_passed_on_at_once() -> None:
    async def scenario() -> object:
        proposals = Proposals(asyncio.get_running_loop())
        token, proposal = proposals.begin()
        proposals.answered(HandedOver(token=token, target=key(2)))
        proposals.answered(HandedOver(token=token, target=key(3)))
        return proposal.done.result()

    assert asyncio.run(scenario()) == HandedOver(token=1, target=key(2))


@pytest.mark.parametrize("reason", Refusal)
def test_every_refusal_has_a_code_and_says_why(reason: Refusal) -> None:
    error = refusal_error(Refused(token=1, reason=reason, leader=None))
    assert error.code is not ErrorCode.NONE
    assert str(reason.value) in error.message
