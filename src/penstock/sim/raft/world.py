"""Doing a plan to a cluster, step by step, and checking every one.

Time is a number, everything that will happen lies in a heap, and what happens at the same time happens in an
order drawn from the seed. When the plan's faults are over the world is healed, and must make progress.
"""

import zlib
from collections.abc import Callable
from heapq import heappop, heappush
from random import Random
from traceback import format_exception

from penstock.raft.entry import Entry
from penstock.raft.events import Event, MessageReceived
from penstock.raft.messages import Message
from penstock.raft.output import Answer, Output
from penstock.raft.replica import NOBODY, ReplicaKey, Voter
from penstock.raft.transition import Role
from penstock.raft.voters import NO_VOTERS, voter_set
from penstock.records.batch import BATCH_LENGTH_MIN
from penstock.sim.raft.book import Book
from penstock.sim.raft.clients import Clients
from penstock.sim.raft.disk import NodeDisk
from penstock.sim.raft.faults import Faults
from penstock.sim.raft.frames import through_a_frame
from penstock.sim.raft.invariants import Invariant, Step
from penstock.sim.raft.invariants.commit_is_durable import CommitIsDurable
from penstock.sim.raft.invariants.commit_moves_forward import CommitMovesForward
from penstock.sim.raft.invariants.election_safety import ElectionSafety
from penstock.sim.raft.invariants.leader_append_only import LeaderAppendOnly
from penstock.sim.raft.invariants.leader_completeness import LeaderCompleteness
from penstock.sim.raft.invariants.log_matching import LogMatching
from penstock.sim.raft.invariants.state_machines_agree import StateMachinesAgree
from penstock.sim.raft.machine import Machine, replica_key
from penstock.sim.raft.network import Network
from penstock.sim.raft.outcome import BrokenPromise, Outcome
from penstock.sim.raft.plan import FaultEvent, RaftPlan
from penstock.sim.raft.process import Process

STORY_LINES_MAX = 20_000
STEPS_MAX = 50_000
"""Of one run: a storm of messages, or a node that spins in one moment, is a failure and not a long wait."""

HEALING_TIMEOUTS = 40
"""How many election timeouts a healed cluster may take to be as good as new."""

PROGRESS = "a healed cluster makes progress"
NODES_GO_ON = "nodes do their work"


