"""Mistakes that people make with Raft, to be planted on purpose.

Each is one rule of the paper or of the contract in ``penstock.raft.output`` left out. A bug that no seed
notices must be shown by a scenario (``tests/scenarios/raft``): the table in ``docs/simulation.md`` says
which.
"""

from dataclasses import replace
from typing import Any

from penstock.raft.durability import Durability
from penstock.raft.elections import Ballot, Elections
from penstock.raft.events import ReadRequested
from penstock.raft.feeding import Feeding
from penstock.raft.following import Following
from penstock.raft.hard_state import HardState
from penstock.raft.leadership import Leadership
from penstock.raft.membership import Membership
from penstock.raft.messages import AppendEntries, AppendResponse, Message, VoteRequest
from penstock.raft.node import RaftNode
from penstock.raft.output import Output, ReadReady
from penstock.raft.progress import Progress
from penstock.raft.replica import ReplicaKey
from penstock.raft.state import NodeState
from penstock.raft.transition import Cause, Role
from penstock.raft.voter_history import VoterHistory
from penstock.raft.voters import VoterSet
from penstock.sim.planting import Bug, Function, Swap, always
from penstock.sim.raft import machine
from penstock.sim.raft.disk import NodeDisk


def _nothing(original: Function) -> Function:
    return always(None)(original)


# Promises that are not on disk


def _without_vote(original: Function) -> Function:
    def order(self: NodeDisk, output: Output) -> None:
        if output.persist is not None:
            output = replace(output, persist=HardState(term=output.persist.term))
        original(self, output)

    return order


def _without_term(original: Function) -> Function:
    def order(self: NodeDisk, output: Output) -> None:
        original(self, replace(output, persist=None))

    return order


def _vote_too_early(original: Function) -> Function:
    def respond(self: Elections, request: VoteRequest, *, is_granted: bool) -> None:
        original(self, request, is_granted=is_granted)
        self._state.send_now(self._state.draft.send_after_persist.pop())

    return respond


def _ack_too_early(original: Function) -> Function:
    def respond(self: Following, response: AppendResponse) -> None:
        self._state.send_now(response)

    return respond


def _count_unflushed(original: Function) -> Function:
    def own_durable_end(self: Leadership) -> int:
        return self._state.log.end_offset

    return own_durable_end


def _stand_unsaved(original: Function) -> Function:
    """Ask for votes while the own one is still on its way to the disk."""

    def ask(self: Elections, ballot: Ballot, *, is_pre_vote: bool) -> None:
        original(self, ballot, is_pre_vote=is_pre_vote)
        draft = self._state.draft
        draft.send_now += draft.send_after_persist
        draft.send_after_persist.clear()
        if not is_pre_vote:
            ballot.votes.add(self._state.key)

    return ask


def _elect_when_persisted(original: Function) -> Function:
    """Without this a node that is the only voter would never be elected: its vote was counted already."""

    def own_vote_persisted(self: Elections) -> bool:
        if self._state.role is not Role.CANDIDATE or self._ballot is None:
            return False
        return self._state.voters.has_majority(self._ballot.votes)

    return own_vote_persisted


def _forget_truncation(original: Function) -> Function:
    """Take a late report about entries that were cut off for one about their successors."""

    def truncate(self: Durability, offset: int) -> None:
        return None

    return truncate


# Elections


def _pre_votes_elect(original: Function) -> Function:
    def count(self: Elections, ballot: Ballot, voter: ReplicaKey) -> bool:
        was_asking = self._state.role is Role.PRE_CANDIDATE
        won: bool = original(self, ballot, voter)
        if was_asking and self._state.role is Role.CANDIDATE and self._ballot is not None:
            self._ballot.votes |= ballot.votes - {self._state.key}
        return won

    return count


def _stand_at_once(original: Function) -> Function:
    def ask_beforehand(self: Elections, cause: Cause) -> None:
        self.stand(cause)

    return ask_beforehand


