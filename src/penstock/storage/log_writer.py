"""The writing end of a log: the active segment, what waits to be written, and when to begin a new segment.

Everything here happens in memory. ``add`` takes a batch that has its offsets; ``take_writes`` hands all
that has gathered to a flush job; ``discard`` forgets all that no finished job has written.
"""

from contextlib import suppress

from penstock.model.errors import CorruptLogError
from penstock.records.batch import LOG_OVERHEAD, BatchHeader
from penstock.storage import offset_index, time_index
from penstock.storage.batch_scan import GAPS_ANYWHERE, NO_GAPS
from penstock.storage.filesystem import BytesLike, FileSystem
from penstock.storage.flush_job import SegmentClosing, SegmentWrite
from penstock.storage.log_config import FOREVER_MS, LogConfig
from penstock.storage.producer_snapshot import encode_snapshot, snapshot_path
from penstock.storage.producer_state import ProducerStates
from penstock.storage.segment import RELATIVE_OFFSET_MAX, Segment
from penstock.storage.segment_lookup import measure_largest_timestamp
from penstock.storage.segments import Segments
from penstock.storage.tail_cache import LogTail


class LogWriter:
    """Gathers batches for the next flush."""

    __slots__ = (
        "_config",
        "_directory",
        "_filesystem",
        "_pending",
        "_pending_position",
        "_roll_offset",
        "_roll_size",
        "_roll_timestamp",
        "_rolled_writes",
        "_segments",
        "_tail",
        "active",
        "end_offset",
        "pending_records",
        "producers",
    )

    def __init__(
        self,
        filesystem: FileSystem,
        directory: str,
        segments: Segments,
        producers: ProducerStates,
        *,
        tail: LogTail,
        config: LogConfig,
    ) -> None:
        self._filesystem = filesystem
        self._directory = directory
        self._segments = segments
        self._tail = tail
        self._config = config
        #: Written into a snapshot when a segment is put aside; None while a job still finds them out.
        self.producers: ProducerStates | None = producers
        self.active = segments.active
        #: The next offset to be given.
        self.end_offset = self.active.next_offset
        #: Records that no job has taken yet.
        self.pending_records = 0
        # What no job has taken yet: writes of segments that were put aside, then batches of the active one.
        self._rolled_writes: list[SegmentWrite] = []
        self._pending: list[BytesLike] = []
        self._pending_position = self.active.size
        # A batch that would bring the active segment beyond one of these begins a new segment.
        self._roll_size = self._roll_timestamp = self._roll_offset = 0
        self._prepare_roll()

    @property
    def is_dirty(self) -> bool:
        """Whether anything waits for a job."""
        return bool(self._pending or self._rolled_writes)

    def configure(self, config: LogConfig) -> None:
        """Live by other settings from the next batch on."""
        self._config = config
        for segment in self._segments:
            segment.index_interval_bytes = config.index_interval_bytes
            if config.is_compacted:
                segment.gaps_below = GAPS_ANYWHERE
        self._prepare_roll()

    def add(self, batch: BytesLike, header: BatchHeader, base_offset: int) -> int:
        """Put a stamped batch behind the last one, rolling before it if it is time to; its last offset."""
        size = header[1] + LOG_OVERHEAD
        last_offset = base_offset + header[6]
        timestamp = header[8]
        segment = self.active
        position = segment.size
        if position and (
            position + size > self._roll_size
            or timestamp > self._roll_timestamp
            or last_offset > self._roll_offset
        ):
            self.roll()
            segment = self.active
            position = 0
        if not position:
            segment.first_timestamp = timestamp
            self._prepare_roll()
        if segment.index_batch(timestamp, last_offset, position, size) and self._index_is_full(segment):
            self._roll_size = 0
        segment.size = position + size
        segment.next_offset = self.end_offset = last_offset + 1
        self._pending.append(batch)
        self.pending_records += header[12]
        return last_offset

    def allow_gap_before(self, base_offset: int) -> None:
        """Let the active segment lack offsets up to the batch it was just given."""
        self.active.gaps_below = max(self.active.gaps_below, base_offset + 1)

    def roll(self) -> None:
        """Put the active segment aside and go on with a new one; files follow with the next job."""
        old = self.active
        old.finish_time_index()
        closing = SegmentClosing(
            old.capture_indexes(is_final=True),
            snapshot_path(self._directory, old.next_offset),
            None if self.producers is None else encode_snapshot(self.producers),
        )
        self._rolled_writes.append(self._take_write(closing))
        self.active = Segment(
            self._filesystem,
            self._directory,
            old.next_offset,
            index_interval_bytes=self._config.index_interval_bytes,
            is_new=True,
            gaps_below=GAPS_ANYWHERE if self._config.is_compacted else NO_GAPS,
        )
        self._segments.add(self.active)
        self._pending_position = 0
        self._prepare_roll()

    def take_writes(self) -> list[SegmentWrite]:
        """Everything that waits, for a job."""
        writes = [*self._rolled_writes, self._take_write(None)]
        for write in writes:
            write.bind()
        self._rolled_writes = []
        self.pending_records = 0
        return writes

    def discard(self) -> list[Segment]:
        """Forget everything that no finished job has written; answers segments whose files must go."""
        self._pending = []
        self._rolled_writes = []
        self.pending_records = 0
        unborn = [segment for segment in self._segments if not segment.is_created]
        self._segments.drop_last(len(unborn))
        self.resume()
        return unborn

    def resume(self) -> None:
        """Go on behind what is readable, after the log was cut."""
        self.active = self._segments.active
        self.active.cut(self.active.readable_size, self.active.readable_offset)
        with suppress(CorruptLogError):
            # Appending needs to know it; damage is for whoever reads that part.
            measure_largest_timestamp(self.active)
        self.end_offset = self.active.next_offset
        self._pending_position = self.active.size
        self._tail.clear()
        self._prepare_roll()

    def is_due_to_roll(self, now: int, opened_at: int) -> bool:
        """Whether the active segment is older than a segment may become, by its first batch's time.

        One without a timestamp counts from when it came, or from when the log was opened.
        """
        if not self.active.size:
            return False
        first = self.active.first_timestamp
        if first is None or first < 0:
            first = self.active.untimed_since
        started = opened_at if first is None else first
        return now - started > self._config.roll_ms

    def _take_write(self, closing: SegmentClosing | None) -> SegmentWrite:
        segment = self.active
        buffers, self._pending = self._pending, []
        position, self._pending_position = self._pending_position, segment.size
        return SegmentWrite(segment, position, buffers, closing)

    def _prepare_roll(self) -> None:
        """Work out at which size, timestamp and offset the active segment is full."""
        config, segment = self._config, self.active
        self._roll_size = config.segment_bytes
        self._roll_offset = segment.base_offset + RELATIVE_OFFSET_MAX
        first = segment.first_timestamp
        self._roll_timestamp = FOREVER_MS if first is None or first < 0 else first + config.roll_ms
        if segment.size and self._index_is_full(segment):
            self._roll_size = 0

    def _index_is_full(self, segment: Segment) -> bool:
        # The time index keeps room for the entry that every segment gets when it is put aside.
        limit = self._config.segment_index_bytes
        offset_bytes = (len(segment.offset_index) + 1) * offset_index.ENTRY.size
        time_bytes = (len(segment.time_index) + 2) * time_index.ENTRY.size
        return offset_bytes > limit or time_bytes > limit