class RaftWorld:
    """One run of one plan."""

    def __init__(self, plan: RaftPlan) -> None:
        self.plan = plan
        self.now = 0
        self.is_healed = False
        self.book = Book()
        self.story: list[str] = []
        self.digest = 0
        self.steps = 0
        self.messages = 0
        self.elections = 0
        self.network = Network(
            Random(f"{plan.seed}/network"),
            delay_ms_max=plan.delay_ms_max,
            loss=plan.loss,
            duplication=plan.duplication,
        )
        founders = voter_set(Voter(key=replica_key(number, 0)) for number in range(plan.voters))
        self.machines = [
            Machine(number, NodeDisk(founders if number < plan.voters else NO_VOTERS), self, drift=drift)
            for number, drift in enumerate(plan.drifts)
        ]
        self.clients = Clients(self, Random(f"{plan.seed}/clients"))
        self.faults = Faults(self, Random(f"{plan.seed}/faults"))
        self._order = Random(f"{plan.seed}/order")
        self._heap: list[tuple[int, float, int, Callable[[], None]]] = []
        self._pushed = 0
        self._disks = {machine.key: machine.disk.durable for machine in self.machines}
        self._state_machines = StateMachinesAgree()
        self._invariants: tuple[Invariant, ...] = (
            ElectionSafety(),
            LeaderAppendOnly(),
            LogMatching(),
            LeaderCompleteness(),
            CommitIsDurable(self._disks),
            CommitMovesForward(),
        )

    def run(self) -> Outcome:
        """Do everything the plan says, then heal the world and demand progress."""
        rule, what = None, ""
        try:
            self._begin()
            self._run_until(self.plan.fault_phase_ms)
            self._heal()
            self._demand_progress()
        except BrokenPromise as broken:
            rule, what = broken.rule, broken.what
        except Exception as error:
            # Whatever it is, a process would have died of it.
            self.tell("".join(format_exception(error)))
            rule, what = NODES_GO_ON, f"{type(error).__name__}: {error}"
        return Outcome(
            seed=self.plan.seed,
            rule=rule,
            what=what,
            steps=self.steps,
            messages=self.messages,
            faults=self.faults.count,
            elections=self.elections,
            committed=self.book.committed_end,
            acknowledged=self.book.acknowledged,
            simulated_ms=self.now,
            digest=self.digest,
        )

    # What the parts of the world can do

    def at(self, when: int, action: Callable[[], None]) -> None:
        """Have something done at a time; what is due at one time is done in a random order."""
        self._pushed += 1
        heappush(self._heap, (when, self._order.random(), self._pushed, action))

    def send(self, message: Message) -> None:
        """Give a message to the network."""
        self.messages += 1
        target = int(message.target.node_id)
        if message.target == NOBODY:
            target = self._order.randrange(len(self.machines))
        machine = self.machines[target]
        event = MessageReceived(message=through_a_frame(message) if self.plan.uses_wire else message)
        for delay in self.network.delays(message.sender.node_id, target):
            self.at(self.now + delay, lambda: machine.step(event))

    def step(self, machine: Machine, event: Event) -> None:
        """Give a node an event."""
        machine.step(event)

    def answered(self, process: Process, answer: Answer) -> None:
        """Tell the clients."""
        self.clients.answered(process, answer)

    def stepped(self, process: Process, event: Event, output: Output) -> None:
        """Check a step, before anything follows from it."""
        self.steps += 1
        self._tell_step(process, event, output)
        process.node.validate()
        if output.number or output.transitions or output.commit_offset is not None:
            step = Step(process=process, event=event, output=output)
            for invariant in self._invariants:
                for what in invariant.check(self.book, step):
                    raise BrokenPromise(invariant.name, what)
        if output.commit_offset is not None:
            self.clients.committed(process, output.commit_offset)
        self.elections += sum(transition.after is Role.LEADER for transition in output.transitions)

    def applied(self, process: Process, entry: Entry) -> None:
        """Check what a state machine was given."""
        self._state_machines.applied(self.book, process, entry)

    def state_loaded(self, process: Process) -> None:
        """Check what a state machine was loaded with."""
        self._state_machines.loaded(self.book, process)

    def disk_replaced(self, machine: Machine, lost: ReplicaKey) -> None:
        """A disk is gone for ever, and another in its place."""
        self.book.lost_disks.add(lost)
        self._disks[machine.key] = machine.disk.durable

    def tell(self, line: str) -> None:
        """Note something in the story."""
        line = f"{self.now:>6} {line}"
        self.digest = zlib.crc32(line.encode(), self.digest)
        if len(self.story) < STORY_LINES_MAX:
            self.story.append(line)

    # The run

    def _begin(self) -> None:
        for machine in self.machines:
            self.at(0, machine.start)
        for event in self.plan.faults:
            self.at(event.at_ms, self._doing(event))
        self.clients.begin()

    def _doing(self, event: FaultEvent) -> Callable[[], None]:
        return lambda: None if self.is_healed else self.faults.do(event)

    def _run_until(self, end: int, *, unless: Callable[[], bool] = lambda: False) -> None:
        while self._heap and self._heap[0][0] <= end and not unless():
            self.now, _, _, action = heappop(self._heap)
            action()
            if self.steps > STEPS_MAX:
                raise BrokenPromise(NODES_GO_ON, f"more than {STEPS_MAX} steps by {self.now} ms")
        self.now = max(self.now, min(end, self._heap[0][0] if self._heap else end))

    def _heal(self) -> None:
        """Take all faults away, but for one node that may stay down."""
        self.tell("the world is healed")
        self.is_healed = True
        self.network.heal()
        for machine in self.machines:
            machine.paused_until = self.now
            machine.slow_until = 0
            machine.crash_point = None
            self.at(self.now, machine.start)
        self._run_until(self.now)
        lost = self.plan.never_healed
        if lost >= 0 and self._has_quorum_without(self.machines[lost]):
            self.machines[lost].crash()
            self.machines[lost].is_broken = True

    def _has_quorum_without(self, missing: Machine | None = None) -> bool:
        """Whether a majority is left of every set of voters that may be in force."""
        present = {machine.key for machine in self.machines if machine is not missing}
        running = [machine.process.node for machine in self.machines if machine.process is not None]
        sets = [voters for node in running for voters in node.log.voters.since(node.commit_offset)]
        return all(not voters.keys or voters.has_majority(present) for voters in sets)

    def _demand_progress(self) -> None:
        """Something new must be committed, and everybody who is up must learn of it.

        Unless a disk was lost while the voters were changed, so that no majority exists any more: who was
        removed then, and who is gone for good, is beyond what can be promised.
        """
        if not self._has_quorum_without():
            self.tell("no majority of the voters exists")
            return
        end = self.now + self.plan.settings.election_timeout_ms * HEALING_TIMEOUTS
        self._run_until(self.now + self.plan.settings.election_timeout_ms * 2)
        goal = self.book.acknowledged_end + 1
        self._run_until(end, unless=lambda: self.book.acknowledged_end >= goal)
        if self.book.acknowledged_end < goal:
            raise BrokenPromise(
                PROGRESS, f"nothing was acknowledged until {self.now} ms: {self._condition()}"
            )
        goal = self.book.acknowledged_end
        self._run_until(end, unless=lambda: self._all_have(goal))
        if not self._all_have(goal):
            raise BrokenPromise(PROGRESS, f"not everybody has offset {goal}: {self._condition()}")

    def _all_have(self, offset: int) -> bool:
        return all(
            machine.process.applied_offset >= offset
            for machine in self.machines
            if machine.process is not None
        )

    def _condition(self) -> str:
        return "; ".join(
            f"node {machine.number} is down"
            if machine.process is None
            else f"node {machine.number} is {machine.process.node.role} in term {machine.process.node.term}, "
            f"applied {machine.process.applied_offset}"
            for machine in self.machines
        )

    def _tell_step(self, process: Process, event: Event, output: Output) -> None:
        number = process.key.node_id
        for transition in output.transitions:
            self.tell(f"node {number}: {transition}")
        if output.truncate_to is not None:
            self.tell(f"node {number} cuts its log at {output.truncate_to}")
        for entry in output.append:
            self.tell(f"node {number} appends {_told(entry)} at {entry.offset}, term {entry.term}")
        if output.commit_offset is not None:
            self.tell(f"node {number} commits up to {output.commit_offset}")


def _told(entry: Entry) -> str:
    return bytes(entry.payload).decode() if len(entry.payload) < BATCH_LENGTH_MIN else str(entry.kind)
