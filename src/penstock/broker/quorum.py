"""The metadata log of a quorum of one: decide, append, replay.

A change goes the same way it will go with many controllers: a machine decides it as records, the records are
appended and flushed, and only then replayed into the image that everybody reads. A change that was not
flushed has not happened, and the next start knows nothing of it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from penstock.broker.clock import Clock
from penstock.broker.flusher import Flusher
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import MetadataRecord, decode_record, encode_record
from penstock.metadata.result import Result
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, InvariantError, StorageError
from penstock.records.batch import read_header, split_batches
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord, decode_records
from penstock.storage.log import FlushJob, Log

R = TypeVar("R")

LEADER_EPOCH = 1
READ_BYTES = 1024 * 1024

ImageChanged = Callable[[ClusterImage, ClusterImage], Awaitable[None]]


class Quorum:
    """Owns the metadata log, and the image it adds up to."""

    def __init__(
        self,
        log: Log,
        flusher: Flusher,
        clock: Clock,
        on_change: ImageChanged,
        on_flushed: Callable[[Log, int], None],
    ) -> None:
        self.log = log
        self.image = ClusterImage()
        self._flusher = flusher
        self._clock = clock
        self._on_change = on_change
        self._on_flushed = on_flushed
        self._lock = asyncio.Lock()
        self._flushed: asyncio.Future[None] | None = None

    def replay(self) -> None:
        """Read the whole log into the image, at start. Blocking."""
        offset = self.log.log_start_offset
        while offset < self.log.log_end_offset:
            offset = self._replay_from(offset)

    async def submit(self, decide: Callable[[ClusterImage], Result[R]]) -> R:
        """Have a machine decide on the present image; answer once its decision is durable and applied."""
        async with self._lock:
            result = decide(self.image)
            if result.records:
                await self._append(result.records)
                before, self.image = self.image, self.image.apply(result.records)
                await self._on_change(before, self.image)
            return result.response

    async def follow_again(self) -> None:
        """Have the present image followed once more, by somebody who could not follow all of it before."""
        async with self._lock:
            await self._on_change(self.image, self.image)

    def flush_finished(self, job: FlushJob) -> None:
        """The records are durable."""
        self._on_flushed(self.log, job.size_bytes)
        if self._flushed is not None and self.log.flushed_offset == self.log.log_end_offset:
            waiting, self._flushed = self._flushed, None
            if not waiting.done():  # whoever asked may have been cancelled: the broker stops
                waiting.set_result(None)

    def flush_failed(self, error: StorageError) -> None:
        """The records are not in the log: the change has not happened."""
        waiting, self._flushed = self._flushed, None
        if waiting is not None and not waiting.done():
            waiting.set_exception(
                ApiError(ErrorCode.KAFKA_STORAGE_ERROR, "The metadata log cannot be written.")
            )

    async def _append(self, records: tuple[MetadataRecord, ...]) -> None:
        now = self._clock.wall_ms()
        batch = build_batch([NewRecord(value=encode_record(each), timestamp=now) for each in records])
        self._flushed = asyncio.get_running_loop().create_future()
        self.log.append(batch, read_header(batch), leader_epoch=LEADER_EPOCH, now=now, is_client=False)
        self._flusher.mark_dirty(self)
        await self._flushed

    def _replay_from(self, offset: int) -> int:
        """Apply some batches; returns where to go on."""
        slice_ = self.log.read(offset, max_bytes=READ_BYTES, end_offset=self.log.flushed_offset)
        self.log.verify(slice_)
        data = slice_.read_bytes()
        records: list[MetadataRecord] = []
        for position, header in split_batches(data):
            for record in decode_records(data, header, position):
                if record.value is None:
                    raise InvariantError(f"metadata record at offset {record.offset} is empty")
                records.append(decode_record(record.value))
            offset = header.next_offset
        self.image = self.image.apply(records)
        return offset
