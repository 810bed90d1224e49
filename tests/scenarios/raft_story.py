"""Tells stories of a Raft cluster: reads commands, plays them, and writes down what every node does.

A story is a text of blocks, separated by empty lines. A block of lines that begin with ``#`` is prose. Any
other is some commands, a line ``----``, and what follows from them. Messages travel at once and in order,
disks flush at once, and no timer runs, unless a command says otherwise. Every step is compared with the rules
of the simulator; a broken one ends the story.

Commands:

    voters 1 2 3 [observers 4]      begin a cluster
    log 1: 1 1 2 [in term 3]        what node 1 has on disk before that, by terms, and its own term
    timeout 1                       nothing was heard for long, and the election timer of node 1 runs out
    timeout 1 2                     both at once: what they send crosses
    tick 1                          its timer runs out, whatever it is (a leader's: heartbeats)
    later 500ms                     time passes, and nobody notices yet
    wait 2s                         time passes, and all timers run
    propose 1 x y                   node 1 is asked to append entries x and y
    read 1                          node 1 is asked what is committed by now
    cut 1 > 2 3                     what node 1 sends to 2 and 3 is lost
    cut 1 | 2 3                     nor does it hear them
    mend                            no cuts any more
    hold 1 > 2                      what node 1 sends to 2 waits
    release 1 > 2                   it arrives; what comes after it waits again
    double 1 > 2                    the same, and everything twice
    lose 1 > 2                      it is lost; what comes after it waits again
    flow 1 > 2                      it arrives, and nothing waits any more
    repeat 1 > 2                    everything that 1 ever sent to 2 arrives once more
    stall 1                         the disk of node 1 writes and does not come to an end
    flush 1                         it does now, and from now on
    crash 1 [and its disk]          what was not flushed is gone
    start 1
    add 4, remove 3                 by whoever leads
    transfer 1 > 2
    snapshot 1                      its log up to the commit becomes a snapshot
    show                            every node's log, by terms: what is committed, a bar, and the rest
"""

import re
from collections import defaultdict, deque
from collections.abc import Callable
from random import Random

from penstock.model.errors import PenstockError
from penstock.model.ids import Millis
from penstock.raft.entry import Entry, SnapshotId
from penstock.raft.events import (
    AddVoterRequested,
    Event,
    MessageReceived,
    NewBatch,
    Proposed,
    ReadRequested,
    RemoveVoterRequested,
    SnapshotTaken,
    TimePassed,
    TransferRequested,
)
from penstock.raft.hard_state import HardState
from penstock.raft.messages import Message
from penstock.raft.output import Accepted, Answer, HandedOver, Output, ReadReady, Refused
from penstock.raft.replica import NOBODY, ReplicaKey, Voter
from penstock.raft.settings import RaftSettings
from penstock.raft.transition import Role
from penstock.raft.voters import NO_VOTERS, VoterSet, voter_set
from penstock.sim.raft import machine as machines
from penstock.sim.raft.book import Book
from penstock.sim.raft.disk import Files, NodeDisk, Snapshot
from penstock.sim.raft.invariants import Step
from penstock.sim.raft.invariants.commit_is_durable import CommitIsDurable
from penstock.sim.raft.invariants.commit_moves_forward import CommitMovesForward
from penstock.sim.raft.invariants.election_safety import ElectionSafety
from penstock.sim.raft.invariants.leader_append_only import LeaderAppendOnly
from penstock.sim.raft.invariants.leader_completeness import LeaderCompleteness
from penstock.sim.raft.invariants.log_matching import LogMatching
from penstock.sim.raft.invariants.state_machines_agree import StateMachinesAgree
from penstock.sim.raft.outcome import BrokenPromise
from penstock.sim.raft.process import Process

SEPARATOR = "----"
SETTINGS = RaftSettings(
    election_timeout_ms=1_000, heartbeat_interval_ms=150, append_entries_max=1, snapshot_chunk_bytes=15
)
ACTIONS_MAX = 100_000


def retell(text: str) -> str:
    """The same story with what really follows from its commands."""
    story = RaftStory()
    return "\n\n".join(_retell_block(story, block) for block in text.strip().split("\n\n")) + "\n"


def _retell_block(story: "RaftStory", block: str) -> str:
    if block.startswith("#"):
        return block
    commands = block.split(SEPARATOR)[0].strip()
    for command in commands.splitlines():
        story.play(command)
    return "\n".join([commands, SEPARATOR, *story.heard()])


