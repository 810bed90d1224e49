"""Each rule speaks up when it is broken, and only then."""

from dataclasses import replace

import pytest
from tests.raft.node_driver import entry, key, voters

from penstock.raft.entry import Entry
from penstock.raft.events import TimePassed
from penstock.raft.output import Output
from penstock.raft.transition import Cause, Role, Transition
from penstock.sim.raft.book import Book
from penstock.sim.raft.disk import Files, Snapshot
from penstock.sim.raft.drawing import draw_plan
from penstock.sim.raft.invariants import Invariant, Step
from penstock.sim.raft.invariants.commit_is_durable import CommitIsDurable
from penstock.sim.raft.invariants.commit_moves_forward import CommitMovesForward
from penstock.sim.raft.invariants.election_safety import ElectionSafety
from penstock.sim.raft.invariants.leader_append_only import LeaderAppendOnly
from penstock.sim.raft.invariants.leader_completeness import LeaderCompleteness
from penstock.sim.raft.invariants.log_matching import LogMatching
from penstock.sim.raft.invariants.state_machines_agree import StateMachinesAgree
from penstock.sim.raft.outcome import BrokenPromise
from penstock.sim.raft.plan import RaftPlan
from penstock.sim.raft.process import Process
from penstock.sim.raft.world import RaftWorld


@pytest.fixture
def leader() -> Process:
    """A process that leads a cluster of three in which nothing else happens."""
    world = RaftWorld(quiet_plan())
    world._begin()
    world._run_until(5_000)
    return next(
        machine.process for machine in world.machines if machine.process is not None and machine.is_leader
    )


def quiet_plan() -> RaftPlan:
    plan = draw_plan(0)
    return replace(
        plan, voters=3, observers=0, drifts=(1.0,) * 3, faults=(), loss=0.0, reads_per_s=0, uses_wire=False
    )


def broken(rule: Invariant, book: Book, process: Process, output: Output) -> list[str]:
    return list(rule.check(book, Step(process=process, event=TimePassed(), output=output)))


def elected(term: int) -> Output:
    transition = Transition(
        before=Role.CANDIDATE, after=Role.LEADER, term=term, leader=key(1), cause=Cause.ELECTED
    )
    return Output(transitions=(transition,))


def test_two_leaders_of_one_term_are_noticed(leader: Process) -> None:
    book = Book()
    assert not broken(ElectionSafety(), book, leader, elected(3))
    assert not broken(ElectionSafety(), book, leader, elected(3))
    book.leaders[4] = key(9)
    assert broken(ElectionSafety(), book, leader, elected(4))


def test_leader_that_cuts_its_log_is_noticed(leader: Process) -> None:
    assert broken(LeaderAppendOnly(), Book(), leader, Output(truncate_to=1))
    assert not broken(LeaderAppendOnly(), Book(), leader, Output())


def test_two_entries_in_one_place_and_term_are_noticed(leader: Process) -> None:
    book = Book()
    offset = leader.node.log.end_offset - 1
    first, other = entry(offset, 9, b"one"), entry(offset, 9, b"other")
    assert not broken(LogMatching(), book, leader, Output(append=(first,)))
    assert not broken(LogMatching(), book, leader, Output(append=(entry(offset, 9, b"one"),)))
    assert broken(LogMatching(), book, leader, Output(append=(other,)))


def test_leader_without_a_committed_entry_is_noticed(leader: Process) -> None:
    book = Book()
    end = leader.node.log.end_offset
    book.committed_end, book.committed_term = end, leader.node.log.last_term
    assert not broken(LeaderCompleteness(), book, leader, elected(leader.node.term))
    book.committed_end, book.committed_term = end + 5, leader.node.term - 1
    assert broken(LeaderCompleteness(), book, leader, elected(leader.node.term))


def test_commit_that_is_on_too_few_disks_is_noticed(leader: Process) -> None:
    offset, term = leader.node.log.end_offset, leader.node.log.last_term
    empty = leader.disk.durable.snapshot

    def disk(*entries: Entry) -> Files:
        return Files(hard_state=leader.node.hard_state, snapshot=empty, entries=list(entries))

    last = Entry(offset=offset - 1, end_offset=offset, term=term)
    one, two, three = leader.node.voters.keys
    committed = Output(commit_offset=offset)
    assert not broken(
        CommitIsDurable({one: disk(last), two: disk(last), three: disk()}), Book(), leader, committed
    )
    assert broken(CommitIsDurable({one: disk(last), two: disk(), three: disk()}), Book(), leader, committed)
    book = Book()
    book.lost_disks.add(three)
    assert broken(CommitIsDurable({one: disk(last), two: disk(), three: disk()}), book, leader, committed)
    assert not broken(
        CommitIsDurable({one: disk(last), two: disk(), three: disk(last)}), book, leader, committed
    )


def test_commit_that_goes_back_is_noticed(leader: Process) -> None:
    assert leader.applied_offset > 1
    assert broken(CommitMovesForward(), Book(), leader, Output(commit_offset=1))
    assert broken(CommitMovesForward(), Book(), leader, Output(truncate_to=1))
    assert not broken(CommitMovesForward(), Book(), leader, Output(commit_offset=leader.applied_offset))


def test_state_machines_that_differ_are_noticed(leader: Process) -> None:
    book, rule = Book(), StateMachinesAgree()
    leader.applied_offset, leader.state_digest = 0, 0
    rule.loaded(book, leader)
    leader.state_digest = 7
    with pytest.raises(BrokenPromise, match="in state 00000007"):
        rule.loaded(book, leader)
    book.committed[3] = entry(3, 1, b"one")
    with pytest.raises(BrokenPromise, match="applies b'other'"):
        rule.applied(book, leader, entry(3, 1, b"other"))


def test_snapshot_vouches_for_what_it_covers(leader: Process) -> None:
    offset = leader.node.log.end_offset
    covering = Snapshot(
        snapshot_id=leader.disk.durable.snapshot.snapshot_id._replace(end_offset=offset),
        voters=voters(1),
        content=b"",
    )
    files = Files(hard_state=leader.node.hard_state, snapshot=covering)
    disks = dict.fromkeys(leader.node.voters.keys, files)
    assert not broken(CommitIsDurable(disks), Book(), leader, Output(commit_offset=offset))
