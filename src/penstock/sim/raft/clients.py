"""Those who use the cluster: they propose, read, change the voters, and remember what they were told."""

from collections.abc import Callable
from random import Random
from typing import Protocol

from penstock.raft.events import (
    AddVoterRequested,
    Event,
    NewBatch,
    Proposed,
    ReadRequested,
    RemoveVoterRequested,
    TransferRequested,
)
from penstock.raft.output import Accepted, Answer, ReadReady, Refused
from penstock.raft.replica import Voter
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord
from penstock.sim.raft.book import Book
from penstock.sim.raft.machine import Machine
from penstock.sim.raft.outcome import BrokenPromise
from penstock.sim.raft.plan import RaftPlan
from penstock.sim.raft.process import Process

READS_ARE_CURRENT = "reads see what was acknowledged"
RECORDS_PER_BATCH_MAX = 3


class Host(Protocol):
    """What clients live in."""

    now: int
    plan: RaftPlan
    book: Book
    machines: list[Machine]

    def at(self, when: int, action: Callable[[], None]) -> None:
        """Have something done at a time of the world's."""

    def step(self, machine: Machine, event: Event) -> None:
        """Give a node an event."""

    def tell(self, line: str) -> None:
        """Note something in the story."""


class Clients:
    """All of them."""

    def __init__(self, host: Host, draw: Random) -> None:
        self._host = host
        self._draw = draw
        self._token = 0
        self._hint = 0
        #: Reads that wait: what they must see.
        self._reads: dict[int, int] = {}
        #: Proposals in some process's log: their process, offsets and term.
        self._proposals: list[tuple[Process, Accepted]] = []

    def begin(self) -> None:
        """Start to ask, again and again."""
        plan = self._host.plan
        self._repeat(plan.proposals_per_s, self.propose)
        if plan.reads_per_s:
            self._repeat(plan.reads_per_s, self.read)

    def propose(self) -> None:
        """Send something to whoever is thought to lead."""
        draw = self._draw
        token = self._next_token()
        count = draw.choice((1, 1, 1, 2))
        batches = tuple(
            self._batch(f"v{token}.{number}".encode(), draw.randint(1, RECORDS_PER_BATCH_MAX))
            for number in range(count)
        )
        self._ask(Proposed(token=token, batches=batches))

    def _batch(self, value: bytes, record_count: int) -> NewBatch:
        if not self._host.plan.uses_wire:
            return NewBatch(payload=value, record_count=record_count)
        batch = build_batch([NewRecord(value=value)] * record_count)
        return NewBatch(payload=batch, record_count=record_count)

    def read(self) -> None:
        """Ask for what is committed by now."""
        token = self._next_token()
        self._reads[token] = self._host.book.acknowledged_end
        self._ask(ReadRequested(token=token))

    def add_voter(self, machine: Machine) -> None:
        """Have a node admitted."""
        self._ask(AddVoterRequested(token=self._next_token(), voter=Voter(key=machine.key)))

    def remove_voter(self, number: int) -> None:
        """Have a node's vote taken away, whatever disk it has."""
        leader = self._leader()
        if leader is not None and leader.process is not None:
            voter = leader.process.node.voters.of_node(number)
            if voter is not None:
                self._host.step(leader, RemoveVoterRequested(token=self._next_token(), key=voter.key))

    def transfer(self) -> None:
        """Have somebody else lead."""
        self._ask(TransferRequested(token=self._next_token()))

    def answered(self, process: Process, answer: Answer) -> None:
        """Take note."""
        match answer:
            case Accepted():
                self._proposals.append((process, answer))
            case ReadReady():
                self._check_read(process, answer)
            case Refused():
                if answer.leader is not None:
                    self._hint = answer.leader.node_id

    def committed(self, process: Process, commit_offset: int) -> None:
        """A node knows of a commit: what was proposed through it is acknowledged."""
        book, waiting = self._host.book, []
        for owner, accepted in self._proposals:
            if owner is not process or accepted.end_offset > commit_offset:
                if owner.is_alive:
                    waiting.append((owner, accepted))
            elif process.node.log.terms.before(accepted.end_offset) == accepted.term:
                book.acknowledged_end = max(book.acknowledged_end, accepted.end_offset)
                book.acknowledged += 1
        self._proposals = waiting

    def _check_read(self, process: Process, ready: ReadReady) -> None:
        expected = self._reads.pop(ready.token)
        if ready.offset < expected:
            raise BrokenPromise(
                READS_ARE_CURRENT,
                f"{process.key} lets a read see everything below {ready.offset}, acknowledged before it was "
                f"everything below {expected}",
            )

    def _ask(self, event: Event) -> None:
        machines = self._host.machines
        number = self._hint if self._draw.random() < 0.7 else self._draw.randrange(len(machines))
        self._host.step(machines[number], event)

    def _leader(self) -> Machine | None:
        leaders = [machine for machine in self._host.machines if machine.is_leader]
        return self._draw.choice(leaders) if leaders else None

    def _repeat(self, per_second: int, action: Callable[[], None]) -> None:
        def again() -> None:
            action()
            self._host.at(self._host.now + wait(), again)

        def wait() -> int:
            return 1 + int(self._draw.expovariate(per_second / 1000))

        self._host.at(self._host.now + wait(), again)

    def _next_token(self) -> int:
        self._token += 1
        return self._token