class Stage:
    """Where one node stands: its disk, its process, and what that may do (``process.Surroundings``)."""

    def __init__(self, story: "RaftStory", number: int, disk: NodeDisk) -> None:
        self.story = story
        self.number = number
        self.disk = disk
        self.wipes = 0
        self.lives = 0
        self.key = machines.replica_key(number, 0)
        self.process: Process | None = None
        self.is_stalled = False

    def start(self) -> None:
        self.lives += 1
        self.process = Process(
            key=self.key,
            settings=SETTINGS,
            disk=self.disk,
            surroundings=self,
            rng=Random(f"node {self.number} life {self.lives}"),
            flush_draw=Random(0),
            clock=lambda: self.story.now,
            uses_batches=False,
        )
        self.process.flush_ms_max = 0

    def crash(self) -> None:
        process, self.process = self.process, None
        assert process is not None
        process.is_alive = False
        self.disk.pending.clear()
        self.disk.files = self.disk.durable.copy()
        self.is_stalled = False

    def wipe(self) -> None:
        self.story.book.lost_disks.add(self.key)
        del self.story.disks[self.key]
        self.wipes += 1
        self.key = machines.replica_key(self.number, self.wipes)
        self.disk = NodeDisk(NO_VOTERS)
        self.story.disks[self.key] = self.disk.durable

    def later(self, delay_ms: int, action: Callable[[], None]) -> None:
        self.story.actions.append(action)

    def send(self, message: Message) -> None:
        self.story.send(message)

    def answered(self, process: Process, answer: Answer) -> None:
        self.story.tell(f"{self.number} answers {told_answer(answer)}")
        if isinstance(answer, ReadReady) and answer.offset < self.story.reads[answer.token]:
            expected = self.story.reads[answer.token]
            raise BrokenPromise("reads see what was acknowledged", f"{answer.offset} is before {expected}")

    def stepped(self, process: Process, event: Event, output: Output) -> None:
        self.story.stepped(self, process, event, output)

    def applied(self, process: Process, entry: Entry) -> None:
        self.story.state_machines.applied(self.story.book, process, entry)

    def state_loaded(self, process: Process) -> None:
        self.story.tell(f"{self.number} installs a snapshot of everything below {process.applied_offset}")
        self.story.state_machines.loaded(self.story.book, process)

    def flush_begins(self, process: Process) -> bool:
        return not self.is_stalled

    def flush_ends(self, process: Process) -> bool:
        return True

    def messages_left(self, process: Process) -> bool:
        return True


