"""The other seams of a simulated process."""

from random import Random

from penstock.sim.runtime.clock import WALL_AT_START_MS, SimulatedClock
from penstock.sim.runtime.entropy import SeededEntropy
from penstock.sim.runtime.loop import new_loop
from penstock.sim.runtime.world import World


def test_clock_moves_with_the_world_and_the_wall_can_be_put_wrong() -> None:
    world = World(1)
    clock = SimulatedClock(new_loop(world, "a"), wall_offset_ms=-500)
    world.run_until(2.0)
    assert clock.monotonic() == 2.0
    assert clock.wall_ms() == WALL_AT_START_MS + 2000 - 500
    clock.wall_offset_ms = 1000
    assert clock.wall_ms() == WALL_AT_START_MS + 3000
    assert clock.monotonic() == 2.0


def test_ids_follow_from_the_seed_and_do_not_look_like_options() -> None:
    one, other = SeededEntropy(Random(1)), SeededEntropy(Random(1))
    ids = [one.uuid() for _ in range(500)]
    assert ids == [other.uuid() for _ in range(500)]
    assert len(set(ids)) == 500
    assert all(each[0] >> 2 != 62 for each in ids)
