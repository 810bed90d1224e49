"""A prebuilt batch whose records carry the moment they were due, so that a reader knows how late it is.

Only the eight bytes of each stamp and the checksum change from one sending to the next.
"""

import struct
import time
from collections.abc import Sequence

from penstock.bench.prebuilt import CORRELATION_ID_AT, produce_request
from penstock.bench.topics import BenchPartition
from penstock.records.batch import write_crc
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord

_STAMP = struct.Struct(">q")
_MARK = b"\xa5\x5a\x12\xed\xfe\x81\x07\x3c"
_CORRELATION_ID = struct.Struct(">i")
STAMPED_RECORD_BYTES_MIN = _STAMP.size


class StampedBatch:
    """A produce request for one batch of ``count`` stamped records."""

    def __init__(
        self, partition: BenchPartition, *, count: int, record_bytes: int, acks: int, version: int
    ) -> None:
        value = _MARK + bytes(record_bytes - len(_MARK))
        now = int(time.time() * 1000)
        batch = bytes(build_batch([NewRecord(value=value, timestamp=now)] * count))
        frame = produce_request(partition, batch, acks=acks, version=version, correlation_id=0)
        self._frame = bytearray(frame)
        self._batch_at = frame.index(batch)
        self.batch_bytes = len(batch)
        self._stamps_at = _positions(batch)

    def stamped(self, due_ns: Sequence[int], *, correlation_id: int) -> bytearray:
        """The request with each record stamped with its due moment; valid until the next call."""
        frame, start = self._frame, self._batch_at
        _CORRELATION_ID.pack_into(frame, CORRELATION_ID_AT, correlation_id)
        for position, stamp in zip(self._stamps_at, due_ns, strict=True):
            _STAMP.pack_into(frame, start + position, stamp)
        write_crc(frame, self.batch_bytes, start)
        return frame

    def read_stamps(self, data: memoryview, position: int) -> list[int]:
        """The stamps of such a batch at ``position`` in what was fetched."""
        return [_STAMP.unpack_from(data, position + stamp_at)[0] for stamp_at in self._stamps_at]


def _positions(batch: bytes) -> list[int]:
    found, position = [], batch.find(_MARK)
    while position >= 0:
        found.append(position)
        position = batch.find(_MARK, position + 1)
    return found
