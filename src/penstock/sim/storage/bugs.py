"""Mistakes that people make with disks, to be planted on purpose.

Each replaces a function of storage, or of the simulated disk, for the time of a run: storage itself has no
switches for it. A bug that no seed notices says that a rule is not really checked; the table that
``python -m penstock.sim bugs`` prints is the explorer's own test.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from penstock.model.errors import FlushFailedError
from penstock.model.ids import Offset
from penstock.records.batch import BatchHeader
from penstock.sim.planting import Bug, Function, Swap, always, nothing, replaced
from penstock.sim.storage.compaction_bugs import COMPACTION_BUGS
from penstock.storage import (
    atomic_file,
    batch_scan,
    checkpoint_job,
    checkpoints,
    derived_state,
    flush_job,
    log,
    recovery,
    rewind_job,
    segment_lookup,
)
from penstock.storage.checkpoint_files import CheckpointFiles
from penstock.storage.filesystem import File
from penstock.storage.flush_job import FlushJob
from penstock.storage.log_directory import UNLIMITED, LogDirectory
from penstock.storage.maintained_log import MaintainedLog
from penstock.storage.memory_filesystem import MemoryFile, MemoryFileSystem
from penstock.storage.offset_index import OffsetEntry
from penstock.storage.producer_state import ProducerStates
from penstock.storage.readable_log import ReadableLog
from penstock.storage.seal import Seal
from penstock.storage.segment import LOG_SUFFIX, Segment
from penstock.storage.tail_cache import LogTail
from penstock.storage.torn_tail import TailVerdict


@contextmanager
def planted(name: str | None) -> Iterator[None]:
    """Have the bug of that name, or none, inside the block."""
    with ExitStack() as stack:
        for swap in BUGS[name].swaps if name else ():
            stack.enter_context(replaced(swap))
        yield


def _without_directory_sync(original: Function) -> Function:
    """The function, with directories never synced while it runs."""

    def replacement(*arguments: Any, **options: Any) -> object:
        with replaced(Swap(MemoryFileSystem, "sync_directory", nothing)):
            return original(*arguments, **options)

    return replacement


def _verdict(wrong: dict[TailVerdict, TailVerdict]) -> Swap:
    def make(original: Function) -> Function:
        def judge(*arguments: Any, **options: Any) -> TailVerdict:
            verdict: TailVerdict = original(*arguments, **options)
            return wrong.get(verdict, verdict)

        return judge

    return Swap(recovery, "judge_tail", make)


def _retry_flush(original: Function) -> Function:
    def flush(self: MemoryFile) -> None:
        try:
            original(self)
        except FlushFailedError:
            self._flush_failure = None
            original(self)

    return flush


def _open_without_rewriting(original: Function) -> Function:
    """Recovery's writes and flushes of log files do nothing: what the page cache shows is believed."""

    def open_files(*arguments: Any, **options: Any) -> object:
        with (
            replaced(Swap(MemoryFile, "write", _except_logs)),
            replaced(Swap(MemoryFile, "flush", _except_logs)),
        ):
            return original(*arguments, **options)

    return open_files


def _except_logs(original: Function) -> Function:
    def replacement(self: File, *arguments: Any) -> None:
        if not self.path.endswith(LOG_SUFFIX):
            original(self, *arguments)

    return replacement


def _replace_in_place(original: Function) -> Function:
    def replace_file(fs: MemoryFileSystem, path: str, data: bytes) -> None:
        file = fs.open(path, create=True)
        file.truncate(0)
        file.write(0, [data])
        file.close()

    return replace_file


def _durable_too_early(original: Function) -> Function:
    def durable_end(self: LogDirectory, vouched: log.Log) -> Offset:
        return Offset(vouched.log_end_offset)

    return durable_end


def _cut_unflushed(original: Function) -> Function:
    def run(self: rewind_job.RewindJob) -> None:
        with replaced(Swap(MemoryFile, "flush", nothing)):
            original(self)

    return run


def _skip_rewind(original: Function) -> Function:
    """Take appends again at once, with what the failed write left still in the file."""

    def rewind(self: MaintainedLog) -> None:
        self._needs_rewind = False
        self._refusal = None

    return rewind


