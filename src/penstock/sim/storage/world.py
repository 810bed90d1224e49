"""Doing a plan to real storage code on a simulated disk, and keeping book of what it promises.

Time, chance and outages all come from the plan and the seed. Whatever storage raises that it should not is as
much a failure as a broken promise; ``MachineStopped`` alone passes through everything, as a power cut does.
"""

import zlib
from collections.abc import Callable, Iterator
from random import Random
from traceback import format_exception

from penstock.model.errors import DiskFullError, FlushFailedError
from penstock.sim.storage.damaging import damage_file
from penstock.sim.storage.invariants import COMPACTED_INVARIANTS, INVARIANTS
from penstock.sim.storage.machine import PlannedMachine, RunawayError
from penstock.sim.storage.model import PartitionModel, Pass
from penstock.sim.storage.observation import Observation
from penstock.sim.storage.observing import observe
from penstock.sim.storage.outcome import BrokenPromise, Outcome
from penstock.sim.storage.plan import (
    Append,
    Checkpoint,
    Compact,
    DeleteRecords,
    Expire,
    FillDisk,
    Flush,
    FreeDisk,
    Life,
    Look,
    NewLeader,
    Outage,
    Restart,
    Step,
    Stop,
    StoragePlan,
    Tick,
    Truncate,
)
from penstock.sim.storage.shell import DATA_DIRECTORY, Shell
from penstock.sim.storage.workload import Workload
from penstock.storage.memory_filesystem import CAPACITY_BYTES_DEFAULT, MemoryFileSystem
from penstock.storage.memory_machine import MachineStopped

FIRST_TIME_MS = 1_700_000_000_000
STORY_LINES_MAX = 5000
LOOKS_PER_PASS_MAX = 6
EXPECTED_ERRORS = (DiskFullError,)


