"""``penstock mirror run``: a mirror, watched until it ends or is asked to."""

import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli.durations import parse_duration
from penstock.cli.mirror.status import lags_as_json
from penstock.cli.output import print_json_line
from penstock.cli.pipeline.signals import StopSignals, kept_from_children
from penstock.cli.spark_session import spark_session, told_in_a_sentence
from penstock.cli.words import counted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.spark.mirror.access import Access
    from penstock.spark.mirror.mirroring import Mirror, MirrorPlan, Upkeep

POLL_SECONDS = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWishes:
    """What the command line says of a run."""

    source: "Access"
    target: "Access"
    topic_pattern: str | None
    topics: tuple[str, ...]
    template: str
    group_pattern: str | None
    has_configs: bool
    has_offset_header: bool
    is_available_now: bool
    every: str
    records_max: int
    storage: str | None
    options: Mapping[str, str]
    master: str | None
    conf: Mapping[str, str]
    as_json: bool

    def plan(self) -> "MirrorPlan":
        """What to mirror."""
        from penstock.spark.mirror.mirroring import MirrorPlan
        from penstock.spark.mirror.naming import Renaming, Selection

        return MirrorPlan(
            source=self.source,
            target=self.target,
            selection=Selection(
                topics=self.topics, topic_pattern=self.topic_pattern, group_pattern=self.group_pattern
            ),
            renaming=Renaming(template=self.template),
            has_configs=self.has_configs,
            has_offset_header=self.has_offset_header,
            options={"maxOffsetsPerTrigger": str(self.records_max), **self.options},
        )


def run_mirror(wishes: RunWishes) -> None:
    """Mirror until there is nothing left, if that was asked for, or until Ctrl-C."""
    every_seconds = parse_duration(wishes.every, option="--every") / 1000
    plan = wishes.plan()
    storage = wishes.storage or _storage_of(plan)
    with _spark(wishes) as spark, told_in_a_sentence():
        from penstock.spark.mirror.mirroring import Mirror

        with Mirror.connect(plan) as mirror, StopSignals() as signals:
            say(
                f"mirroring {plan.source.bootstrap_servers} to {plan.target.bootstrap_servers}, "
                f"progress in {storage}"
            )
            for change in mirror.keep_topics():
                say(str(change))
            query = mirror.start(spark, storage=storage, available_now=wishes.is_available_now)
            watch = _Watch(query, mirror, signals, every_seconds=every_seconds, as_json=wishes.as_json)
            try:
                watch.until_over()
            finally:
                mirror.stop(query)
            if not signals.is_asked:
                watch.raise_failure()
            watch.keep_up()


@contextmanager
def _spark(wishes: RunWishes) -> "Iterator[SparkSession]":
    """A session whose processes never see Ctrl-C: a batch that is under way is not torn."""
    with ExitStack() as stack:
        with kept_from_children():
            spark = stack.enter_context(spark_session("Mirroring", master=wishes.master, conf=wishes.conf))
        yield spark


def _storage_of(plan: "MirrorPlan") -> str:
    """Where programs keep what they remember of a person's work."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return str(Path(home) / "penstock" / "mirrors" / plan.identity())


def say(text: str) -> None:
    """Tell the person at the terminal, beside what goes to standard output."""
    print(text, file=sys.stderr, flush=True)


class _Watch:
    """Keeps topics and groups in step while a query runs, and tells."""

    def __init__(
        self,
        query: "StreamingQuery",
        mirror: "Mirror",
        signals: StopSignals,
        *,
        every_seconds: float,
        as_json: bool,
    ) -> None:
        self._query = query
        self._mirror = mirror
        self._signals = signals
        self._every_seconds = every_seconds
        self._as_json = as_json

    def until_over(self) -> None:
        """Return when the query has ended, or somebody asked for it."""
        pause = threading.Event()
        due = time.monotonic() + self._every_seconds
        while self._query.isActive and not self._signals.is_asked:
            pause.wait(POLL_SECONDS)
            if time.monotonic() >= due:
                self._try_to_keep_up()
                due = time.monotonic() + self._every_seconds

    def _try_to_keep_up(self) -> None:
        """A cluster that does not answer now may do so the next time; if not, the query ends of it."""
        from penstock.spark.mirror.errors import PASSING_ERRORS

        try:
            self.keep_up()
        except PASSING_ERRORS as error:
            say(f"Topics and groups are looked at again in {self._every_seconds:g} s: {error}")

    def raise_failure(self) -> None:
        """Raise what the query failed with, if it did."""
        error = self._query.exception()
        if error is not None:
            raise error

    def keep_up(self) -> None:
        """Bring topics and groups in step, and tell of it."""
        upkeep = self._mirror.keep_up()
        if self._as_json:
            self._print_json(upkeep)
        else:
            for change in (*upkeep.topics, *upkeep.groups):
                say(str(change))
            lag = sum(each.lag for each in upkeep.lags)
            behind = [f"{each.topic}-{each.partition} {each.lag:,}" for each in upkeep.lags if each.lag]
            print(
                f"{counted(self._mirror.records, 'record')} copied  lag {lag:,}"
                + (f": {', '.join(behind)}" if behind else "")
            )
        sys.stdout.flush()

    def _print_json(self, upkeep: "Upkeep") -> None:
        print_json_line(
            {
                "records": self._mirror.records,
                **lags_as_json(upkeep.lags),
                "topics": [str(change) for change in upkeep.topics],
                "groups": [
                    {
                        "group": change.group,
                        "offsets": {
                            f"{topic}-{number}": at for (topic, number), at in change.offsets.items()
                        },
                        "refusal": change.refusal,
                    }
                    for change in upkeep.groups
                ],
            }
        )
