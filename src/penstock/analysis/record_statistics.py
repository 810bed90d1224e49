"""Everything that is told of the records of a partition, or of several together."""

from typing import Any

from penstock.analysis.codec_usage import CodecTotals, CodecUsage
from penstock.analysis.key_counts import KEYS_MAX, KeyCounts
from penstock.analysis.record_columns import read_columns
from penstock.analysis.size_histogram import SizeHistogram
from penstock.analysis.timeline import Timeline
from penstock.records.batch import HEADER_BYTES, BatchHeader, Buffer


class RecordStatistics:
    """Takes batch after batch; merges with others of its kind."""

    __slots__ = (
        "batch_bytes",
        "batch_count",
        "codecs",
        "keys",
        "marker_count",
        "sizes",
        "timeline",
        "tombstone_count",
        "transactional_count",
    )

    def __init__(self, *, keys_max: int = KEYS_MAX) -> None:
        self.batch_count = 0
        self.batch_bytes = 0
        #: Ends of transactions, which are no messages.
        self.marker_count = 0
        self.tombstone_count = 0
        #: Messages that were written in transactions, committed or not.
        self.transactional_count = 0
        self.sizes = SizeHistogram()
        self.keys = KeyCounts(keys_max=keys_max)
        self.timeline = Timeline()
        self.codecs = CodecUsage()

    def add_batch(self, batch: Buffer, header: BatchHeader, position: int = 0) -> None:
        """Count the batch at ``position``, whose checksum somebody else has compared."""
        columns = None if header.is_control else read_columns(batch, header, position)
        self.batch_count += 1
        self.batch_bytes += header.size_bytes
        if columns is None:
            self.marker_count += header.record_count
            return
        self.tombstone_count += columns.tombstone_count
        if header.is_transactional:
            self.transactional_count += header.record_count
        self.sizes.add(columns.sizes)
        self.keys.add(columns.keys)
        self.timeline.add(columns.timestamps)
        self.codecs.add(header.codec, CodecTotals(1, header.size_bytes - HEADER_BYTES, columns.payload_bytes))

    def merge(self, other: "RecordStatistics") -> None:
        """Count all that the other has counted."""
        self.batch_count += other.batch_count
        self.batch_bytes += other.batch_bytes
        self.marker_count += other.marker_count
        self.tombstone_count += other.tombstone_count
        self.transactional_count += other.transactional_count
        self.sizes.merge(other.sizes)
        self.keys.merge(other.keys)
        self.timeline.merge(other.timeline)
        self.codecs.merge(other.codecs)

    @property
    def message_count(self) -> int:
        """Records of somebody's, without markers."""
        return self.sizes.count

    def as_json(self, *, top_max: int) -> dict[str, Any]:
        """All figures as plain values."""
        return {
            "messages": self.message_count,
            "batches": self.batch_count,
            "batch_bytes": self.batch_bytes,
            "transaction_markers": self.marker_count,
            "transactional_messages": self.transactional_count,
            "tombstones": self.tombstone_count,
            "message_bytes": self.sizes.as_json(),
            "compression": self.codecs.as_json(),
            "keys": self.keys.as_json(top_max=top_max),
            "timeline": self.timeline.as_json(),
        }
