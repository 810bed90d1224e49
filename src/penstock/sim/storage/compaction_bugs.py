"""Mistakes that people make with compaction, to be planted on purpose."""

from collections.abc import Sequence
from typing import Any

from penstock.records.batch import BatchHeader
from penstock.sim.planting import Bug, Function, Swap, always, nothing, replaced
from penstock.storage import compaction, leftovers
from penstock.storage.batch_rewriting import empty_batch, keep_records
from penstock.storage.cleaned_segment import CleanedSegment
from penstock.storage.deletion_job import rename_to_deleted, segment_paths
from penstock.storage.filesystem import FileSystem, join_path
from penstock.storage.key_map import TOMBSTONE, KeyMap
from penstock.storage.memory_filesystem import MemoryFile
from penstock.storage.segment_swap import SegmentSwap

WORKLOAD = "compaction"


def _finish_unflushed(original: Function) -> Function:
    def finish(self: CleanedSegment) -> None:
        with replaced(Swap(MemoryFile, "flush", nothing)):
            original(self)

    return finish


def _drop_tombstones(original: Function) -> Function:
    def keep_with_horizon(
        header: BatchHeader, payload: bytes, starts: list[int], fates: bytearray, **options: Any
    ) -> bytearray:
        values = fates.replace(bytes([TOMBSTONE]), b"\0")
        return keep_records(header, payload, starts, values) if any(values) else empty_batch(header)

    return keep_with_horizon


def _forget_swaps(original: Function) -> Function:
    def finish_swaps(filesystem: FileSystem, directory: str, swaps: list[str], kept: list[str]) -> list[str]:
        for name in swaps:
            filesystem.unlink(join_path(directory, name))
        return kept

    return finish_swaps


def _retire_first(original: Function) -> Function:
    """The old files go before the new segment is decided."""

    def commit(self: SegmentSwap) -> None:
        for segment in self.old_segments:
            self._deleted += rename_to_deleted(self._filesystem, segment_paths(segment))
        self._filesystem.sync_directory(self._directory)
        self._are_old_away = True
        original(self)

    return commit


def _first_record_wins(original: Function) -> Function:
    def add(self: KeyMap, keys: Sequence[bytes | None], tombstones: bytearray) -> None:
        start = len(self.fates)
        original(self, [key for key in keys if key is not None][::-1], tombstones[::-1])
        self.fates[start:] = self.fates[start:][::-1]

    return add


def _offset_fates(original: Function) -> Function:
    def fates_of_older(self: KeyMap, keys: Sequence[bytes | None], tombstones: bytearray) -> bytearray:
        return bytearray(len(keys)) if len(self) else original(self, keys, tombstones)

    return fates_of_older


COMPACTION_BUGS: dict[str, Bug] = {
    "cleaned-unflushed": Bug(
        "a compacted segment takes its place before it is flushed",
        (Swap(CleanedSegment, "finish", _finish_unflushed),),
        WORKLOAD,
    ),
    "swap-undecided": Bug(
        "old segments go before it is decided that the new one takes their place",
        (Swap(SegmentSwap, "commit", _retire_first),),
        WORKLOAD,
    ),
    "swap-forgotten": Bug(
        "a start removes the outcome of an interrupted compaction",
        (Swap(leftovers, "_finish_swaps", _forget_swaps),),
        WORKLOAD,
    ),
    "swap-leaves-old": Bug(
        "a start that completes a compaction leaves the old segments beside the new one",
        (Swap(leftovers, "_replaced_files", always([])),),
        WORKLOAD,
    ),
    "tombstones-go-at-once": Bug(
        "a deleted key's tombstone goes with the first pass that meets it",
        (Swap(compaction, "keep_with_horizon", _drop_tombstones),),
        WORKLOAD,
    ),
    "first-record-wins": Bug(
        "of several records of a key in one batch the first is kept",
        (Swap(KeyMap, "add", _first_record_wins),),
        WORKLOAD,
    ),
    "clean-part-dropped": Bug(
        "a second pass takes out what the first had left",
        (Swap(KeyMap, "fates_of_older", _offset_fates),),
        WORKLOAD,
    ),
}
