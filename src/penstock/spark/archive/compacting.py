"""Compaction: small files of hours that are over become large ones.

A merge is written beside what it replaces, checked against what the manifest says of that, and committed: the
new file comes and the old ones go in one step. A crash before leaves a file that nobody reads; nothing is
ever changed in place. If somebody else has merged one of the files meanwhile, this merge is given up.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from penstock.spark.archive.commits import Commit, CommitKind
from penstock.spark.archive.compaction_plan import CompactionSizes, Merge, plan_compaction
from penstock.spark.archive.errors import ArchiveError
from penstock.spark.archive.files import ArchivedFile, merged_spans
from penstock.spark.archive.manifest import Manifest, load
from penstock.spark.archive.parquet_files import (
    FileSettings,
    move_into_place,
    new_attempt,
    now_ms,
    write_files,
)
from penstock.spark.archive.paths import merged_prefix
from penstock.spark.archive.reading import read_files
from penstock.spark.archive.state import ArchiveState
from penstock.spark.archive.stores.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What became of a merge."""

    merge: Merge
    file: ArchivedFile | None
    """None if it was given up, because somebody else had merged one of its files."""


def compact(
    spark: "SparkSession", store: Store, *, sizes: CompactionSizes, settings: FileSettings
) -> Iterator[Merged]:
    """Carry out what ``plan_compaction`` says, as many merges at once as Spark has cores; each when done."""
    merges = plan_compaction(load(store).files.values(), sizes, now_ms=now_ms())
    at_once = spark.sparkContext.defaultParallelism
    with ThreadPoolExecutor(at_once, thread_name_prefix="penstock-compaction") as workers:
        yield from workers.map(partial(carry_out, spark, store, settings=settings), merges)


def carry_out(spark: "SparkSession", store: Store, merge: Merge, *, settings: FileSettings) -> Merged:
    """One merge, from reading to the commit."""
    # A session of its own, since settings are changed in it.
    rows = read_files(spark.newSession(), store, merge.files).coalesce(1)
    attempt = new_attempt()
    try:
        written = write_files(rows, store, attempt, settings=settings)
        # Files do not tell which incarnation of the topic their records are of; the merge knows.
        staged = [replace(file, incarnation=merge.group.incarnation) for file in written]
        _check(merge, staged)
        (file,) = move_into_place(store, staged, attempt, prefix=merged_prefix(attempt.began_ms))
        Manifest(store).commit(partial(_commit, merge=merge, file=file))
    except MergedByOthersError:
        store.delete(file.path)
        return Merged(merge=merge, file=None)
    finally:
        store.delete(attempt.staging)
    return Merged(merge=merge, file=file)


class MergedByOthersError(ArchiveError):
    """A file that was to be merged is not there any more."""


def _commit(state: ArchiveState, *, merge: Merge, file: ArchivedFile) -> Commit:
    for old in merge.files:
        if old.path not in state.files:
            raise MergedByOthersError(f"{old.path} was merged by somebody else.")
    return Commit(
        kind=CommitKind.COMPACTION,
        at_ms=now_ms(),
        added=(file,),
        removed=tuple(old.path for old in merge.files),
    )


def _check(merge: Merge, written: list[ArchivedFile]) -> None:
    """Raise if a single record is missing, or one too many, or of another incarnation of the topic."""
    before, after = merged_spans(list(merge.files)), merged_spans(written)
    if {file.incarnation for file in merge.files} != {file.incarnation for file in written}:
        raise ArchiveError(
            f"{len(merge.files)} files of {merge.group.hour.directory} are not all of the topic as it was "
            f"when it had been made anew {merge.group.incarnation} times. Nothing was changed."
        )
    if len(written) != 1 or before != after:
        raise ArchiveError(
            f"Merging {len(merge.files)} files of {merge.group.hour.directory} gave {len(written)} files "
            f"with {after}, but they had {before}. Nothing was changed; the archive may be damaged there."
        )
