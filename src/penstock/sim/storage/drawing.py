"""Drawing plans from seeds.

Every seed draws its own habits first (which faults, how small the segments, how often a flush), because runs
that all do a little of everything are all alike. Stops are placed by operation as often as by time: the
windows around a flush or a rename are where the bugs are, and uniform chance rarely meets them.
"""

from dataclasses import dataclass, replace
from random import Random

from penstock.sim.storage.plan import (
    Append,
    Checkpoint,
    Compact,
    Damage,
    DeleteRecords,
    Expire,
    FillDisk,
    Flush,
    FlushFailure,
    FreeDisk,
    Life,
    Look,
    NewLeader,
    Outage,
    Restart,
    Settings,
    Step,
    Stop,
    StoragePlan,
    Tick,
    Truncate,
)

LIVES_MAX = 5
STEPS_PER_LIFE_MAX = 60
COMPACTIONS = 0.15
TRUNCATIONS = 0.7
"""Of the logs that are cut; the others begin anew."""

SECOND_MS = 1000
HOUR_MS = 3600 * SECOND_MS

_OPERATIONS = ("write", "flush", "flush", "rename", "sync_directory", "create", "truncate", "unlink")
_DAMAGED_SUFFIXES = (".log", ".log", ".index", ".index", ".timeindex", ".snapshot", "durable-offsets")


_DERIVED_SUFFIXES = (".snapshot", ".snapshot", ".index", ".timeindex")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Habits:
    """What this seed likes to do."""

    power: float
    stops: float
    damage: float
    flush_failures: float
    full_disk: float
    deletion: float
    truncation: float
    batch_bytes: int
    flushes: float


def draw_plan(seed: int) -> StoragePlan:
    """The one plan of a seed."""
    draw = Random(f"{seed}/plan")
    habits = _draw_habits(draw)
    settings = _draw_settings(draw)
    count = draw.randint(1, LIVES_MAX)
    lives = [_draw_life(draw, habits, settings) for _ in range(count)]
    for earlier, number in zip(lives, range(1, count), strict=False):
        if earlier.stop is not None and earlier.stop.outage is Outage.PROCESS:
            # What the next start reads may be in the page cache only: does it know?
            lives[number] = replace(lives[number], repeat=draw.choice((None, Outage.POWER, Outage.POWER)))
    return StoragePlan(seed=seed, settings=settings, lives=tuple(lives))


def draw_compaction_plan(seed: int) -> StoragePlan:
    """The plan of a seed for compacted topics: few keys, tombstones, passes of compaction, small segments.

    Rot is for derived files only, and for every second snapshot: without them everything must be found in
    what compaction left. There is no tail cache, since that serves what was taken out for a while longer.
    """
    draw = Random(f"{seed}/compaction")
    habits = replace(_draw_habits(draw), damage=0.0, truncation=0.0)
    settings = replace(
        _draw_settings(draw),
        segment_bytes=draw.choice((300, 1000, 4000)),
        segment_ms=draw.choice((SECOND_MS, 5 * SECOND_MS, HOUR_MS)),
        tail_cache_bytes=0,
        keys=draw.choice((2, 5, 20)),
        delete_retention_ms=draw.choice((0, 60 * SECOND_MS, HOUR_MS)),
        deletes=draw.random() < 0.3,
    )
    lives = [_draw_compacting_life(draw, habits, settings) for _ in range(draw.randint(1, LIVES_MAX))]
    return StoragePlan(seed=seed, settings=settings, lives=tuple(lives))


def _draw_compacting_life(draw: Random, habits: _Habits, settings: Settings) -> Life:
    life = _draw_life(draw, habits, settings)
    stop, damage = life.stop, None
    if stop is not None and draw.random() < 0.5:
        stop = replace(stop, operation=draw.choice(("rename", "sync_directory")), ordinal=_small(draw, 60))
    if draw.random() < 0.5:
        damage = replace(_draw_damage(draw), suffix=draw.choice(_DERIVED_SUFFIXES))
    return replace(life, stop=stop, damage=damage)


def _draw_habits(draw: Random) -> _Habits:
    return _Habits(
        power=draw.choice((0.0, 0.5, 0.8, 1.0)),
        stops=draw.choice((0.2, 0.6, 0.9)),
        damage=draw.choice((0.0, 0.0, 0.3, 0.6)),
        flush_failures=draw.choice((0.0, 0.2, 0.6)),
        full_disk=draw.choice((0.0, 0.0, 0.05)),
        deletion=draw.choice((0.0, 0.05, 0.1)),
        truncation=draw.choice((0.0, 0.0, 0.1)),
        batch_bytes=draw.choice((20, 200, 1500)),
        flushes=draw.choice((0.15, 0.35, 0.6)),
    )


def _draw_settings(draw: Random) -> Settings:
    return Settings(
        partitions=draw.choice((1, 1, 2, 3)),
        producers=draw.choice((0, 1, 2, 4)),
        segment_bytes=draw.choice((300, 1000, 4000, 100_000)),
        index_interval_bytes=draw.choice((1, 100, 1000)),
        segment_ms=draw.choice((5 * SECOND_MS, HOUR_MS, 1000 * HOUR_MS)),
        retention_ms=draw.choice((-1, 60 * SECOND_MS, HOUR_MS)),
        retention_bytes=draw.choice((-1, -1, 3000)),
        preallocate=draw.random() < 0.2,
        tail_cache_bytes=draw.choice((0, 1000, 1_000_000)),
    )


