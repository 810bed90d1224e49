"""Archiving topics by name: where to begin reading them, so that an archive goes on where it ended."""

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.spark.archive.archiving import ArchiveTrigger, archive_rows
from penstock.spark.archive.continuing import starting_offsets
from penstock.spark.archive.limits import offsets_of_bytes
from penstock.spark.archive.manifest import Manifest
from penstock.spark.archive.parquet_files import FileSettings
from penstock.spark.archive.paths import CHECKPOINT
from penstock.spark.archive.stores.opening import open_store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

OFFSETS_PER_TRIGGER_MAX = 1_000_000

_DEFAULTS = {
    # What was given up by its producer never happened; an archive would keep it for ever.
    "kafka.isolation.level": "read_committed",
    "maxOffsetsPerTrigger": str(OFFSETS_PER_TRIGGER_MAX),
    "groupIdPrefix": "penstock-archive",
}


_SUBSCRIPTIONS = ("subscribe", "subscribepattern", "assign")


def archive_topics(
    spark: "SparkSession",
    path: str,
    *,
    options: Mapping[str, str],
    settings: FileSettings | None = None,
    trigger: ArchiveTrigger | None = None,
    checkpoint: str | None = None,
    query_name: str = "",
    bytes_per_trigger_max: int | None = None,
) -> "StreamingQuery":
    """Start a query that archives topics; ``options`` are those of the data source, such as ``subscribe``.

    ``bytes_per_trigger_max`` bounds micro-batches by the average size that stored records have now.
    Unless said otherwise a topic is archived from its beginning, and only what is committed. An archive that
    is there already goes on where it ended, also if the checkpoint is gone.
    """
    where = checkpoint or checkpoint_of(path, options)
    rows = topic_rows(spark, path, _bounded(options, bytes_per_trigger_max))
    return archive_rows(
        rows, path, checkpoint=where, settings=settings, trigger=trigger, query_name=query_name
    )


def checkpoint_of(path: str, options: Mapping[str, str]) -> str:
    """Where a query keeps its progress that names no place: beside those of others, of other topics."""
    named = {name.lower(): text for name, text in options.items() if name.lower() in _SUBSCRIPTIONS}
    digest = hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()
    return f"{path.rstrip('/')}/{CHECKPOINT}/{digest[:12]}"


def _bounded(options: Mapping[str, str], bytes_max: int | None) -> dict[str, str]:
    asked = {**_DEFAULTS, **options}
    offsets = None if bytes_max is None else offsets_of_bytes(asked, bytes_max)
    if offsets is not None:
        asked["maxOffsetsPerTrigger"] = str(min(offsets, int(asked["maxOffsetsPerTrigger"])))
    return asked


def topic_rows(spark: "SparkSession", path: str, options: Mapping[str, str]) -> "DataFrame":
    """The stream of records that are not archived yet."""
    asked = {**_DEFAULTS, **options, "includeHeaders": "true"}
    asked.setdefault("startingOffsets", starting_offsets(Manifest(open_store(path, spark)).load(), asked))
    return spark.readStream.format("penstock").options(**asked).load()
