"""Blocking work in virtual time."""

from random import Random

from penstock.sim.runtime.loop import SimulatedLoop, new_loop
from penstock.sim.runtime.workers import DiskSpeed, SimulatedWorkers
from penstock.sim.runtime.world import World


def _fail() -> None:
    raise IndexError("failed")


def made(seed: int = 1, **speed: float) -> tuple[World, SimulatedLoop, SimulatedWorkers]:
    world = World(seed)
    loop = new_loop(world, "a")
    return world, loop, SimulatedWorkers(loop, DiskSpeed(**speed), Random(seed))


def test_jobs_overtake_each_other_and_are_reported_together() -> None:
    world, _, workers = made(seconds_max=1.0)
    done: list[int] = []
    reports: list[object] = []
    calls = [lambda number=number: done.append(number) for number in range(10)]
    workers.run(calls, reports.append)
    assert done == []
    world.run_until(5.0)
    assert sorted(done) == list(range(10))
    assert done != list(range(10))
    assert reports == [[None] * 10]


def test_errors_are_carried_to_whoever_asked() -> None:
    world, loop, workers = made()
    task = loop.create_task(workers.call(int, "no number"))
    outcomes: list[object] = []
    workers.run([lambda: None, _fail], outcomes.extend)
    world.run_until(1.0)
    assert isinstance(task.exception(), ValueError)
    assert outcomes[0] is None
    assert isinstance(outcomes[1], IndexError)


def test_result_comes_back_after_some_time() -> None:
    world, loop, workers = made(seconds_min=0.5, seconds_max=0.5)
    task = loop.create_task(workers.call(pow, 2, 3))
    world.run_until(0.9)
    assert not task.done()
    world.run_until(1.1)
    assert task.result() == 8


def test_stalled_disk_begins_nothing_before_its_time() -> None:
    world, _, workers = made(stalled_until=3.0)
    done: list[float] = []
    workers.run([lambda: done.append(world.now)], lambda outcomes: None)
    world.run_until(5.0)
    assert done[0] >= 3.0


def test_killed_process_hears_of_nothing_that_was_under_way() -> None:
    world, loop, workers = made(seconds_min=0.5, seconds_max=0.5)
    done: list[object] = []
    workers.run([lambda: None], done.append)
    world.run_until(0.7)
    loop.kill()
    world.run_until(5.0)
    assert done == []


def test_job_whose_caller_was_cancelled_still_happens() -> None:
    world, loop, workers = made(seconds_min=0.5, seconds_max=0.5)
    done: list[int] = []
    task = loop.create_task(workers.call(done.append, 1))
    world.run_until(0.1)
    task.cancel()
    world.run_until(2.0)
    assert task.cancelled()
    assert done == [1]