def _named_unseen(original: Function) -> Function:
    def named_by(segment: Segment, entry: OffsetEntry) -> batch_scan.Located:
        return batch_scan.Located(entry.position, segment_lookup.header_at(segment, entry.position))

    return named_by


def _any_offset(original: Function) -> Function:
    def read_header(self: batch_scan.BatchChecker, chunk: memoryview, at: int) -> BatchHeader | None:
        self.expected_offset = int.from_bytes(chunk[at : at + 8], "big", signed=True)
        header: BatchHeader | None = original(self, chunk, at)
        return header

    return read_header


_REPLACERS = (atomic_file, checkpoints, checkpoint_job, flush_job)

BUGS: dict[str, Bug] = {
    "ack-before-flush": Bug(
        "a batch is acknowledged when it is written, not when it is flushed",
        (Swap(FlushJob, "flush", nothing),),
    ),
    "flush-retried": Bug(
        "a failed flush is tried again, and believed the second time",
        (Swap(MemoryFile, "flush", _retry_flush),),
    ),
    "page-cache-trusted": Bug(
        "what a start reads after a crash is not written and flushed again",
        (Swap(log, "open_files", _open_without_rewriting),),
    ),
    "no-crc-at-recovery": Bug(
        "batches are not checked against their checksum", (Swap(batch_scan, "crc_matches", always(True)),)
    ),
    "offsets-unchecked": Bug(
        "batches are not checked to follow each other",
        (Swap(batch_scan.BatchChecker, "_read_header", _any_offset),),
    ),
    "torn-is-damage": Bug(
        "a torn tail is taken for damage", (_verdict({TailVerdict.TORN: TailVerdict.DAMAGED}),)
    ),
    "damage-is-torn": Bug(
        "damage is taken for a torn tail and cut off", (_verdict({TailVerdict.DAMAGED: TailVerdict.TORN}),)
    ),
    "no-seal": Bug(
        "nobody remembers up to where a log was durable", (Swap(Seal, "sealed_offset", always(None)),)
    ),
    "seal-too-early": Bug(
        "logs are called durable up to what was appended",
        (Swap(LogDirectory, "_durable_end", _durable_too_early),),
    ),
    "directories-unsynced": Bug(
        "names are never made durable", (Swap(MemoryFileSystem, "sync_directory", nothing),)
    ),
    "checkpoint-unsynced": Bug(
        "offset checkpoints are renamed into place, but their directory is not synced",
        (Swap(CheckpointFiles, "write", _without_directory_sync),),
    ),
    "segment-name-unsynced": Bug(
        "a new segment takes acknowledged batches before its name is durable",
        (Swap(FlushJob, "_create", _without_directory_sync),),
    ),
    "replaced-in-place": Bug(
        "small files are overwritten instead of replaced",
        tuple(Swap(module, "replace_file", _replace_in_place) for module in _REPLACERS),
    ),
    "index-believed": Bug(
        "an index entry is followed without a look at the batch it names",
        (
            Swap(segment_lookup, "_named_by", _named_unseen),
            Swap(segment_lookup, "_names", always(True)),
        ),
    ),
    "producers-not-replayed": Bug(
        "producers are taken from a snapshot, without the batches behind it",
        (Swap(derived_state, "_replay", nothing),),
    ),
    "retries-unrecognised": Bug(
        "a producer's sequence is not looked at", (Swap(ProducerStates, "check", always(None)),)
    ),
    "reads-unverified": Bug("old bytes are served without a check", (Swap(ReadableLog, "verify", nothing),)),
    "no-rewind": Bug(
        "after a write that found no room the file is left as it is",
        (Swap(MaintainedLog, "rewind", _skip_rewind),),
    ),
    "cut-unflushed": Bug(
        "a log is cut, and written again, without a flush between",
        (Swap(rewind_job.RewindJob, "run", _cut_unflushed),),
    ),
    "cut-leaves-tail": Bug(
        "what was cut off is still served from memory", (Swap(LogTail, "clear", nothing),)
    ),
    "restart-remembered-early": Bug(
        "where a log begins anew is written down before it does",
        (Swap(LogDirectory, "_limit", always(UNLIMITED)),),
    ),
} | COMPACTION_BUGS
