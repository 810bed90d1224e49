"""A stored segment in one line: its offsets and times, found by reading headers alone."""

from dataclasses import asdict, dataclass
from typing import Any

from penstock.analysis.stored_partition import StoredSegment
from penstock.model.errors import CorruptLogError
from penstock.storage.batch_scan import GAPS_ANYWHERE, Continuity, walk
from penstock.storage.filesystem import FileSystem


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentOutline:
    """What the headers of a segment's batches say."""

    base_offset: int
    last_offset: int | None
    """None in an empty segment."""
    batches: int
    records: int
    bytes: int
    index_bytes: int
    earliest_ms: int | None
    latest_ms: int | None
    is_newest: bool
    note: str
    """Why the rest of the file could not be read; empty when all was."""

    def as_json(self) -> dict[str, Any]:
        """The fields under their names."""
        return asdict(self)


def outline(filesystem: FileSystem, segment: StoredSegment) -> SegmentOutline:
    """Walk over the headers; checksums are not compared."""
    batches = records = 0
    last_offset: int | None = None
    earliest: int | None = None
    latest: int | None = None
    note = ""
    file = filesystem.open(segment.path())
    try:
        continuity = Continuity(segment.base_offset, GAPS_ANYWHERE)
        for _, header in walk(file, 0, segment.size, continuity):
            batches += 1
            records += header.record_count
            last_offset = header.last_offset
            if header.max_timestamp >= 0:
                earliest = header.base_timestamp if earliest is None else min(earliest, header.base_timestamp)
                latest = header.max_timestamp if latest is None else max(latest, header.max_timestamp)
    except CorruptLogError as error:
        note = f"{error}."
    finally:
        file.close()
    return SegmentOutline(
        base_offset=segment.base_offset,
        last_offset=last_offset,
        batches=batches,
        records=records,
        bytes=segment.size,
        index_bytes=segment.index_bytes,
        earliest_ms=earliest,
        latest_ms=latest,
        is_newest=segment.is_newest,
        note=note,
    )