class RaftStory:
    """One cluster, and what it has done since the last time it was asked."""

    def __init__(self) -> None:
        self.now = Millis(0)
        self.stages: dict[int, Stage] = {}
        self.actions: deque[Callable[[], None]] = deque()
        self.book = Book()
        self.disks: dict[ReplicaKey, Files] = {}
        self.state_machines = StateMachinesAgree()
        self.invariants = (
            ElectionSafety(),
            LeaderAppendOnly(),
            LogMatching(),
            LeaderCompleteness(),
            CommitIsDurable(self.disks),
            CommitMovesForward(),
        )
        self.reads: dict[int, int] = {}
        self.is_over = False
        self._lines: list[str] = []
        self._cuts: set[tuple[int, int]] = set()
        self._held: dict[tuple[int, int], list[Message]] = {}
        self._sent: dict[tuple[int, int], list[Message]] = defaultdict(list)
        self._logs: dict[int, list[int]] = defaultdict(list)
        self._terms: dict[int, int] = defaultdict(int)
        self._token = 0

    def play(self, command: str) -> None:
        """Do one command, and everything that follows at once."""
        if self.is_over:
            return
        name, *words = command.split()
        try:
            getattr(self, f"_do_{name}")(*words)
            self._run()
        except (BrokenPromise, PenstockError) as error:
            self.tell(f"BROKEN: {error}")
            self.is_over = True

    def heard(self) -> list[str]:
        """What was told since the last time."""
        lines, self._lines = self._lines, []
        return lines

    def tell(self, line: str) -> None:
        self._lines.append(line)

    def send(self, message: Message) -> None:
        """Put a message on its way, if there is one."""
        sender = int(message.sender.node_id)
        way = (sender, self._anybody_but(sender) if message.target == NOBODY else int(message.target.node_id))
        self._sent[way].append(message)
        if way in self._held:
            self._held[way].append(message)
        elif way not in self._cuts:
            self.actions.append(lambda: self._step(way[1], MessageReceived(message=message)))

    def stepped(self, stage: Stage, process: Process, event: Event, output: Output) -> None:
        """Tell a step, and check it."""
        number = stage.number
        for transition in output.transitions:
            self.tell(f"{number} is {transition.after} of term {transition.term}: {transition.cause}")
        if output.truncate_to is not None:
            self.tell(f"{number} cuts its log at {output.truncate_to}")
        for entry in output.append:
            name = bytes(entry.payload).decode()
            self.tell(f"{number} appends {name!r} of term {entry.term} at {entry.offset}")
        if output.commit_offset is not None:
            self.tell(f"{number} commits everything below {output.commit_offset}")
        step = Step(process=process, event=event, output=output)
        for invariant in self.invariants:
            for what in invariant.check(self.book, step):
                raise BrokenPromise(invariant.name, what)
        process.node.validate()
        if process.node.role is Role.LEADER and output.commit_offset is not None:
            self.book.acknowledged_end = max(self.book.acknowledged_end, output.commit_offset)

    def _run(self) -> None:
        for _ in range(ACTIONS_MAX):
            if not self.actions:
                return
            self.actions.popleft()()
        raise BrokenPromise("nodes do their work", "they do not come to rest")

    def _anybody_but(self, number: int) -> int:
        """The first who is up."""
        up = [stage.number for stage in self.stages.values() if stage.process is not None]
        return next(other for other in up if other != number)

    def _step(self, number: int, event: Event) -> None:
        process = self.stages[number].process
        if process is not None:
            process.step(event)

    # Commands

    def _do_log(self, number: str, *words: str) -> None:
        at = words.index("in") if "in" in words else len(words)
        terms = [int(term) for term in words[:at]]
        self._logs[int(number.rstrip(":"))] = terms
        self._terms[int(number.rstrip(":"))] = int(words[-1]) if at < len(words) else terms[-1]

    def _do_voters(self, *words: str) -> None:
        at = words.index("observers") if "observers" in words else len(words)
        numbers, observers = [int(word) for word in words[:at]], [int(word) for word in words[at + 1 :]]
        founders = voter_set(Voter(key=machines.replica_key(number, 0)) for number in numbers)
        for number in numbers + observers:
            disk = NodeDisk(founders if number in numbers else NO_VOTERS)
            self._fill(disk, self._logs[number], self._terms[number])
            stage = self.stages[number] = Stage(self, number, disk)
            self.disks[stage.key] = disk.durable
            stage.start()

    def _fill(self, disk: NodeDisk, terms: list[int], current: int) -> None:
        """Give a disk a log; entries of the same place and term are the same everywhere."""
        previous = 0
        for offset, term in enumerate(terms):
            payload = f"t{term}.{offset}".encode()
            entry = Entry(offset=offset, end_offset=offset + 1, term=term, payload=payload)
            self.book.written.setdefault((offset, term), (entry, previous))
            previous = term
            for files in (disk.files, disk.durable):
                files.entries.append(entry)
        disk.files.hard_state = disk.durable.hard_state = HardState(term=current)

    def _do_timeout(self, *numbers: str) -> None:
        self.now = Millis(self.now + SETTINGS.election_timeout_ms * 2)
        for number in numbers:
            self._step(int(number), TimePassed())

    def _do_tick(self, number: str) -> None:
        process = self.stages[int(number)].process
        assert process is not None
        self.now = max(self.now, process.node.next_deadline())
        self._step(int(number), TimePassed())

    def _do_later(self, duration: str) -> None:
        self.now = Millis(self.now + milliseconds(duration))

    def _do_wait(self, duration: str) -> None:
        end = self.now + milliseconds(duration)
        while True:
            due = [
                (stage.process.node.next_deadline(), stage.number)
                for stage in self.stages.values()
                if stage.process is not None
            ]
            when, number = min(due)
            if when > end:
                break
            self.now = max(self.now, when)
            self._step(number, TimePassed())
            self._run()
        self.now = Millis(end)

    def _do_propose(self, number: str, *names: str) -> None:
        batches = tuple(NewBatch(payload=name.encode()) for name in names)
        self._step(int(number), Proposed(token=self._next_token(), batches=batches))

    def _do_read(self, number: str) -> None:
        token = self._next_token()
        self.reads[token] = self.book.acknowledged_end
        self._step(int(number), ReadRequested(token=token))

    def _do_cut(self, *words: str) -> None:
        self._cuts.update(self._ways(words))

    def _do_mend(self) -> None:
        self._cuts.clear()

    def _do_hold(self, *words: str) -> None:
        for way in self._ways(words):
            self._held.setdefault(way, [])

    def _do_release(self, *words: str) -> None:
        for way in self._ways(words):
            waiting, self._held[way] = self._held[way], []
            for message in waiting:
                self._step(way[1], MessageReceived(message=message))

    def _do_double(self, *words: str) -> None:
        for way in self._ways(words):
            self._held[way] = [message for message in self._held[way] for _ in range(2)]
        self._do_release(*words)

    def _do_lose(self, *words: str) -> None:
        for way in self._ways(words):
            self._held[way] = []

    def _do_flow(self, *words: str) -> None:
        for way in self._ways(words):
            for message in self._held.pop(way):
                self._step(way[1], MessageReceived(message=message))

    def _do_repeat(self, *words: str) -> None:
        for way in self._ways(words):
            for message in tuple(self._sent[way]):
                self._step(way[1], MessageReceived(message=message))

    def _do_stall(self, number: str) -> None:
        self.stages[int(number)].is_stalled = True

    def _do_flush(self, number: str) -> None:
        stage = self.stages[int(number)]
        stage.is_stalled = False
        assert stage.process is not None
        stage.process._flush_if_needed()

    def _do_crash(self, number: str, *words: str) -> None:
        stage = self.stages[int(number)]
        stage.crash()
        if words == ("and", "its", "disk"):
            stage.wipe()

    def _do_start(self, number: str) -> None:
        self.stages[int(number)].start()

    def _do_add(self, number: str) -> None:
        voter = Voter(key=self.stages[int(number)].key)
        self._step(self._leader(), AddVoterRequested(token=self._next_token(), voter=voter))

    def _do_remove(self, number: str) -> None:
        leader = self._leader()
        process = self.stages[leader].process
        assert process is not None
        voter = process.node.voters.of_node(int(number))
        key = self.stages[int(number)].key if voter is None else voter.key
        self._step(leader, RemoveVoterRequested(token=self._next_token(), key=key))

    def _do_transfer(self, number: str, _: str, target: str) -> None:
        event = TransferRequested(token=self._next_token(), target=self.stages[int(target)].key)
        self._step(int(number), event)

    def _do_snapshot(self, number: str) -> None:
        stage = self.stages[int(number)]
        process = stage.process
        assert process is not None
        offset = process.node.commit_offset
        term = stage.disk.files.term_before(offset)
        assert term is not None
        snapshot = Snapshot(
            snapshot_id=SnapshotId(offset, term),
            voters=process.node.log.voters.at(offset),
            content=process._content(),
        )
        stage.disk.replace_snapshot(snapshot)
        stage.disk.drop_log_before(offset)
        self._step(int(number), SnapshotTaken(snapshot_id=snapshot.snapshot_id, log_start_offset=offset))

    def _do_show(self) -> None:
        for stage in self.stages.values():
            self.tell(self._shown(stage))

    def _shown(self, stage: Stage) -> str:
        process = stage.process
        if process is None:
            return f"{stage.number} is down"
        node = process.node
        before = [str(entry.term) for entry in stage.disk.files.entries if entry.offset < node.commit_offset]
        behind = [str(entry.term) for entry in stage.disk.files.entries if entry.offset >= node.commit_offset]
        start = f"from {node.log.start_offset}: " if node.log.start_offset else ""
        log = " ".join([*before, "|", *behind])
        return f"{stage.number}: {start}{log}  ({node.role}, term {node.term}, {told_voters(node.voters)})"

    def _ways(self, words: tuple[str, ...]) -> list[tuple[int, int]]:
        sign = ">" if ">" in words else "|"
        at = words.index(sign)
        senders, targets = [int(word) for word in words[:at]], [int(word) for word in words[at + 1 :]]
        ways = [(sender, target) for sender in senders for target in targets]
        return ways if sign == ">" else [*ways, *((b, a) for a, b in ways)]

    def _leader(self) -> int:
        """Whoever leads in the latest term."""
        leaders = [
            (stage.process.node.term, stage.number)
            for stage in self.stages.values()
            if stage.process is not None and stage.process.node.role is Role.LEADER
        ]
        return max(leaders)[1]

    def _next_token(self) -> int:
        self._token += 1
        return self._token


def milliseconds(text: str) -> int:
    """A duration as people write it."""
    number, unit = re.fullmatch(r"(\d+)(ms|s)", text).groups()  # type: ignore[union-attr]  # A bad story fails.
    return int(number) * (1_000 if unit == "s" else 1)


def told_voters(voters: VoterSet) -> str:
    """Who votes."""
    return "voters " + (" ".join(str(key.node_id) for key in voters.keys) or "unknown")


def told_answer(answer: Answer) -> str:
    """What a client hears."""
    match answer:
        case Accepted():
            return f"accepted at {answer.offset} in term {answer.term}"
        case Refused():
            return f"no, {answer.reason}" + (f"; ask {answer.leader.node_id}" if answer.leader else "")
        case ReadReady():
            return f"read everything below {answer.offset}"
        case HandedOver():
            return f"{answer.target.node_id} was told to stand"
