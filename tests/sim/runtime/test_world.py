"""Time, turns, life and death in a simulated world."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from penstock.sim.runtime import world as world_module
from penstock.sim.runtime.loop import new_loop
from penstock.sim.runtime.world import World


def test_time_jumps_to_the_next_timer_without_waiting() -> None:
    world = World(1)
    loop = new_loop(world, "a")
    seen: list[float] = []
    loop.call_later(3600.0, lambda: seen.append(world.now))
    world.run_until(7200.0)
    assert seen == [pytest.approx(3600.0)]
    assert world.now == 7200.0


def test_callbacks_of_one_process_keep_their_order() -> None:
    world = World(1)
    loop = new_loop(world, "a")
    seen: list[int] = []
    for number in range(20):
        loop.call_soon(seen.append, number)
    world.run_until(1.0)
    assert seen == list(range(20))


def turns(seed: int) -> str:
    world = World(seed)
    seen: list[str] = []
    for name in "abc":
        loop = new_loop(world, name)
        for _ in range(5):
            loop.call_later(1.0, seen.append, name)
    world.run_until(2.0)
    return "".join(seen)


def test_turns_between_processes_follow_from_the_seed_and_nothing_else() -> None:
    assert turns(1) == turns(1)
    assert len({turns(seed) for seed in range(10)}) > 1


def test_killed_process_never_runs_a_finally_block() -> None:
    world = World(1)
    loop = new_loop(world, "a")
    seen: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(10)
        finally:
            seen.append("finally")

    loop.create_task(work())
    world.run_until(1.0)
    loop.kill()
    world.run_until(20.0)
    assert seen == []
    world.close()
    assert seen == ["finally"]  # only when the run is over, and nothing matters any more


def test_paused_process_finds_everything_due_when_it_goes_on() -> None:
    world = World(1)
    loop = new_loop(world, "a")
    seen: list[float] = []
    for second in (1.0, 2.0, 3.0):
        loop.call_later(second, lambda: seen.append(world.now))
    loop.pause()
    world.run_until(10.0)
    assert seen == []
    loop.resume()
    world.run_until(11.0)
    assert seen == [10.0, 10.0, 10.0]


def test_clocks_drift_and_timers_never_fire_early() -> None:
    world = World(1)
    loop = new_loop(world, "a", drift=1.03)
    fired: list[float] = []
    due = loop.time() + 5.0
    loop.call_at(due, lambda: fired.append(loop.time()))
    world.run_until(10.0)
    assert fired[0] >= due
    assert loop.time() == pytest.approx(10.3)


def test_callback_that_raises_ends_the_run() -> None:
    world = World(1)
    loop = new_loop(world, "a")
    loop.call_soon(lambda: 1 / 0)
    world.run_until(1.0)
    assert world.is_over
    assert "ZeroDivisionError" in world.accidents[0]


def test_event_of_the_world_that_raises_ends_the_run_too() -> None:
    world = World(1)
    world.at(0.5, new_loop(world, "a"), lambda: 1 / 0)
    world.run_until(1.0)
    assert "ZeroDivisionError" in world.accidents[0]


def test_task_that_failed_unnoticed_is_found_by_sweeping() -> None:
    world = World(1)
    loop = new_loop(world, "a")

    async def fail() -> None:
        raise ValueError("unnoticed")

    loop.create_task(fail(), name="a task")
    world.run_until(1.0)
    assert not world.accidents
    world.sweep()
    assert "a task" in world.accidents[0]


def test_process_that_spins_at_one_moment_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world_module, "STEPS_MAX", 1000)
    world = World(1)
    loop = new_loop(world, "a")

    def spin() -> None:
        loop.call_soon(spin)

    loop.call_soon(spin)
    world.run_until(1.0)
    assert "does not come to an end" in world.accidents[0]


def test_cancelled_timers_and_events_do_not_happen() -> None:
    world = World(1)
    loop = new_loop(world, "a")
    seen: list[str] = []
    loop.call_later(1.0, seen.append, "timer").cancel()
    world.at(1.0, loop, seen.append, "event").cancel()
    world.run_until(2.0)
    assert seen == []


def cancelled_order(seed: int) -> list[int]:
    """The order in which a task group cancels its children, which it keeps in a set."""
    world = World(seed)
    loop = new_loop(world, "a")
    seen: list[int] = []

    async def child(number: int) -> None:
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            seen.append(number)
            raise

    async def parent() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(30):
                group.create_task(child(number))
            await asyncio.sleep(1)
            raise ValueError("stop")

    task = loop.create_task(parent())
    world.run_until(5.0)
    assert isinstance(task.exception(), ExceptionGroup)
    return seen


def test_sets_of_tasks_are_walked_in_the_same_order_every_time() -> None:
    assert len({tuple(cancelled_order(1)) for _ in range(5)}) == 1


def test_process_without_a_network_cannot_connect() -> None:
    world = World(1)
    loop = new_loop(world, "a")
    task = loop.create_task(loop.create_connection(asyncio.Protocol, "b", 1))
    world.run_until(1.0)
    assert isinstance(task.exception(), NotImplementedError)


def test_what_a_killed_process_had_only_begun_is_let_go_of_without_a_word() -> None:
    """The test run turns warnings into errors, and would fail."""
    world = World(1)
    loop = new_loop(world, "a")

    async def inner() -> None: ...

    async def outer(begun: Coroutine[Any, Any, None]) -> None:
        await begun

    loop.create_task(outer(inner()))
    loop.kill()
    world.close()