class StorageWorld:
    """One run of one plan."""

    def __init__(self, plan: StoragePlan) -> None:
        self.plan = plan
        self.disk = MemoryFileSystem(Random(f"{plan.seed}/disk"))
        self.machine = PlannedMachine(Random(f"{plan.seed}/machine"))
        self.disk.machine = self.machine
        self.models = [
            PartitionModel(number, delete_retention_ms=plan.settings.delete_retention_ms)
            for number in range(plan.settings.partitions)
        ]
        self._invariants = COMPACTED_INVARIANTS if plan.settings.keys else INVARIANTS
        self.story: list[str] = []
        self.starts = 0
        self.digest = 0
        self.now = FIRST_TIME_MS
        self._workload = Workload(Random(f"{plan.seed}/workload"), keys=plan.settings.keys)
        self._shell: Shell | None = None

    def run(self) -> Outcome:
        """Do everything the plan says."""
        rule, what = None, ""
        try:
            for number, life in enumerate(self.plan.lives):
                self._tell(f"life {number}")
                self._live(life)
            self._tell("the last start")
            self._start_and_look()
        except BrokenPromise as broken:
            rule, what = broken.rule, broken.what
        except RunawayError as error:
            self._tell("".join(format_exception(error)))
            rule, what = "storage comes to an end", str(error)
        return Outcome(
            seed=self.plan.seed,
            rule=rule,
            what=what,
            operations=self.disk.operation_count,
            starts=self.starts,
            faults=self.plan.fault_count,
            digest=self.digest,
        )

    def _live(self, life: Life) -> None:
        for stop in life.start_stops:
            self._start_interrupted(stop)
        seen = self._start_and_look()
        if life.repeat is not None:
            self._end(life.repeat, "right after the start")
            self._compare(seen, self._start_and_look())
        self._resend()
        self._end(self._work(life), "the end of this life")
        if life.damage is not None:
            done = damage_file(self.disk, DATA_DIRECTORY, life.damage, self.models)
            self._tell(done or "nothing to damage")

    def _work(self, life: Life) -> Outage:
        """Do a life's steps; answers how it ended."""
        self.machine.arrange(life.stop)
        if life.flush_failure is not None:
            self.disk.fail_flush(life.flush_failure.path_part, after=life.flush_failure.after)
        try:
            for step in life.steps:
                self._do_guarded(step)
            if life.closes:
                self._guard("close", self._close)
        except MachineStopped as stopped:
            self._tell(str(stopped))
            return life.stop.outage if life.stop else life.outage
        except FlushFailedError as error:
            self._tell(f"the process gives up: {error}")
        return life.outage

    def _do_guarded(self, step: Step) -> None:
        self._tell(str(step))
        self._guard(type(step).__name__, lambda: self._do(step))

    def _guard(self, name: str, action: Callable[[], None]) -> None:
        """Let pass what may happen to a process on a bad disk, and nothing else."""
        try:
            action()
        except (FlushFailedError, BrokenPromise):
            raise
        except DiskFullError as error:
            self._tell(f"no room: {error}")
            if self.disk.capacity_bytes == CAPACITY_BYTES_DEFAULT:
                raise BrokenPromise("storage does its work", f"{name}: {error}") from error
        except Exception as error:
            # Whatever it is, a broker would have died of it.
            self._tell("".join(format_exception(error)))
            raise BrokenPromise(
                "storage does its work", f"{name}: {type(error).__name__}: {error}"
            ) from error

    def _do(self, step: Step) -> None:
        shell = self._running()
        match step:
            case Append(partition=partition):
                if self._is_sound(partition):
                    log = shell.logs[partition]
                    self._workload.append(step, self.models[partition], log, self.now)
            case Flush():
                self._flush(shell)
            case DeleteRecords(partition=partition, portion=portion):
                self._delete_records(shell, partition, portion)
            case Truncate() | Restart():
                self._cut(shell, step)
            case Compact(partition=partition, map_bytes=map_bytes, is_watched=is_watched):
                self._compact(shell, partition, map_bytes, is_watched=is_watched)
            case NewLeader(partition=partition):
                self.models[partition].leader_epoch += 1
            case Look():
                self._look()
            case FillDisk(room_bytes=room_bytes):
                self.disk.capacity_bytes = self.disk.used_bytes + room_bytes
            case FreeDisk():
                self.disk.capacity_bytes = CAPACITY_BYTES_DEFAULT
            case Tick() | Expire() | Checkpoint():
                self._do_chore(shell, step)

    def _do_chore(self, shell: Shell, step: Tick | Expire | Checkpoint) -> None:
        """What a broker does by itself, and what is durable afterwards."""
        match step:
            case Tick(milliseconds=milliseconds):
                self.now += milliseconds
                shell.tick(self.now)
                for model in self.models:
                    model.sealed_end = max(model.sealed_end, model.flushed_end)
            case Expire():
                shell.expire(self.now)
                self._note_log_starts(shell, are_kept=True)
            case Checkpoint():
                shell.checkpoint()
                self._note_log_starts(shell, are_kept=True)
                self._note_recovery_points(shell)

    def _flush(self, shell: Shell) -> None:
        """One round; logs that found no room are set back, and what they had gathered was never promised."""
        for partition, is_flushed in shell.flush_round():
            model, log = self.models[partition], shell.logs[partition]
            if is_flushed:
                model.acknowledge(log.flushed_offset)
                model.flushed_end = log.flushed_offset
                continue
            self._tell(f"partition {partition} is set back to {log.flushed_offset}")
            shell.rewind(partition)
            model.finish_cut(log.flushed_offset)

    def _delete_records(self, shell: Shell, partition: int, portion: float) -> None:
        model, log = self.models[partition], shell.logs[partition]
        offset = log.log_start_offset + int((log.flushed_offset - log.log_start_offset) * portion)
        if self._is_sound(partition):
            model.log_start = max(model.log_start, offset)
            shell.delete_records(partition, offset)
            model.kept_log_start = max(model.kept_log_start, offset)

    def _cut(self, shell: Shell, step: Truncate | Restart) -> None:
        is_full = self.disk.capacity_bytes < CAPACITY_BYTES_DEFAULT
        if is_full or not self._is_sound(step.partition):
            return
        if isinstance(step, Truncate):
            self._truncate(shell, step.partition, step.portion)
        else:
            self._restart(shell, step.partition, step.portion)

    def _truncate(self, shell: Shell, partition: int, portion: float) -> None:
        model, log = self.models[partition], shell.logs[partition]
        borders = [entry.base_offset for entry in model.entries if entry.base_offset >= log.log_start_offset]
        if not borders:
            return
        offset = borders[int(portion * len(borders))]
        self._tell(f"partition {partition} is cut at {offset}")
        model.begin_cut(offset)
        shell.truncate(partition, offset)
        model.finish_cut(offset)
        model.forget_producers_sends()

    def _restart(self, shell: Shell, partition: int, portion: float) -> None:
        model, log = self.models[partition], shell.logs[partition]
        borders = [entry.base_offset for entry in model.entries]
        behind = [log.log_end_offset + distance for distance in (0, 1, 100)]
        offsets = borders + behind * max(1, len(borders) // len(behind))
        offset = offsets[int(portion * len(offsets))]
        self._tell(f"partition {partition} begins anew at {offset}")
        model.begin_restart(offset)
        shell.restart(partition, offset)
        model.finish_restart(offset)
        model.forget_producers_sends()

    def _compact(self, shell: Shell, partition: int, map_bytes: int, *, is_watched: bool) -> None:
        model, log = self.models[partition], shell.logs[partition]
        part = log.cleanable_part(self.now, log.flushed_offset)
        if part.dirty_bytes == 0 or log.refusal is not None:
            return
        self._tell(f"partition {partition} is compacted up to {part.end_offset}")
        model.passes.append(Pass(part.end_offset, self.now))
        looks = iter(range(LOOKS_PER_PASS_MAX if is_watched else 0))
        shell.compact(partition, map_bytes, lambda: self._look_between(looks))

    def _look_between(self, looks: Iterator[int]) -> None:
        if next(looks, None) is not None:
            self._look()

    def _close(self) -> None:
        shell = self._running()
        shell.close()
        for model, log in zip(self.models, shell.logs, strict=True):
            model.acknowledge(log.flushed_offset)
        self._note_log_starts(shell, are_kept=True)
        self._note_recovery_points(shell)

    def _start_interrupted(self, stop: Stop) -> None:
        self.machine.arrange(stop)
        try:
            self._start()
        except MachineStopped as stopped:
            self._tell(f"in the start: {stopped}")
        self._end(stop.outage, "in the start")
        for model in self.models:
            model.start_was_interrupted = True

    def _start_and_look(self) -> list[Observation]:
        self._start()
        seen = self._look()
        for model, observation in zip(self.models, seen, strict=True):
            if not observation.reports_damage:
                model.adopt(observation.log_start, observation.log_end)
            self._tell(
                f"partition {model.number}: {observation.log_start} to {observation.log_end}"
                + (f", offline: {observation.offline_reason}" if observation.offline_reason else "")
                + (f", refused: {observation.refusals}" if observation.refusals else "")
            )
        return seen

    def _start(self) -> None:
        self.starts += 1
        self.disk.capacity_bytes = CAPACITY_BYTES_DEFAULT
        self._guard("start", self._open)

    def _open(self) -> None:
        self._shell = Shell.start(self.disk, self.plan.settings, now=self.now)

    def _look(self) -> list[Observation]:
        seen: list[Observation] = []
        self._guard("look", lambda: seen.extend(self._observe()))
        for model, observation in zip(self.models, seen, strict=True):
            for invariant in self._invariants:
                for what in invariant.check(model, observation):
                    raise BrokenPromise(invariant.name, f"partition {model.number}: {what}")
        return seen

    def _observe(self) -> list[Observation]:
        logs = self._running().logs
        return [observe(log, model) for log, model in zip(logs, self.models, strict=True)]

    def _compare(self, first: list[Observation], second: list[Observation]) -> None:
        """The same log, though its start may be lower: that it was moved up need not be durable yet."""
        for one, other in zip(first, second, strict=True):
            if self.models[one.partition].damages:
                continue
            same = other.batches[len(other.batches) - len(one.batches) :]
            if (one.log_end, one.batches) != (other.log_end, same):
                raise BrokenPromise(
                    "a start repeated has the same outcome",
                    f"partition {one.partition}: first {one.log_start} to {one.log_end}, "
                    f"then {other.log_start} to {other.log_end}",
                )

    def _resend(self) -> None:
        shell = self._running()
        for model, log in zip(self.models, shell.logs, strict=True):
            if self._is_sound(model.number):
                self._workload.resend(model, log, self.now)

    def _end(self, outage: Outage, where: str) -> None:
        """The process is gone, and maybe the machine with it."""
        self._tell(f"{where}: {outage} outage")
        if self._shell is not None:
            self._note_log_starts(self._shell, are_kept=False)
        for model in self.models:
            model.flushed_end = 0
        self._shell = None
        self.machine.arrange(None)
        if outage is Outage.POWER:
            self.disk.power_loss()
        else:
            self.disk.crash()

    def _note_log_starts(self, shell: Shell, *, are_kept: bool) -> None:
        for model, log in zip(self.models, shell.logs, strict=True):
            if model.restarts_at is not None:
                continue  # Nobody knows yet whether the files say so too.
            model.log_start = max(model.log_start, log.log_start_offset)
            if are_kept:
                model.kept_log_start = max(model.kept_log_start, log.log_start_offset)

    def _note_recovery_points(self, shell: Shell) -> None:
        for model, log in zip(self.models, shell.logs, strict=True):
            model.sealed_end = max(model.sealed_end, log.recovery_point)

    def _is_sound(self, partition: int) -> bool:
        """Whether clients go on using a partition; a rotten one waits for its operator."""
        return not self.models[partition].damages

    def _running(self) -> Shell:
        assert self._shell is not None
        return self._shell

    def _tell(self, line: str) -> None:
        self.digest = zlib.crc32(line.encode(), self.digest)
        if len(self.story) < STORY_LINES_MAX:
            self.story.append(line)
