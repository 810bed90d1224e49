"""Several brokers as child processes of one command, which live and end together.

Nothing is ever restarted. Each child leads a session of its own, so that an interrupt typed at the terminal
reaches only the supervisor, which then stops the children one after another, the last started first, each
within a bounded time. A second signal kills them all. Children are only ever reached by their process ids.
"""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.cli.failure import CommandFailed, ExitCode

READY_PREFIX = "penstock ready on "
START_SECONDS_MAX = 60.0
STOP_SECONDS_MAX = 20.0
_CHUNK_BYTES = 64 * 1024
_LINE_BYTES_MAX = 1024 * 1024
"""A longer line of a log is cut in two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A broker to run: its name for people, and what follows ``penstock serve``."""

    name: str
    words: tuple[str, ...]
    #: Where its log goes; standard error, with its name before every line, when there is none.
    log_file: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningNode:
    """A broker that is ready."""

    name: str
    address: str
    pid: int


Stages = Sequence[Sequence[Node]]
"""Brokers in the order of their start: those of one stage at once, once the stage before it is ready."""


TellReady = Callable[[Sequence[RunningNode]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervision:
    """What to run and how."""

    stages: Stages
    #: Told once, when all are ready.
    when_ready: TellReady
    #: Whether the failure of one broker is the end of all. If not, the others go on until the last has ended;
    #: so they do after one that ended well, since it was told to, or was taken out of its cluster.
    is_one_unit: bool
    environment: Mapping[str, str]


def run_nodes(supervision: Supervision) -> int:
    """Run brokers until a signal says stop; the exit code. ``CommandFailed`` when one does not start."""
    return asyncio.run(_Supervisor(supervision).run())


class _Child:
    """One process; ``ready`` has its address, ``ended`` its exit code, when it has come so far."""

    def __init__(self, node: Node, process: Process) -> None:
        loop = asyncio.get_running_loop()
        self.node = node
        self.process = process
        self.ready: asyncio.Future[str] = loop.create_future()
        self.ended = loop.create_task(self._run(), name=f"child {node.name}")

    async def _run(self) -> int:
        async with asyncio.TaskGroup() as readers:
            readers.create_task(self._read_output())
            if self.process.stderr is not None:
                readers.create_task(self._forward(self.process.stderr))
        return await self.process.wait()

    async def _read_output(self) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            text = line.decode(errors="replace").rstrip("\n")
            if text.startswith(READY_PREFIX) and not self.ready.done():
                self.ready.set_result(text.removeprefix(READY_PREFIX))

    async def _forward(self, log: asyncio.StreamReader) -> None:
        pending = b""
        while chunk := await log.read(_CHUNK_BYTES):
            *lines, pending = (pending + chunk).split(b"\n")
            if len(pending) > _LINE_BYTES_MAX:
                lines, pending = [*lines, pending], b""
            self._write(lines)
        if pending:
            self._write([pending])

    def _write(self, lines: Sequence[bytes]) -> None:
        prefix = f"{self.node.name} | ".encode()
        # Whoever read our log may have had enough; the broker goes on, and its log must be read on.
        with suppress(BrokenPipeError):
            sys.stderr.buffer.write(b"".join(prefix + line + b"\n" for line in lines))
            sys.stderr.buffer.flush()

    async def stop(self) -> int:
        """The exit code of a process that was asked to end, or made to when it took too long."""
        self._signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(STOP_SECONDS_MAX):
                return await asyncio.shield(self.ended)
        except TimeoutError:
            _tell(f"{self.node.name} has not stopped within {STOP_SECONDS_MAX:g} s and is killed")
            self.kill()
            return await self.ended

    def kill(self) -> None:
        """End it at once."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        """Tell the process, if it still is one.

        Not by ``send_signal``: that looks first whether the process has ended, and whoever waits for its exit
        code would then wait in vain and make one up. Its id belongs to it until they have had a look.
        """
        if self.process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, number)


class _Supervisor:
    """The children, and how they start and end."""

    def __init__(self, supervision: Supervision) -> None:
        self._supervision = supervision
        self._children: list[_Child] = []

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        self._told_to_stop: asyncio.Future[None] = loop.create_future()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._signalled)
        try:
            for stage in self._supervision.stages:
                await self._start(stage)
            if not self._told_to_stop.done():
                self._supervision.when_ready([await _running(child) for child in self._children])
            code = await self._watch()
        except BaseException:
            await self._stop_all()
            raise
        stop_code = await self._stop_all()
        return code or stop_code

    def _signalled(self) -> None:
        if not self._told_to_stop.done():
            self._told_to_stop.set_result(None)
            return
        for child in self._children:
            child.kill()

    async def _start(self, stage: Sequence[Node]) -> None:
        """Start all of a stage, and wait until they are ready; or until it is time to stop."""
        if self._told_to_stop.done():
            return
        for node in stage:
            self._children.append(_Child(node, await _spawn(node, self._supervision.environment)))
        try:
            async with asyncio.timeout(START_SECONDS_MAX):
                while late := [child.ready for child in self._children if not child.ready.done()]:
                    await self._next_event(*late)
                    if self._told_to_stop.done():
                        return
                    self._check_alive()
        except TimeoutError:
            raise self._too_late() from None

    async def _next_event(self, *others: asyncio.Future[str]) -> None:
        """Until some child ends that had not, a signal says stop, or one of ``others`` is done."""
        ends = [child.ended for child in self._children if not child.ended.done()]
        events: list[asyncio.Future[Any]] = [self._told_to_stop, *ends, *others]
        await asyncio.wait(events, return_when=asyncio.FIRST_COMPLETED)

    def _too_late(self) -> CommandFailed:
        late = next(child.node for child in self._children if not child.ready.done())
        return CommandFailed(
            f"{late.name} was not ready within {START_SECONDS_MAX:g} s.", hint=_look_into(late)
        )

    def _check_alive(self) -> None:
        for child in self._children:
            if child.ended.done():
                when = "while others were starting" if child.ready.done() else "before it was ready"
                raise CommandFailed(
                    f"{child.node.name} ended with code {child.ended.result()} {when}.",
                    hint=_look_into(child.node),
                )

    async def _watch(self) -> int:
        """Until told to stop, or until too few are left; 0 in the first case."""
        while living := [child for child in self._children if not child.ended.done()]:
            await self._next_event()
            if self._told_to_stop.done():
                return ExitCode.OK
            for child in living:
                if child.ended.done():
                    _tell(f"{child.node.name} has ended with code {child.ended.result()}")
                    if self._supervision.is_one_unit and child.ended.result():
                        return _exit_code(child.ended.result())
        _tell("no broker is left")
        has_failed = any(child.ended.result() for child in self._children)
        return ExitCode.FAILED if has_failed else ExitCode.OK

    async def _stop_all(self) -> int:
        """End what still runs, the last started first; the first bad exit code of these."""
        codes = [await child.stop() for child in reversed(self._children) if not child.ended.done()]
        return next((_exit_code(code) for code in codes if code), ExitCode.OK)


async def _spawn(node: Node, environment: Mapping[str, str]) -> Process:
    words = (sys.executable, "-P", "-m", "penstock", "serve", *node.words, "--parent", str(os.getpid()))
    if node.log_file is None:
        return await asyncio.create_subprocess_exec(
            *words, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, env=dict(environment), start_new_session=True
        )
    with node.log_file.open("ab") as log:
        return await asyncio.create_subprocess_exec(
            *words, stdin=DEVNULL, stdout=PIPE, stderr=log, env=dict(environment), start_new_session=True
        )


async def _running(child: _Child) -> RunningNode:
    return RunningNode(name=child.node.name, address=await child.ready, pid=child.process.pid)


def _exit_code(code: int) -> int:
    """One that a process may end with: a child that was killed by a signal has a negative one."""
    return code if code >= 0 else ExitCode.FAILED


def _look_into(node: Node) -> str:
    return "Its log above says why." if node.log_file is None else f"Its log is {node.log_file}."


def _tell(what: str) -> None:
    print(f"penstock: {what}", file=sys.stderr, flush=True)
