"""``penstock archive compact``."""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.cli.archive.spark import SparkWishes, running_spark
from penstock.cli.durations import parse_duration
from penstock.cli.output import print_json, print_table
from penstock.cli.progress import advancing
from penstock.cli.sizes import format_bytes, parse_size
from penstock.cli.words import counted

if TYPE_CHECKING:
    from penstock.spark.archive.compacting import Merged
    from penstock.spark.archive.compaction_plan import CompactionSizes, Merge
    from penstock.spark.archive.stores.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactWishes:
    """What the command line says of a compaction."""

    path: str
    small: str
    target: str
    closed_after: str
    grace: str
    codec: str
    is_dry_run: bool
    spark: SparkWishes
    as_json: bool

    def sizes(self) -> "CompactionSizes":
        """What is small, and how large files become."""
        from penstock.spark.archive.compaction_plan import CompactionSizes

        return CompactionSizes(
            small_bytes=parse_size(self.small, option="--small"),
            target_bytes=parse_size(self.target, option="--target"),
            closed_after_ms=parse_duration(self.closed_after, option="--closed-after"),
        )


def compact_archive(wishes: CompactWishes) -> None:
    """Merge, or say what would be merged, and delete what is due."""
    from penstock.spark.archive.stores.opening import is_local, open_store

    sizes = wishes.sizes()
    grace_ms = parse_duration(wishes.grace, option="--grace")
    if wishes.is_dry_run and is_local(wishes.path):
        _print_plan(_plan(open_store(wishes.path), sizes), as_json=wishes.as_json)
        return
    with running_spark(wishes.spark) as spark:
        store = open_store(wishes.path, spark)
        planned = _plan(store, sizes)
        if wishes.is_dry_run:
            _print_plan(planned, as_json=wishes.as_json)
            return
        from penstock.spark.archive.cleaning import clean
        from penstock.spark.archive.compacting import compact
        from penstock.spark.archive.manifest import Manifest
        from penstock.spark.archive.parquet_files import FileSettings

        merged: list[Merged] = []
        with advancing("merging", sum(merge.size_bytes for merge in planned), unit="bytes") as advance:
            for done in compact(spark, store, sizes=sizes, settings=FileSettings(codec=wishes.codec)):
                merged.append(done)
                advance(done.merge.size_bytes)
        removed, orphans = clean(store, Manifest(store), grace_ms=grace_ms, now_ms=_now_ms())
    _report(merged, deleted=len(removed), abandoned=len(orphans), as_json=wishes.as_json)


def _plan(store: "Store", sizes: "CompactionSizes") -> "list[Merge]":
    from penstock.spark.archive.compaction_plan import plan_compaction
    from penstock.spark.archive.manifest import load

    return plan_compaction(load(store).files.values(), sizes, now_ms=_now_ms())


def _print_plan(planned: "list[Merge]", *, as_json: bool) -> None:
    if as_json:
        print_json([_merge_json(merge) for merge in planned])
    elif planned:
        rows = [(*merge.group.hour, len(merge.files), format_bytes(merge.size_bytes)) for merge in planned]
        print_table(("TOPIC", "DATE", "HOUR", "FILES", "BYTES"), rows, numbers=(3, 4))
    else:
        print("Nothing to merge.")


def _merge_json(merge: "Merge") -> dict[str, Any]:
    return {**merge.group.hour._asdict(), "files": len(merge.files), "bytes": merge.size_bytes}


def _report(merged: "list[Merged]", *, deleted: int, abandoned: int, as_json: bool) -> None:
    done = [each for each in merged if each.file is not None]
    before = sum(each.merge.size_bytes for each in done)
    after = sum(each.file.size_bytes for each in done if each.file is not None)
    files = sum(len(each.merge.files) for each in done)
    given_up = len(merged) - len(done)
    if as_json:
        print_json(
            {
                "merged_files": files,
                "merged_bytes": before,
                "new_files": len(done),
                "new_bytes": after,
                "given_up": given_up,
                "deleted_files": deleted,
                "deleted_leftovers": abandoned,
            }
        )
        return
    print(
        f"{counted(files, 'file')} ({format_bytes(before)}) merged into {len(done)} ({format_bytes(after)}), "
        f"{counted(deleted, 'old file')} and {counted(abandoned, 'leftover')} deleted"
    )
    if given_up:
        print(f"gave {counted(given_up, 'merge')} up, since somebody else had merged the same files")


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
