"""What ``penstock search`` does: checks what it can before Spark starts, searches, and hands over."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli.failure import CommandFailed
from penstock.cli.search.command import SHOWN_MAX
from penstock.cli.search.results import json_record, plain, print_records, print_values
from penstock.cli.spark_session import require_spark, spark_session, tasks_shown, told_in_a_sentence
from penstock.model.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_CONF = {
    "spark.sql.session.timeZone": "UTC",
    # Conditions on partition and offset become ranges of offsets.
    "spark.sql.python.filterPushdown.enabled": "true",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchWishes:
    """What was typed."""

    topic: str
    expression: str | None = None
    text: str | None = None
    regex: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    times_rise: bool = False
    archive: str | None = None
    bootstrap_server: str | None
    """None if no broker is to be asked."""
    columns: tuple[str, ...] = ()
    limit: int | None = None
    output: Path | None = None
    to_topic: str | None = None
    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    as_json: bool = False

    def __post_init__(self) -> None:
        if self.output is not None and self.to_topic is not None:
            raise UsageError("--output and --to-topic exclude each other: name one of them.")
        if self.to_topic is not None and self.columns:
            raise UsageError("--to-topic copies whole records: leave out --columns.")
        if self.to_topic is not None and self.bootstrap_server is None:
            raise UsageError("--to-topic needs brokers: leave out --archive-only.")
        if self.to_topic == self.topic:
            raise UsageError(f"--to-topic {self.to_topic} is the topic that is searched: name another.")

    @property
    def options(self) -> dict[str, str]:
        """Of the data source."""
        return {} if self.bootstrap_server is None else {"kafka.bootstrap.servers": self.bootstrap_server}


def run_search(wishes: SearchWishes) -> None:
    """Search, and print, write or copy what is found."""
    require_spark("A search")
    from penstock.spark.search import Search, search

    wanted = Search(
        topic=wishes.topic,
        expression=wishes.expression,
        text=wishes.text,
        regex=wishes.regex,
        since_ms=wishes.since_ms,
        until_ms=wishes.until_ms,
        times_rise=wishes.times_rise,
        options=wishes.options,
        archive=wishes.archive,
    )
    _require_topics(wishes)
    with (
        spark_session(
            "penstock search", master=wishes.master, conf={**_CONF, **wishes.conf}, is_quiet=True
        ) as spark,
        told_in_a_sentence(),
    ):
        found = search(spark, wanted)
        if wishes.to_topic is not None:
            _copy(spark, found, wishes)
        else:
            _hand_over(spark, found, wishes)


def _require_topics(wishes: SearchWishes) -> None:
    """Before Spark is started: what can go wrong at once should."""
    if wishes.bootstrap_server is None:
        return
    from penstock.cli.storage.analysing import require_topics
    from penstock.cli.wire_session import connected
    from penstock.wire_client.topics import find_leaders

    with connected(wishes.bootstrap_server) as cluster:
        there = {each.topic for each in find_leaders(cluster, None)}
    require_topics([wishes.topic, *([wishes.to_topic] if wishes.to_topic else [])], there, "in the cluster")


def _copy(spark: "SparkSession", found: "DataFrame", wishes: SearchWishes) -> None:
    from penstock.spark.search.table import as_records

    with _kept(spark, found) as (kept, count):
        records = as_records(_oldest(kept, wishes.limit)).select("key", "value", "headers", "timestamp")
        options = {**wishes.options, "topic": str(wishes.to_topic)}
        with tasks_shown(spark, "Copying"):
            records.write.format("penstock").options(**options).mode("append").save()
    _tell(min(count, wishes.limit or count), count, f"copied to {wishes.to_topic}")


def _hand_over(spark: "SparkSession", found: "DataFrame", wishes: SearchWishes) -> None:
    from penstock.spark.search.searching import selecting
    from penstock.spark.search.table import as_messages

    limit = wishes.limit
    if limit is None and wishes.output is None and sys.stdout.isatty():
        limit = SHOWN_MAX
    if wishes.columns:
        # A mistake in a column is told before anything is read.
        selecting(found, list(wishes.columns))
    with _kept(spark, found) as (kept, count):
        rows = _oldest(kept, limit)
        rows = selecting(rows, list(wishes.columns)) if wishes.columns else as_messages(rows)
        if wishes.output is not None:
            _write(rows, wishes.output, is_records=not wishes.columns)
        elif wishes.columns:
            print_values(rows, wishes.columns, as_json=wishes.as_json)
        else:
            print_records(rows, as_json=wishes.as_json)
    _tell(min(count, limit or count), count, f"written to {wishes.output}" if wishes.output else "shown")


@contextmanager
def _kept(spark: "SparkSession", found: "DataFrame") -> "Iterator[tuple[DataFrame, int]]":
    """The rows that were found, kept by Spark so that all is read once; and how many they are."""
    kept = found.persist()
    try:
        with tasks_shown(spark, "Searching"):
            count = kept.count()
        yield kept, count
    finally:
        kept.unpersist()


def _oldest(found: "DataFrame", limit: int | None) -> "DataFrame":
    order = ("timestamp", "topic", "partition", "offset")
    return found.orderBy(*order) if limit is None else found.orderBy(*order).limit(limit)


def _write(rows: "DataFrame", path: Path, *, is_records: bool) -> None:
    import json

    try:
        with path.open("w", encoding="utf-8") as file:
            for row in rows.toLocalIterator(prefetchPartitions=True):
                fields = json_record(row) if is_records else plain(row.asDict(recursive=True))
                file.write(json.dumps(fields, ensure_ascii=False) + "\n")
    except OSError as error:
        raise CommandFailed(f"What was found cannot be written: {error}.") from error


def _tell(done: int, count: int, how: str) -> None:
    """Beside what goes to standard output."""
    what = "1 record matches" if count == 1 else f"{count:,} records match"
    if done < count:
        oldest = "the oldest one is" if done == 1 else f"the oldest {done:,} are"
        what = f"{what}; {oldest} {how} (more with --limit)"
    elif count:
        what = f"{what}, {how}"
    print(f"{what}.", file=sys.stderr)
