"""Files of archives as manifests know them, made up for tests."""

from penstock.spark.archive.commits import Commit, CommitKind
from penstock.spark.archive.files import ArchivedFile, Span
from penstock.spark.archive.incarnations import Log
from penstock.spark.archive.intervals import Interval

NOON = "topic=orders/date=2026-01-31/hour=12"
NOON_MS = 1_769_860_800_000
HOUR_MS = 3_600_000


def a_file(
    name: str,
    *,
    directory: str = NOON,
    size_bytes: int = 1000,
    first: int = 0,
    last: int = 9,
    partition: int = 0,
    incarnation: int = 0,
    timestamps_ms: tuple[int, int] = (NOON_MS, NOON_MS + HOUR_MS - 1),
) -> ArchivedFile:
    return ArchivedFile(
        path=f"{directory}/{name}",
        size_bytes=size_bytes,
        incarnation=incarnation,
        first_timestamp_ms=timestamps_ms[0],
        last_timestamp_ms=timestamps_ms[1],
        spans={partition: Span(first, last, last - first + 1)},
    )


def a_batch(batch_id: int, *files: ArchivedFile, query_id: str = "query", at_ms: int = 0) -> Commit:
    """A micro-batch that covers exactly what its files hold."""
    return Commit(
        kind=CommitKind.BATCH,
        at_ms=at_ms,
        query_id=query_id,
        batch_id=batch_id,
        topics={file.topic: ("id",) for file in files},
        covered={
            Log(file.topic, file.incarnation, partition): Interval(span.first, span.last + 1)
            for file in files
            for partition, span in file.spans.items()
        },
        added=files,
    )


def a_merge(*files: ArchivedFile, of: tuple[ArchivedFile, ...], at_ms: int = 0) -> Commit:
    removed = tuple(file.path for file in of)
    return Commit(kind=CommitKind.COMPACTION, at_ms=at_ms, added=files, removed=removed)
