"""Which parts of which files tasks read: whole segments, or pieces of large ones that begin with a batch."""

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.analysis.segment_scan import SegmentPart, whole
from penstock.analysis.stored_partition import StoredSegment, find_partitions
from penstock.model.errors import CorruptLogError
from penstock.model.ids import TopicPartition
from penstock.spark.options.definition import OptionError
from penstock.spark.segments.options import FileOptions
from penstock.storage.batch_scan import GAPS_ANYWHERE, Continuity, walk
from penstock.storage.filesystem import FileSystem, PathMissingError


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """What one task reads."""

    partition: TopicPartition
    segment: StoredSegment
    part: SegmentPart

    @property
    def is_last(self) -> bool:
        """Whether the segment ends with it."""
        return self.part.end == self.segment.size


def plan_files(filesystem: FileSystem, options: FileOptions) -> list[FilePart]:
    """The parts of everything that is asked for, in the order of topics, partitions and offsets."""
    found = list(find_partitions(filesystem, options.data_directory))
    there = {stored.partition.topic for stored in found}
    for topic in sorted(options.topics - there):
        raise OptionError(f"There is no topic {topic!r} in {options.data_directory}.")
    return [
        FilePart(partition=stored.partition, segment=segment, part=part)
        for stored in found
        if _is_wanted(stored.partition.topic, options)
        for segment in stored.segments
        for part in _parts(filesystem, segment, options.part_bytes_max)
    ]


def _is_wanted(topic: str, options: FileOptions) -> bool:
    return topic in options.topics if options.topics else not topic.startswith("__")


def _parts(filesystem: FileSystem, segment: StoredSegment, bytes_max: int) -> Iterator[SegmentPart]:
    everything = whole(segment)
    if segment.size <= bytes_max:
        if segment.size:
            yield everything
        return
    start = everything
    for position, base_offset in _batches(filesystem, segment):
        if position - start.position >= bytes_max:
            yield start._replace(end=position)
            start = SegmentPart(position, segment.size, base_offset)
    yield start


def _batches(filesystem: FileSystem, segment: StoredSegment) -> Iterator[tuple[int, int]]:
    """Position and offset of each batch, by headers alone; whoever reads a bad one will say so."""
    try:
        file = filesystem.open(segment.path())
    except PathMissingError:
        return
    try:
        continuity = Continuity(segment.base_offset, GAPS_ANYWHERE)
        for position, header in walk(file, 0, segment.size, continuity):
            yield position, header.base_offset
    except CorruptLogError:
        return
    finally:
        file.close()