def _half_is_enough(original: Function) -> Function:
    return property(lambda self: max(1, len(self.voters) // 2))


def _same_identity(original: Function) -> Function:
    def replica_key(number: int, wipes: int) -> ReplicaKey:
        key: ReplicaKey = original(number, 0)
        return key

    return replica_key


# Replication


def _cut_always(original: Function) -> Function:
    """Cut the log behind every request, conflict or not."""

    def take(self: Following, request: AppendEntries) -> int:
        end: int = original(self, request)
        if self._state.commit_offset <= end < self._state.log.end_offset:
            self._state.truncate(end)
        return end

    return take


def _cut_unchecked(original: Function) -> Function:
    def truncate(self: NodeState, offset: int) -> None:
        self.log.truncate(offset)
        self.disk.truncate(offset)
        self.draft.truncate_to = offset

    return truncate


def _commit_unseen(original: Function) -> Function:
    def commit(self: Following, request: AppendEntries, end_offset: int) -> None:
        self._state.advance_commit(min(request.commit_offset, self._state.log.end_offset))

    return commit


def _obey_any_term(original: Function) -> Function:
    def obey(self: RaftNode, message: Any) -> None:
        if message.term < self.term and self.role is not Role.LEADER:
            message = replace(message, term=self.term)
        original(self, message)

    return obey


def _lead_on(original: Function) -> Function:
    """A leader does not stand back for a higher term."""

    def raises_term(self: RaftNode, message: Message) -> bool:
        return self.role is not Role.LEADER and bool(original(self, message))

    return raises_term


def _refusal_is_progress(original: Function) -> Function:
    """Take the place that a refusal names for one up to which the logs agree."""

    def on_append_response(self: Feeding, progress: Progress, response: AppendResponse) -> None:
        original(self, progress, response)
        if not response.is_accepted:
            progress.match_offset = max(progress.match_offset, progress.next_offset)

    return on_append_response


def _sent_is_taken(original: Function) -> Function:
    """Take what was sent for what is there, whichever request was accepted."""

    def accepted(self: Progress, offset: int) -> None:
        original(self, max(offset, self.next_offset))

    return accepted


def _without_leader_change(original: Function) -> Function:
    def append_leader_change(self: Leadership) -> None:
        self.term_start_offset -= 1

    return append_leader_change


def _never_lost(original: Function) -> Function:
    def has_lost_quorum(self: Leadership) -> bool:
        original(self)
        return False

    return has_lost_quorum


def _unchecked(original: Function) -> Function:
    def is_consistent(self: Following, request: AppendEntries) -> bool:
        return self._state.log.start_offset <= request.offset <= self._state.log.end_offset

    return is_consistent


# Membership


def _in_force_at_commit(original: Function) -> Function:
    return property(lambda self: self.log.voters.at(self.commit_offset))


# Reads


def _read_unconfirmed(original: Function) -> Function:
    def read(self: Leadership, event: ReadRequested) -> None:
        self._state.answer(ReadReady(token=event.token, offset=self._state.commit_offset))

    return read


BUGS: dict[str, Bug] = {
    "vote-not-persisted": Bug(
        "the hard state is saved without the vote", (Swap(NodeDisk, "order", _without_vote),)
    ),
    "term-not-persisted": Bug(
        "neither term nor vote is ever saved", (Swap(NodeDisk, "order", _without_term),)
    ),
    "vote-before-flush": Bug(
        "a vote leaves before it is on disk", (Swap(Elections, "_respond", _vote_too_early),)
    ),
    "stand-before-flush": Bug(
        "a candidate counts its own vote, and asks for others, before it is on disk",
        (
            Swap(Elections, "_ask", _stand_unsaved),
            Swap(Elections, "own_vote_persisted", _elect_when_persisted),
        ),
    ),
    "ack-before-flush": Bug(
        "a follower acknowledges entries before they are on disk",
        (Swap(Following, "_respond", _ack_too_early),),
    ),
    "leader-counts-unflushed": Bug(
        "a leader counts itself before its own flush",
        (Swap(Leadership, "_own_durable_end", _count_unflushed),),
    ),
    "late-report-believed": Bug(
        "a flush of entries that were cut off counts for those that came in their place",
        (Swap(Durability, "truncate", _forget_truncation),),
    ),
    "wiped-disk-votes": Bug(
        "a node with a new disk passes for the voter it was",
        (Swap(machine, "replica_key", _same_identity),),
    ),
    "two-votes-per-term": Bug("whoever asks gets a vote", (Swap(Elections, "_has_vote_for", always(True)),)),
    "no-up-to-date-check": Bug(
        "candidates are elected whatever they lack", (Swap(Elections, "_is_up_to_date", always(True)),)
    ),
    "votes-of-any-term": Bug(
        "votes of earlier campaigns are counted", (Swap(Elections, "_is_of", always(True)),)
    ),
    "pre-votes-elect": Bug(
        "answers to a pre-vote are counted as votes", (Swap(Elections, "_count", _pre_votes_elect),)
    ),
    "half-is-a-majority": Bug(
        "half of an even number of voters decides", (Swap(VoterSet, "majority", _half_is_enough),)
    ),
    "no-pre-vote": Bug(
        "whoever hears nothing stands at once, in a new term",
        (Swap(Elections, "ask_beforehand", _stand_at_once),),
    ),
    "leader-not-defended": Bug(
        "voters that hear a leader still answer candidates",
        (Swap(Elections, "_is_superfluous", always(False)),),
    ),
    "no-check-quorum": Bug(
        "a leader goes on without a majority", (Swap(Leadership, "has_lost_quorum", _never_lost),)
    ),
    "old-term-committed": Bug(
        "entries of earlier terms are committed by counting (figure 8)",
        (Swap(Leadership, "_may_commit", always(True)),),
    ),
    "no-consistency-check": Bug(
        "entries are appended without a look at what stands before them",
        (Swap(Following, "_is_consistent", _unchecked),),
    ),
    "cut-always": Bug(
        "a follower cuts its log behind every request, conflict or not",
        (Swap(Following, "_take", _cut_always), Swap(NodeState, "truncate", _cut_unchecked)),
    ),
    "conflict-overlooked": Bug(
        "entries that differ from the leader's are kept", (Swap(Following, "_conflicts", always(False)),)
    ),
    "commit-unseen": Bug(
        "a follower commits what it has, not what it knows to be the leader's",
        (Swap(Following, "_commit", _commit_unseen),),
    ),
    "old-leader-obeyed": Bug(
        "a follower takes entries from a leader of an earlier term",
        (Swap(RaftNode, "_obey", _obey_any_term),),
    ),
    "higher-term-ignored": Bug(
        "a leader does not stand back for a higher term", (Swap(RaftNode, "_raises_term", _lead_on),)
    ),
    "refusal-is-progress": Bug(
        "the place that a refusal names counts as matched",
        (Swap(Feeding, "on_append_response", _refusal_is_progress),),
    ),
    "sent-is-taken": Bug(
        "an acknowledgement counts for everything that was sent",
        (Swap(Progress, "accepted", _sent_is_taken),),
    ),
    "no-leader-change-entry": Bug(
        "a new leader writes nothing of its own",
        (Swap(Leadership, "_append_leader_change", _without_leader_change),),
    ),
    "change-before-own-commit": Bug(
        "a new leader changes the voters before it has committed anything (the error of 2015)",
        (Swap(Membership, "_knows_its_predecessors", always(True)),),
    ),
    "changes-overlap": Bug(
        "the voters are changed before the last change is committed",
        (Swap(Membership, "_has_pending_change", always(False)),),
    ),
    "voters-at-commit": Bug(
        "a set of voters is in force only when it is committed",
        (Swap(NodeState, "voters", _in_force_at_commit),),
    ),
    "voters-survive-cut": Bug(
        "a set of voters stays in force when its entry is cut off",
        (Swap(VoterHistory, "truncate", _nothing),),
    ),
    "snapshot-goes-back": Bug(
        "a snapshot is installed that has less than is committed",
        (Swap(Following, "_is_behind", always(False)),),
    ),
    "pieces-out-of-order": Bug(
        "pieces of a snapshot are taken in any order", (Swap(Following, "_is_next", always(True)),)
    ),
    "conflicting-log-kept": Bug(
        "a log that disagrees with an installed snapshot is kept",
        (Swap(Following, "_keeps_log", always(True)),),
    ),
    "read-unconfirmed": Bug(
        "a leader answers reads without asking whether it still leads",
        (Swap(Leadership, "read", _read_unconfirmed),),
    ),
    "read-too-early": Bug(
        "a new leader answers reads before it has committed anything",
        (Swap(Leadership, "_knows_what_is_committed", always(True)),),
    ),
}
