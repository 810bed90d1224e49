"""What Spark calls to read stored batches, from files or from brokers."""

import logging
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from pyspark.sql.datasource import DataSourceReader, InputPartition

from penstock.analysis.segment_scan import SegmentScan
from penstock.model.errors import CorruptLogError
from penstock.records.batch import crc_matches, split_batches
from penstock.spark.columns.batches import FoundBatch, Window
from penstock.spark.columns.errors import Origin
from penstock.spark.offsets.packing import Pack
from penstock.spark.offsets.ranges import OffsetRange
from penstock.spark.reading.clusters import borrowed_cluster
from penstock.spark.reading.fetching import Fetched, Fetching
from penstock.spark.reading.planning import plan_batch
from penstock.spark.reading.rows import gathered, slices
from penstock.spark.reading.sizing import tasks_of
from penstock.spark.reading.worker_process import settle
from penstock.spark.segments.batch_rows import Place, batch_rows
from penstock.spark.segments.options import BrokerOptions, FileOptions
from penstock.spark.segments.parts import FilePart, plan_files
from penstock.storage.filesystem import PathMissingError
from penstock.storage.read_only_filesystem import ReadOnlyFileSystem

CHUNK_BYTES = 4 * 1024 * 1024
"""Read at once from a file: some ten thousand small records."""

_log = logging.getLogger(__name__)


class FilesReader(DataSourceReader):
    """Reads segments of a data directory, which every worker must see under the same path."""

    def __init__(self, options: FileOptions, columns: Sequence[str]) -> None:
        self._options = options
        self._columns = tuple(columns)

    def partitions(self) -> Sequence[InputPartition]:
        """One for each segment, several for a large one."""
        return [InputPartition(part) for part in plan_files(ReadOnlyFileSystem(), self._options)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The rows of one part, as Arrow batches."""
        settle()
        if partition.value is not None:
            yield from read_part(partition.value, self._options, self._columns)


class BrokersReader(DataSourceReader):
    """Fetches what brokers have stored, batch for batch."""

    def __init__(self, options: BrokerOptions, columns: Sequence[str]) -> None:
        self._options = options
        self._columns = tuple(columns)

    def partitions(self) -> Sequence[InputPartition]:
        """One for each task."""
        source = self._options.source
        return [InputPartition(pack) for pack in tasks_of(plan_batch(source), source)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The rows of one task, as Arrow batches."""
        settle()
        pack: Pack = partition.value or ()
        return gathered(
            chain.from_iterable(fetch_range(wanted, self._options, self._columns) for wanted in pack)
        )


def read_part(wanted: FilePart, options: FileOptions, columns: Sequence[str]) -> Iterator[Any]:
    """The rows of a part of a file. One that is gone has been deleted by its broker; damage raises."""
    path = wanted.segment.path()
    place = _place(wanted, path)
    scan = SegmentScan(ReadOnlyFileSystem(), wanted.segment, wanted.part)
    try:
        for run in scan.runs(chunk_bytes=CHUNK_BYTES):
            batches = [
                FoundBatch(position - run.position, header)
                for position, header in run.batches
                if options.include_control or not header.is_control
            ]
            for rows in batch_rows(run.data, batches, place=place, wanted=columns):
                yield from slices(rows)
    except PathMissingError:
        _log.warning("%s was removed before it could be read.", path)
    if scan.tail is not None and (scan.tail.is_damage or not wanted.is_last):
        raise CorruptLogError(
            f"{path}, position {scan.tail.position}: {scan.tail.reason}. "
            "See all damage with penstock storage verify --data-dir"
        )


def fetch_range(wanted: OffsetRange, options: BrokerOptions, columns: Sequence[str]) -> Iterator[Any]:
    """The rows of a range of offsets, as brokers have stored them."""
    origin = Origin(topic=wanted.partition.topic, partition=wanted.partition.partition)
    with borrowed_cluster(options.source.client) as cluster:
        for fetched in Fetching(cluster, options.source, wanted).answers():
            window = Window(
                first_offset=fetched.first_offset, end_offset=min(fetched.next_offset, wanted.end)
            )
            batches = list(_fetched_batches(fetched, origin, options))
            for rows in batch_rows(
                fetched.records, batches, place=Place(origin=origin), wanted=columns, window=window
            ):
                yield from slices(rows)


def _fetched_batches(fetched: Fetched, origin: Origin, options: BrokerOptions) -> Iterator[FoundBatch]:
    for position, header in split_batches(fetched.records):
        if options.source.checks_crcs and not crc_matches(fetched.records, header, position):
            raise origin.unreadable(header.base_offset, "The batch fails its checksum.")
        if options.include_control or not header.is_control:
            yield FoundBatch(position, header)


def _place(wanted: FilePart, path: str) -> Place:
    origin = Origin(topic=wanted.partition.topic, partition=wanted.partition.partition)
    return Place(origin=origin, segment=path)
