"""One partition's log: batches in, batches out, and the promise that what is flushed stays.

A log lives on one thread, usually a broker's loop. What blocks is a *job*: ``begin_...`` captures the work,
``job.run()`` may happen on any thread, ``finish_...`` on the loop takes note. Between the two the log goes
on. So ``append`` never touches a disk: it checks the producer's sequence, gives the batch its offsets in
place, and keeps the buffer, uncopied, for the next flush and for readers near the end.

Four offsets tell how far things are, and each is at most the next: ``log_start_offset`` (oldest that may be
read), ``recovery_point`` (durable below), ``flushed_offset`` (as safe as the topic asks below; acknowledge
and serve up to here), ``log_end_offset`` (next to be given).

It needs no broker:

>>> from random import Random
>>> from penstock.model.ids import TopicPartition
>>> from penstock.records.batch import read_header
>>> from penstock.records.builder import build_batch
>>> from penstock.records.record import NewRecord, decode_records
>>> from penstock.storage.log_config import LogConfig
>>> from penstock.storage.memory_filesystem import MemoryFileSystem
>>> disk = MemoryFileSystem(Random(1))
>>> disk.make_directory("/data")
>>> log = Log.create(disk, "/data/orders-0", TopicPartition("orders", 0), LogConfig())
>>> batch = build_batch([NewRecord(value=b"one"), NewRecord(value=b"two")])
>>> log.append(batch, read_header(batch), leader_epoch=0, now=1).last_offset
1
>>> log.flush()
>>> found = log.read(0, max_bytes=1000, end_offset=log.flushed_offset)
>>> [record.value for record in decode_records(found.read_bytes())]
[b'one', b'two']
>>> log.close()
"""

from collections.abc import Iterable

from penstock.model.errors import UsageError
from penstock.model.ids import TopicId, TopicPartition
from penstock.records.batch import (
    CONTROL_BIT,
    LOG_OVERHEAD,
    BatchHeader,
    WritableBuffer,
    read_header,
    stamp,
    stamp_log_append_time,
)
from penstock.records.control import TransactionMarker, decode_transaction_marker
from penstock.storage.append_result import NO_LOG_APPEND_TIME, AppendResult
from penstock.storage.atomic_file import replace_file
from penstock.storage.checkpoint_job import CheckpointJob
from penstock.storage.compacted_offset import NO_GAPS_AT_ALL, UNKNOWN_GAPS, Gaps
from penstock.storage.deletion_job import DeletionJob
from penstock.storage.filesystem import FileSystem, join_path, parent_directory
from penstock.storage.flush_job import FlushJob
from penstock.storage.log_config import LogConfig
from penstock.storage.log_reader import FilePiece, LogSlice, MemoryPiece
from penstock.storage.partition_metadata import PARTITION_METADATA, partition_metadata_content
from penstock.storage.recovery import open_files
from penstock.storage.recovery_hints import RecoveryHints
from penstock.storage.repair_job import RepairJob
from penstock.storage.repaired_log import RepairedLog
from penstock.storage.replay import aborted_by, replay_producer
from penstock.storage.restart_job import RestartJob
from penstock.storage.rewind_job import RewindJob
from penstock.storage.tail_cache import TailCache

__all__ = [
    "AppendResult",
    "CheckpointJob",
    "DeletionJob",
    "FilePiece",
    "FlushJob",
    "Log",
    "LogSlice",
    "MemoryPiece",
    "RecoveryHints",
    "RepairJob",
    "RestartJob",
    "RewindJob",
]

_new_tuple = tuple.__new__


