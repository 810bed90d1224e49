"""Votes: asking for them, giving them, counting them.

First the question whether an election could be won (pre-vote, dissertation section 9.6), which changes
nothing anywhere; then the election. A candidate's own vote counts when it is on its disk, like everybody's.
"""

from penstock.raft.messages import VoteRequest, VoteResponse
from penstock.raft.replica import ReplicaKey
from penstock.raft.state import NodeState
from penstock.raft.transition import Cause, Role


class Ballot:
    """The votes of one campaign."""

    __slots__ = ("is_handover", "order", "sequence", "votes")

    def __init__(self, sequence: int, *, is_handover: bool) -> None:
        #: Of the questions of this campaign.
        self.sequence = sequence
        self.is_handover = is_handover
        self.votes: set[ReplicaKey] = set()
        #: Number of the output with the candidate's own vote, once that is known.
        self.order: int | None = None


class Elections:
    """The part of a node that stands and votes."""

    __slots__ = ("_ballot", "_state")

    def __init__(self, state: NodeState) -> None:
        self._state = state
        self._ballot: Ballot | None = None

    # Asking

    def stand_or_wait(self) -> None:
        """The election timer has run out."""
        state = self._state
        state.reset_election_timer()
        if state.may_stand():
            self.ask_beforehand(self._cause())

    def _cause(self) -> Cause:
        """Why it wants to be elected."""
        state = self._state
        if state.role in (Role.PRE_CANDIDATE, Role.CANDIDATE):
            return Cause.ELECTION_UNDECIDED
        is_doubted = state.leader is not None and state.leader_heard_at is None
        return Cause.LEADER_UNREACHABLE if is_doubted else Cause.LEADER_SILENT

    def ask_beforehand(self, cause: Cause) -> None:
        """Find out whether a majority would vote for this node."""
        state = self._state
        state.become(Role.PRE_CANDIDATE, cause)
        ballot = self._ballot = Ballot(state.next_sequence(), is_handover=False)
        self._ask(ballot, is_pre_vote=True)
        self._count(ballot, state.key)

    def stand(self, cause: Cause, *, is_handover: bool = False) -> None:
        """Enter the next term and ask for votes in it."""
        state = self._state
        state.save_term(state.term + 1)
        state.save_vote(state.key)
        state.become(Role.CANDIDATE, cause)
        state.reset_election_timer()
        ballot = self._ballot = Ballot(state.next_sequence(), is_handover=is_handover)
        self._ask(ballot, is_pre_vote=False)

    def note_order(self, number: int) -> None:
        """The output in which this node voted for itself got this number."""
        ballot = self._ballot
        if ballot is not None and ballot.order is None and self._state.role is Role.CANDIDATE:
            ballot.order = number

    def own_vote_persisted(self) -> bool:
        """Something came to disk; whether this node is elected now."""
        ballot, state = self._ballot, self._state
        if state.role is not Role.CANDIDATE or ballot is None or ballot.order is None:
            return False
        if state.disk.settled < ballot.order or state.key in ballot.votes:
            return False
        return self._count(ballot, state.key)

    def withdraw(self) -> None:
        """Whatever was asked no longer matters."""
        self._ballot = None

    # Giving

    def on_request(self, request: VoteRequest) -> None:
        """Vote, or say what the vote would be."""
        state = self._state
        is_granted = self._grants(request)
        if is_granted and not request.is_pre_vote:
            if state.hard.voted_for != request.sender:
                state.save_vote(request.sender)
            state.reset_election_timer()
        self._respond(request, is_granted=is_granted)

    def refuse(self, request: VoteRequest) -> None:
        """Say no without a look."""
        self._respond(request, is_granted=False)

    def is_ignored(self, request: VoteRequest) -> bool:
        """Whether the request must not even raise the term: a leader is alive, or it is not meant for us.

        "If a server receives a RequestVote within the minimum election timeout of hearing from a current
        leader, it does not update its term or grant its vote" (section 6), unless that leader hands over.
        """
        return self._is_for_another_disk(request) or self._is_superfluous(request)

    def _is_for_another_disk(self, request: VoteRequest) -> bool:
        """Whether it asks the voter that had this node's id, and whose promises this one does not know."""
        return request.target != self._state.key

    def _is_superfluous(self, request: VoteRequest) -> bool:
        return self._state.hears_a_leader and not request.is_handover

    def _respond(self, request: VoteRequest, *, is_granted: bool) -> None:
        """A vote that has left cannot be taken back: it is on disk before."""
        state = self._state
        state.send_after_persist(
            VoteResponse(
                sender=state.key,
                target=request.sender,
                term=state.term,
                sequence=request.sequence,
                is_granted=is_granted,
                is_pre_vote=request.is_pre_vote,
            )
        )

    def _grants(self, request: VoteRequest) -> bool:
        state = self._state
        if state.is_quarantined or not self._is_up_to_date(request):
            return False
        if request.is_pre_vote:
            return request.term >= state.term
        return request.term == state.term and self._has_vote_for(request.sender)

    def _has_vote_for(self, candidate: ReplicaKey) -> bool:
        """One vote a term, first come, first served (section 5.2)."""
        return self._state.hard.voted_for in (None, candidate)

    def _is_up_to_date(self, request: VoteRequest) -> bool:
        """Whether the candidate has at least what this node has (section 5.4.1)."""
        log = self._state.log
        return (request.last_term, request.end_offset) >= (log.last_term, log.end_offset)

    # Counting

    def on_response(self, response: VoteResponse) -> bool:
        """Take a vote; whether this node is elected now."""
        ballot, state = self._ballot, self._state
        expected = Role.PRE_CANDIDATE if response.is_pre_vote else Role.CANDIDATE
        if ballot is None or state.role is not expected or not self._is_of(ballot, response):
            return False
        return response.is_granted and self._count(ballot, response.sender)

    def _is_of(self, ballot: Ballot, response: VoteResponse) -> bool:
        """Whether it answers this campaign and not an earlier one."""
        return response.sequence == ballot.sequence and (
            response.is_pre_vote or response.term == self._state.term
        )

    def _count(self, ballot: Ballot, voter: ReplicaKey) -> bool:
        state = self._state
        ballot.votes.add(voter)
        if not state.voters.has_majority(ballot.votes):
            return False
        if state.role is Role.PRE_CANDIDATE:
            self.stand(Cause.PRE_VOTE_WON)
            return False
        return True

    def _ask(self, ballot: Ballot, *, is_pre_vote: bool) -> None:
        state = self._state
        send = state.send_now if is_pre_vote else state.send_after_persist
        for voter in state.voters.keys:
            if voter != state.key:
                send(
                    VoteRequest(
                        sender=state.key,
                        target=voter,
                        term=state.term,
                        sequence=ballot.sequence,
                        last_term=state.log.last_term,
                        end_offset=state.log.end_offset,
                        is_pre_vote=is_pre_vote,
                        is_handover=ballot.is_handover,
                    )
                )
