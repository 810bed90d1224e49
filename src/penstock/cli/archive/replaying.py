"""``penstock archive replay``."""

import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.cli.archive.spark import SparkWishes, running_spark, say
from penstock.cli.archive.target_topic import prepare_target
from penstock.cli.durations import is_past_duration, parse_past
from penstock.cli.instants import format_instant
from penstock.cli.output import print_json, print_table
from penstock.cli.progress import advancing
from penstock.cli.sizes import format_bytes
from penstock.cli.words import counted
from penstock.model.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.cli.archive.replay_choice import ChosenReplay
    from penstock.spark.archive.intervals import Interval
    from penstock.spark.archive.replay.counting import PartitionCount
    from penstock.spark.archive.replay.running import Replayed, Target
    from penstock.spark.archive.replay.sources import Source

_OFFSETS = re.compile(r"(\d+):(\d+)-(\d+)")
_BOOTSTRAP = "kafka.bootstrap.servers"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayWishes:
    """What the command line says of a replay."""

    topic: str
    to: str
    archive: str | None
    since: str | None
    until: str | None
    offsets: tuple[str, ...]
    records_per_second: int | None
    creates_topic: bool
    is_dry_run: bool
    name: str | None
    checkpoint: str | None
    options: Mapping[str, str]
    bootstrap_server: str
    to_bootstrap_server: str
    spark: SparkWishes
    as_json: bool
    now_ms: int = field(default_factory=_now_ms)
    """When the command was given: ``2h`` is so long before that."""

    def source(self) -> "Source":
        """Where the records come from."""
        from penstock.spark.archive.replay.sources import ArchiveSource, TopicSource

        part: dict[str, Any] = {
            "topic": self.topic,
            "since_ms": self._instant(self.since, option="--since"),
            "until_ms": self._instant(self.until, option="--until"),
            "offsets": parse_offsets(self.offsets),
        }
        if self.archive is not None:
            path = self.archive if "://" in self.archive else str(Path(self.archive).absolute())
            return ArchiveSource(path=path, **part)
        return TopicSource(options={_BOOTSTRAP: self.bootstrap_server, **self.options}, **part)

    def target(self) -> "Target":
        """Where they go."""
        from penstock.spark.archive.replay.running import Target

        return Target(topic=self.to, options={_BOOTSTRAP: self.to_bootstrap_server})

    def moving_times(self) -> dict[str, str]:
        """Times that are others whenever somebody asks, as they were typed; by what identities call them."""
        times = {"since_ms": self.since, "until_ms": self.until}
        return {name: text for name, text in times.items() if text is not None and is_past_duration(text)}

    def with_fixed_times(self) -> "ReplayWishes":
        """The same, but without times that are others whenever somebody asks."""
        moving = self.moving_times()
        return replace(
            self,
            since=None if "since_ms" in moving else self.since,
            until=None if "until_ms" in moving else self.until,
        )

    def _instant(self, text: str | None, *, option: str) -> int | None:
        return None if text is None else parse_past(text, option=option, now_ms=self.now_ms)


def replay_records(wishes: ReplayWishes) -> None:
    """Replay, or count what would be replayed."""
    source, target = wishes.source(), wishes.target()
    with running_spark(wishes.spark) as spark:
        if wishes.is_dry_run:
            from penstock.spark.archive.replay.counting import count_records

            _print_counts(count_records(spark, source), as_json=wishes.as_json)
            return
        from penstock.cli.archive.replay_choice import choose_replay

        chosen = choose_replay(spark, wishes)
        prepare_target(spark, chosen.source, target, creates=wishes.creates_topic)
        done = _replay(spark, chosen, target, records_per_second=wishes.records_per_second)
    if wishes.as_json:
        print_json({"topic": wishes.to, **done.done._asdict(), "offsets": done.plan.size})
    else:
        where = "the same partitions" if done.plan.keeps_partitions else "partitions by key"
        print(f"{_records_are(done.done.records)} in {wishes.to}, in {where}")


def parse_offsets(texts: tuple[str, ...]) -> "dict[int, Interval] | None":
    """``0:500-999`` is a stretch of partition 0 with both its ends; None if nothing was said."""
    from penstock.spark.archive.intervals import Interval

    found: dict[int, Interval] = {}
    for text in texts:
        match = _OFFSETS.fullmatch(text)
        if match is None or int(match[2]) > int(match[3]):
            raise UsageError(f"--offsets {text!r} is not of the form PARTITION:FIRST-LAST, like 0:500-999.")
        if int(match[1]) in found:
            raise UsageError(
                f"--offsets names partition {match[1]} twice: replay one stretch after the other."
            )
        found[int(match[1])] = Interval(int(match[2]), int(match[3]) + 1)
    return found or None


def _replay(
    spark: "SparkSession", chosen: "ChosenReplay", target: "Target", *, records_per_second: int | None
) -> "Replayed":
    from penstock.spark.archive.replay.running import replay

    before = chosen.progress.done()
    say(
        f"replay {chosen.name}, kept in {chosen.place}"
        + (f": {_records_are(before.records)} done" if before.chunks else "")
    )
    with advancing("replaying", 100) as advance:
        shown = 0

        def tell(replayed: "Replayed") -> None:
            nonlocal shown
            percent = 100 * replayed.done.chunks // max(1, replayed.plan.chunk_count)
            advance(percent - shown)
            shown = percent

        try:
            return replay(
                spark,
                chosen.source,
                target,
                name=chosen.name,
                progress=chosen.progress,
                records_per_second=records_per_second,
                on_chunk=tell,
            )
        except KeyboardInterrupt:
            say(f"Interrupted; go on with the same command, or with --name {chosen.name}")
            raise


def _print_counts(counts: "list[PartitionCount]", *, as_json: bool) -> None:
    if as_json:
        print_json([asdict(count) for count in counts])
        return
    rows = [
        (
            count.partition,
            f"{count.records:,}",
            format_bytes(count.value_bytes),
            count.first_offset,
            count.last_offset,
            format_instant(count.first_timestamp_ms),
            format_instant(count.last_timestamp_ms),
        )
        for count in counts
    ]
    columns = ("PARTITION", "RECORDS", "VALUES", "FIRST OFFSET", "LAST OFFSET", "FIRST", "LAST")
    print_table(columns, rows, numbers=(0, 1, 2, 3, 4))
    print(f"{counted(sum(count.records for count in counts), 'record')} would be replayed")


def _records_are(count: int) -> str:
    return f"{counted(count, 'record')} {'is' if count == 1 else 'are'}"