class Log(RepairedLog):
    """The log of one partition."""

    @classmethod
    def create(
        cls,
        filesystem: FileSystem,
        directory: str,
        topic_partition: TopicPartition,
        config: LogConfig,
        *,
        topic_id: TopicId | None = None,
        tail_cache: TailCache | None = None,
        now: int = 0,
    ) -> "Log":
        """Make the directory of a new partition and its first segment, durably. Blocks."""
        filesystem.make_directory(directory)
        filesystem.sync_directory(parent_directory(directory))
        if topic_id is not None:
            path = join_path(directory, PARTITION_METADATA)
            replace_file(filesystem, path, partition_metadata_content(topic_id))
        return cls.open(filesystem, directory, topic_partition, config, tail_cache=tail_cache, now=now)

    @classmethod
    def open(
        cls,
        filesystem: FileSystem,
        directory: str,
        topic_partition: TopicPartition,
        config: LogConfig,
        *,
        tail_cache: TailCache | None = None,
        now: int = 0,
        recovery: RecoveryHints | None = None,
    ) -> "Log":
        """Open the directory of an existing partition, recovering it if need be. Blocks."""
        hints = recovery or RecoveryHints()
        opened = open_files(filesystem, directory, config, hints)
        log = cls(
            filesystem, directory, topic_partition, config, opened=opened, tail_cache=tail_cache, now=now
        )
        log.cleaned_offset = min(hints.cleaned_offset, log.log_end_offset)
        return log

    def append(
        self,
        batch: WritableBuffer,
        header: BatchHeader,
        *,
        leader_epoch: int,
        now: int,
        is_client: bool = True,
    ) -> AppendResult:
        """Put a batch at the end of the log, as its leader. The buffer is stamped in place and kept.

        The batch was validated before; nobody may change it afterwards. ``is_client`` is False for what
        coordinators write, whose producers need no sequence.
        """
        if self._refusal is not None:
            raise self._refused()
        producer_id = header[9]
        marker: TransactionMarker | None = None
        if producer_id >= 0:
            if self._writer.producers is None:
                raise self._producers_unknown()
            if header[5] & CONTROL_BIT:
                marker = self._check_marker(batch)
            elif is_client:
                first = self.producers.check(header)
                if first is not None:
                    time = first.timestamp if self.config.log_append_time else NO_LOG_APPEND_TIME
                    return AppendResult(
                        first.base_offset, first.last_offset, time, True, self.log_start_offset
                    )
        log_append_time = NO_LOG_APPEND_TIME
        if self.config.log_append_time:
            stamp_log_append_time(batch, now)
            header = read_header(batch)
            log_append_time = now
        writer = self._writer
        base_offset = writer.end_offset
        stamp(batch, base_offset, leader_epoch)
        if leader_epoch != self.leader_epochs.latest_epoch:
            self.leader_epochs.assign(leader_epoch, base_offset)
        last_offset = writer.add(batch, header, base_offset)
        if header[8] < 0:
            writer.active.took_untimed(now)
        self._tail.append(base_offset, header[1] + LOG_OVERHEAD, batch)
        if marker is not None:
            self._apply_marker(marker, base_offset, header[8])
        elif producer_id >= 0:
            self.producers.apply(header, base_offset)
        # The named constructor would cost twice as much.
        return _new_tuple(
            AppendResult, (base_offset, last_offset, log_append_time, False, self.log_start_offset)
        )

    def append_as_follower(self, batch: WritableBuffer, header: BatchHeader) -> AppendResult:
        """Put a batch at the end of the log as its leader stamped it."""
        last_offset = self._append_stamped(batch, header)
        self._tail.append(header[0], header[1] + LOG_OVERHEAD, batch)
        return AppendResult(header[0], last_offset, NO_LOG_APPEND_TIME, False, self.log_start_offset)

    def append_copied(self, batches: Iterable[tuple[WritableBuffer, BatchHeader]]) -> None:
        """Put batches at the end of the log as their leader stamped them, for readers of the file only.

        Few read what a follower has just copied, and the memory that it came in is soon needed again.
        """
        self._tail.clear()
        for batch, header in batches:
            self._append_stamped(batch, header)

    def _append_stamped(self, batch: WritableBuffer, header: BatchHeader) -> int:
        """Answers the batch's last offset."""
        if self._refusal is not None:
            raise self._refused()
        writer, base_offset, leader_epoch = self._writer, header[0], header[2]
        if base_offset < writer.end_offset:
            raise UsageError(f"Batch at offset {base_offset} is offered to {self}, which has that already")
        has_producer = header[9] >= 0
        if has_producer and writer.producers is None:
            raise self._producers_unknown()
        if leader_epoch != self.leader_epochs.latest_epoch:
            self.leader_epochs.assign(leader_epoch, base_offset)
        has_gap = base_offset > writer.end_offset
        last_offset = writer.add(batch, header, base_offset)
        if header[8] < 0:
            writer.active.took_untimed(self._told_time)
        if has_gap:
            self._take_gap(base_offset)
        if has_producer:
            aborted = replay_producer(self.producers, header, lambda: batch)
            if aborted is not None:
                writer.active.transaction_index.add(aborted)
        return last_offset

    def _take_gap(self, base_offset: int) -> None:
        """What came before the batch was compacted away at its leader, whatever the topic's policy is by now.

        The batch begins a segment or follows another in one, so there is never a gap where segments join. But
        where nobody knows the gaps so far, what is written down has to allow those too.
        """
        self._writer.allow_gap_before(base_offset)
        if self._gaps.lacks(base_offset):
            joints_below = base_offset if self._gaps.known == UNKNOWN_GAPS else 0
            gaps = Gaps(base_offset + 1, joints_below)
            self._new_gaps = gaps.joined(self._new_gaps or NO_GAPS_AT_ALL)

    def _check_marker(self, batch: WritableBuffer) -> TransactionMarker | None:
        marker = decode_transaction_marker(batch)
        if marker is not None:
            self.producers.check_marker(marker)
        return marker

    def _apply_marker(self, marker: TransactionMarker, offset: int, timestamp: int) -> None:
        completed = self.producers.apply_marker(marker, offset=offset, timestamp=timestamp)
        aborted = None if completed is None else aborted_by(completed, self.producers)
        if aborted is not None:
            self._writer.active.transaction_index.add(aborted)
