"""What a data directory writes about all its logs: the blocking halves, captured for any thread."""

from typing import NamedTuple

from penstock.model.ids import Offset, TopicPartition
from penstock.storage.checkpoint_files import CheckpointFiles, OffsetTables
from penstock.storage.seal import SealJob


class RememberedLimit(NamedTuple):
    """What may be remembered, at most, of a log that is about to be cut: it fits the log before and after."""

    durable_end: Offset
    log_start: Offset


class CheckpointJob:
    """Writes the offsets of one moment."""

    def __init__(self, files: CheckpointFiles, tables: OffsetTables) -> None:
        self._files = files
        self._tables = tables
        self._moment = files.next_moment()

    def run(self) -> None:
        """Make them durable."""
        self._files.write(self._tables, moment=self._moment)


class LowerJob:
    """Takes back, durably, what was remembered of a log's durable end."""

    def __init__(
        self, partition: TopicPartition, checkpoint: CheckpointJob, seal_job: SealJob | None
    ) -> None:
        self.partition = partition
        self.seal_job = seal_job
        self._checkpoint = checkpoint

    def run(self) -> None:
        """Lower both; the log may be cut afterwards."""
        self._checkpoint.run()
        if self.seal_job is not None:
            self.seal_job.run()
