"""The segments of partitions, one a line."""

from collections.abc import Iterable, Sequence

from penstock.analysis.segment_outline import SegmentOutline, outline
from penstock.analysis.stored_partition import StoredPartition
from penstock.cli.instants import format_instant
from penstock.cli.output import print_table
from penstock.cli.sizes import format_bytes
from penstock.model.ids import TopicPartition
from penstock.storage.filesystem import FileSystem, PathMissingError

Outlined = tuple[TopicPartition, SegmentOutline]


def outlines(filesystem: FileSystem, partitions: Iterable[StoredPartition]) -> list[Outlined]:
    """What the headers of each segment say; one that was removed meanwhile is left out."""
    found: list[Outlined] = []
    for partition in partitions:
        for segment in partition.segments:
            try:
                found.append((partition.partition, outline(filesystem, segment)))
            except PathMissingError:
                continue
    return found


def print_outlines(found: Sequence[Outlined]) -> None:
    """A table, and why some of a file could not be read."""
    rows = [
        (
            partition.topic,
            partition.partition,
            each.base_offset,
            "-" if each.last_offset is None else each.last_offset,
            f"{each.records:,}",
            f"{each.batches:,}",
            format_bytes(each.bytes),
            format_bytes(each.index_bytes),
            format_instant(each.earliest_ms),
            format_instant(each.latest_ms),
            "newest" if each.is_newest else "",
        )
        for partition, each in found
    ]
    columns = ("TOPIC", "PARTITION", "FIRST", "LAST", "RECORDS", "BATCHES", "BYTES", "INDEXES")
    print_table((*columns, "EARLIEST", "LATEST", ""), rows, numbers=range(1, 8))
    for _, each in found:
        if each.note:
            print(f"Note: {each.note}")
