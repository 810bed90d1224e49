"""What may be used where: the seams of clock, randomness and threads, and what is not to be used at all.

A ban names what it forbids and the files that are the exception, each of which is such a seam or a program
round the broker. Extending a list of exceptions is a decision; say why in the change.
"""

import ast
from dataclasses import dataclass

import pytest
from tests.meta.source_tree import Module, module_of, modules, references

PROGRAMS = ("bench/", "cli/", "client/", "gateway/", "spark/", "testing/", "wire_client/")
"""Run by people beside a broker, or round it, never inside one; clients run inside people's own programs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ban:
    """Names that may appear only in certain files; a name also bans everything below it."""

    reason: str
    names: tuple[str, ...]
    allowed_in: tuple[str, ...] = ()
    except_names: tuple[str, ...] = ()


BANS = {
    "clock": Ban(
        reason="Time is an argument; only the clock's shell reads it.",
        names=(
            *("time.time", "time.time_ns", "time.monotonic", "time.monotonic_ns"),
            *(
                "time.perf_counter",
                "time.perf_counter_ns",
                "time.process_time",
                "time.localtime",
                "time.ctime",
            ),
            *("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today"),
            "datetime.date.today",
        ),
        allowed_in=(
            "broker/clock.py",
            "sim/storage/reporting.py",
            "sim/cluster/reporting.py",
            "sim/raft/reporting.py",
            *PROGRAMS,
        ),
    ),
    "sleep": Ban(
        reason="Nothing waits by sleeping in a thread; the failing file system does so when ordered to.",
        names=("time.sleep",),
        allowed_in=("storage/faulty_filesystem.py", *PROGRAMS),
    ),
    "randomness": Ban(
        reason="Randomness is injected, so that a seed reproduces everything.",
        names=("random", "uuid.uuid1", "uuid.uuid4", "os.urandom", "os.getrandom", "secrets"),
        except_names=("random.Random",),
        allowed_in=("broker/entropy.py", *PROGRAMS),
    ),
    "threads": Ban(
        reason="Work leaves the loop in one place only; what a process logs must not depend on the loop.",
        names=(
            *("threading.Thread", "threading.Timer", "_thread", "concurrent.futures", "multiprocessing"),
            *("asyncio.to_thread", "subprocess", "os.fork", "os.system", "os.popen", "os.spawnl", "os.execv"),
        ),
        allowed_in=(
            "broker/worker_threads.py",
            "broker/logging/file_writer.py",
            "sim/parallel.py",
            *PROGRAMS,
        ),
    ),
    "tasks": Ban(
        reason="Every task has a name and an owner.",
        names=("asyncio.create_task", "asyncio.ensure_future"),
        allowed_in=("broker/tasks.py", *PROGRAMS),
    ),
    "code": Ban(
        reason="Code comes from source files; only the codec compiler makes its own, from our own tables.",
        names=("builtins.eval", "builtins.exec", "builtins.compile"),
        allowed_in=("wire/codegen.py",),
    ),
    "deserialising": Ban(
        reason="Nothing that was read may choose what is run.",
        names=(
            *("pickle", "cPickle", "marshal", "shelve", "dill", "builtins.__import__", "builtins.breakpoint"),
            *(
                "yaml.load",
                "yaml.load_all",
                "yaml.unsafe_load",
                "yaml.full_load",
                "yaml.Loader",
                "yaml.UnsafeLoader",
            ),
        ),
    ),
    "web": Ban(
        reason="The web is the gateway's: whoever runs a broker or a client needs none of it.",
        names=("fastapi", "starlette", "uvicorn", "pydantic"),
        allowed_in=("gateway/",),
    ),
    "printing": Ban(
        reason="Programs print; the broker logs.",
        names=("builtins.print", "builtins.input"),
        allowed_in=(
            "sim/storage/reporting.py",
            "sim/cluster/reporting.py",
            "sim/raft/reporting.py",
            *PROGRAMS,
        ),
    ),
}


def violations(module: Module, ban: Ban) -> list[str]:
    """Where a module uses what a ban forbids it."""
    if module.name.startswith(ban.allowed_in):
        return []
    return [f"{module.name}:{line} uses {name}" for line, name in references(module) if is_banned(name, ban)]


def is_banned(name: str, ban: Ban) -> bool:
    if any(name == other or name.startswith(f"{other}.") for other in ban.except_names):
        return False
    if any(other.startswith(f"{name}.") for other in ban.except_names):
        return False  # ``import random`` is needed to write ``random.Random``.
    return any(name == banned or name.startswith(f"{banned}.") for banned in ban.names)


@pytest.mark.parametrize("kind", BANS)
def test_banned_names_are_used_only_in_their_seams(kind: str) -> None:
    ban = BANS[kind]
    found = [violation for module in modules() for violation in violations(module, ban)]
    assert not found, f"{ban.reason}\n" + "\n".join(found)


@pytest.mark.parametrize("kind", BANS)
def test_every_exception_is_a_file_that_exists(kind: str) -> None:
    """An exception outlives its file easily, and would then cover another of the same name."""
    names = {module.name for module in modules()}
    for allowed in BANS[kind].allowed_in:
        assert any(name.startswith(allowed) for name in names), f"no file {allowed}"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("import time\nnow = time.time()", "clock"),
        ("from time import monotonic as m\nm()", "clock"),
        ("import datetime as d\nd.datetime.now()", "clock"),
        ("from datetime import datetime\ndatetime.now()", "clock"),
        ("import random\nrandom.choice([1])", "randomness"),
        ("from uuid import uuid4", "randomness"),
        ("import threading\nthreading.Thread()", "threads"),
        ("from concurrent.futures import ThreadPoolExecutor", "threads"),
        ("eval('1')", "code"),
        ("import pickle", "deserialising"),
        ("import yaml\nyaml.load('')", "deserialising"),
        ("print('x')", "printing"),
        ("import asyncio\nasyncio.create_task(x)", "tasks"),
        ("from fastapi import FastAPI", "web"),
    ],
)
def test_linter_sees_what_it_bans(text: str, kind: str) -> None:
    assert violations(module_of(text), BANS[kind])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("import random\nrandom.Random(1).choice([1])", "randomness"),
        ("import re\nre.compile('x')", "code"),
        ("import threading\nthreading.Lock()", "threads"),
        ("def f(time): return time.time()", "clock"),
    ],
)
def test_linter_lets_pass_what_is_allowed(text: str, kind: str) -> None:
    assert not violations(module_of(text), BANS[kind])


def careless_handlers(module: Module) -> list[str]:
    """Bare ``except``, and broad ones that swallow what they caught."""
    found = []
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.ExceptHandler):
            continue
        caught = "" if node.type is None else ast.unparse(node.type)
        is_silent = all(isinstance(line, ast.Pass | ast.Continue) for line in node.body)
        if not caught or (is_silent and caught in ("Exception", "BaseException")):
            found.append(f"{module.name}:{node.lineno} except {caught}")
    return found


def test_no_exception_is_swallowed_unseen() -> None:
    assert not [line for module in modules() for line in careless_handlers(module)]


def test_careless_handlers_are_seen() -> None:
    assert careless_handlers(module_of("try:\n    pass\nexcept:\n    raise"))
    assert careless_handlers(module_of("try:\n    pass\nexcept Exception:\n    pass"))
    assert not careless_handlers(module_of("try:\n    pass\nexcept OSError:\n    pass"))


def test_no_shell_is_ever_asked() -> None:
    found = [
        f"{module.name}:{node.value.lineno}"
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.keyword) and node.arg == "shell" and not _is_false(node.value)
    ]
    assert not found


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False