def _draw_life(draw: Random, habits: _Habits, settings: Settings) -> Life:
    stop = _draw_stop(draw, habits) if draw.random() < habits.stops else None
    failure = None
    if draw.random() < habits.flush_failures:
        path_part = draw.choice(("", ".log", ".log", "checkpoint"))
        failure = FlushFailure(path_part=path_part, after=_small(draw, 12))
    life = Life(
        steps=tuple(_draw_steps(draw, habits, settings)),
        start_stops=_draw_start_stops(draw, habits),
        repeat=draw.choice((None, None, Outage.PROCESS, Outage.POWER)),
        stop=stop,
        flush_failure=failure,
        closes=draw.random() < 0.4,
        outage=_draw_outage(draw, habits),
        damage=_draw_damage(draw) if draw.random() < habits.damage else None,
    )
    return _with_rotten_end(draw, habits, settings, life) if draw.random() < habits.damage / 2 else life


def _with_rotten_end(draw: Random, habits: _Habits, settings: Settings, life: Life) -> Life:
    """The newest batch rots, and only the seal, not yet a checkpoint, says that it was durable."""
    last = _draw_append(draw, habits, settings, settings.partitions - 1)
    return replace(
        life,
        steps=(*life.steps, last, Flush(), Tick(milliseconds=10)),
        stop=None,
        flush_failure=None,
        closes=False,
        damage=Damage(suffix=".log", file_portion=0.999, byte_portion=1 - draw.random() / 20),
    )


def _draw_outage(draw: Random, habits: _Habits) -> Outage:
    return Outage.POWER if draw.random() < habits.power else Outage.PROCESS


def _draw_stop(draw: Random, habits: _Habits) -> Stop:
    outage = _draw_outage(draw, habits)
    if draw.random() < 0.4:
        return Stop(outage=outage, operation="", ordinal=draw.randint(0, 150))
    return Stop(outage=outage, operation=draw.choice(_OPERATIONS), ordinal=_small(draw, 25))


def _draw_start_stops(draw: Random, habits: _Habits) -> tuple[Stop, ...]:
    if draw.random() >= 0.4:
        return ()
    return tuple(
        Stop(outage=_draw_outage(draw, habits), operation="", ordinal=_small(draw, 20))
        for _ in range(draw.randint(1, 2))
    )


def _draw_damage(draw: Random) -> Damage:
    return Damage(
        suffix=draw.choice(_DAMAGED_SUFFIXES), file_portion=draw.random(), byte_portion=draw.random()
    )


def _draw_steps(draw: Random, habits: _Habits, settings: Settings) -> list[Step]:
    steps: list[Step] = []
    for _ in range(draw.randint(0, STEPS_PER_LIFE_MAX)):
        steps += _draw_step(draw, habits, settings)
    return steps


def _draw_step(draw: Random, habits: _Habits, settings: Settings) -> list[Step]:
    partition = draw.randrange(settings.partitions)
    if settings.keys and draw.random() < COMPACTIONS:
        return [_draw_compaction(draw, partition)]
    if draw.random() < habits.flushes:
        return [Flush()]
    if draw.random() < habits.full_disk:
        fill = FillDisk(room_bytes=draw.choice((0, 100, 700, 3000)))
        append = _draw_append(draw, habits, settings, partition)
        return [fill, append, Flush(), *_sometimes(draw, FreeDisk()), *_sometimes(draw, Look())]
    if draw.random() < habits.full_disk * 3:
        return [FreeDisk()]
    if draw.random() < habits.deletion:
        return [DeleteRecords(partition=partition, portion=draw.random()), *_sometimes(draw, Expire())]
    if draw.random() < habits.truncation:
        cut = _draw_cut(draw, partition)
        append = _draw_append(draw, habits, settings, partition)
        return [cut, append, Flush(), *_sometimes(draw, Look())]
    if draw.random() < 0.2:
        return [_draw_chore(draw, partition)]
    return [_draw_append(draw, habits, settings, partition)]


def _draw_chore(draw: Random, partition: int) -> Step:
    kind = draw.randrange(6)
    if kind == 0:
        return Checkpoint()
    if kind == 1:
        return NewLeader(partition=partition)
    if kind == 2:
        return Expire()
    if kind == 3:
        return Look()
    return Tick(milliseconds=draw.choice((10, SECOND_MS, SECOND_MS, 6 * SECOND_MS, 90 * SECOND_MS)))


def _draw_cut(draw: Random, partition: int) -> Truncate | Restart:
    portion = draw.random()
    if portion < TRUNCATIONS:
        return Truncate(partition=partition, portion=portion / TRUNCATIONS)
    return Restart(partition=partition, portion=(portion - TRUNCATIONS) / (1 - TRUNCATIONS))


def _draw_compaction(draw: Random, partition: int) -> Compact:
    return Compact(
        partition=partition,
        map_bytes=draw.choice((1500, 3000, 1_000_000)),
        is_watched=draw.random() < 0.3,
    )


def _draw_append(draw: Random, habits: _Habits, settings: Settings, partition: int) -> Append:
    is_sequenced = settings.producers and draw.random() < 0.7
    return Append(
        partition=partition,
        producer=draw.randrange(settings.producers) if is_sequenced else None,
        record_count=draw.choice((1, 1, 2, 5)),
        value_bytes=draw.randint(0, habits.batch_bytes),
    )


def _sometimes(draw: Random, step: Step) -> list[Step]:
    return [step] if draw.random() < 0.5 else []


def _small(draw: Random, limit: int) -> int:
    """A number below ``limit``, more often a low one."""
    return min(draw.randrange(limit), draw.randrange(limit))
