"""Which replay a command means: the one that it names, one that it began before, or a new one.

A request with fixed times, or without, always is the same replay. One that says ``2h`` is another stretch
whenever it is given. So its replay is known by the text as it was typed and by when it was begun: the same
command goes on with the latest if that was interrupted, and begins a new one if not. Names that were given to
the sink once are never used again for other records, also where what was remembered of them is lost: the sink
would take those for written.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.spark.archive.paths import REPLAYS
from penstock.spark.archive.replay.plan import replay_name
from penstock.spark.archive.replay.progress import ReplayProgress
from penstock.spark.archive.replay.running import Replayed, as_planned
from penstock.spark.archive.stores.opening import open_store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.cli.archive.replaying import ReplayWishes
    from penstock.spark.archive.replay.sources import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenReplay:
    """A replay, where it is kept, and what is left to read for it."""

    name: str
    place: str
    progress: ReplayProgress
    source: "Source"
    """With the times that it was begun with, if it was."""


def choose_replay(spark: "SparkSession", wishes: "ReplayWishes") -> ChosenReplay:
    """The replay to begin, or to go on with."""
    name = wishes.name or _name(spark, wishes)
    place = wishes.checkpoint or f"{_replays(wishes)}/{name}"
    progress = ReplayProgress(open_store(place, spark))
    plan = progress.plan()
    if plan is None:
        return ChosenReplay(name=name, place=place, progress=progress, source=wishes.source())
    name = plan.name or name
    source = as_planned(plan, wishes.with_fixed_times().source(), wishes.target(), name=name)
    return ChosenReplay(name=name, place=place, progress=progress, source=source)


def _name(spark: "SparkSession", wishes: "ReplayWishes") -> str:
    identity = wishes.source().identity()
    typed = wishes.moving_times()
    stem = replay_name({**identity, **typed}, wishes.to)
    if not typed:
        return stem
    return _interrupted(spark, _replays(wishes), stem) or f"{stem}-{wishes.now_ms}"


def _interrupted(spark: "SparkSession", place: str, stem: str) -> str | None:
    """The latest replay with that stem, if it is not over."""
    begun = re.compile(rf"{re.escape(stem)}-(\d+)")
    names = [name for name in open_store(place, spark).directories("") if begun.fullmatch(name)]
    if not names:
        return None
    latest = max(names, key=lambda name: int(name.rpartition("-")[2]))
    progress = ReplayProgress(open_store(f"{place}/{latest}", spark))
    plan = progress.plan()
    return None if plan is None or Replayed(plan, progress.done()).is_over else latest


def _replays(wishes: "ReplayWishes") -> str:
    """In the archive, or where programs keep what they remember of a person's work."""
    if wishes.archive is not None:
        return f"{wishes.archive.rstrip('/')}/{REPLAYS}"
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return str(Path(home) / "penstock" / "replays")
