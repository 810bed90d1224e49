"""A topic with a week of records, and an archive of it that was made with interruptions."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.spark.archive.weeks import Record, by_partition, create_topic, produce

from penstock.spark.archive import ArchiveTrigger, FileSettings, archive_topics, read
from penstock.spark.archive.manifest import Manifest
from penstock.spark.archive.paths import commit_path
from penstock.spark.archive.state import ArchiveState
from penstock.spark.archive.stores.local_store import LocalStore
from penstock.spark.archive.topics import checkpoint_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PARTITIONS = 3
RECORDS = 3000
END_SECONDS_MAX = 120
Rows = dict[int, list[Record]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedWeek:
    spark: "SparkSession"
    bootstrap: str
    topic: str
    path: Path
    records: list[Record]

    @property
    def store(self) -> LocalStore:
        return LocalStore(self.path)

    @property
    def options(self) -> dict[str, str]:
        return {"kafka.bootstrap.servers": self.bootstrap, "subscribe": self.topic}

    @property
    def checkpoint(self) -> Path:
        return Path(checkpoint_of(str(self.path), self.options))

    @property
    def expected(self) -> Rows:
        return by_partition(self.records, partitions=PARTITIONS)

    def state(self) -> ArchiveState:
        return Manifest(self.store).load()

    def archive(self, **options: str) -> int:
        """Archive what there is; the number of commits that it took."""
        before = self.state().version
        query = archive_topics(
            self.spark,
            str(self.path),
            options={**self.options, **options},
            settings=FileSettings(tasks_max=1),
            trigger=ArchiveTrigger(available_now=True),
        )
        assert query.awaitTermination(END_SECONDS_MAX)
        return self.state().version - before


def archive_week(
    spark: "SparkSession", bootstrap: str, topic: str, path: Path, *, records: list[Record]
) -> ArchivedWeek:
    """Two thirds of it before the query was stopped, in three batches, and the rest after."""
    made = ArchivedWeek(spark=spark, bootstrap=bootstrap, topic=topic, path=path, records=records)
    create_topic(bootstrap, topic, partitions=PARTITIONS)
    first = 2 * len(records) // 3
    produce(bootstrap, topic, records[:first])
    assert made.archive(maxOffsetsPerTrigger=str(first // 3 + 1)) == 3
    produce(bootstrap, topic, records[first:])
    assert made.archive() == 1
    return made


def rows_of(archived: ArchivedWeek) -> Rows:
    """All that is in it."""
    return collected(read(archived.spark, str(archived.path)))


def forget_last_batch(archived: ArchivedWeek) -> None:
    """As a crash leaves the checkpoint after the batch was archived, before Spark had noted that."""
    commits = archived.checkpoint / "commits"
    last = max(int(path.name) for path in commits.iterdir() if path.name.isdecimal())
    (commits / str(last)).unlink()


def without_last_batch(archived: ArchivedWeek) -> None:
    """As a crash leaves the archive before the batch was committed, with all its files in place."""
    archived.store.delete(commit_path(archived.state().version))
    forget_last_batch(archived)


def collected(rows: "DataFrame") -> Rows:
    """Rows as records by partition, in the order of their offsets."""
    from pyspark.sql import functions as F

    found: Rows = {}
    ordered = rows.withColumn("ms", F.unix_millis("timestamp")).orderBy("partition", "offset")
    for row in ordered.collect():
        records = found.setdefault(row["partition"], [])
        assert row["timestampType"] == 0
        headers = tuple((header["key"], _bytes(header["value"])) for header in row["headers"] or ())
        records.append(Record(row["partition"], row["ms"], _bytes(row["key"]), _bytes(row["value"]), headers))
    return found


def _bytes(value: bytearray | None) -> bytes | None:
    return None if value is None else bytes(value)
