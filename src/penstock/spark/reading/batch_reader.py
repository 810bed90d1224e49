"""What Spark calls to read topics as a batch."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition

from penstock.spark.offsets.packing import Pack
from penstock.spark.offsets.pushdown import EVERYTHING, take_filters
from penstock.spark.offsets.ranges import OffsetRange
from penstock.spark.options.source_options import SourceOptions
from penstock.spark.reading.planning import plan_batch
from penstock.spark.reading.rows import gathered, read_range
from penstock.spark.reading.sizing import tasks_of
from penstock.spark.reading.worker_process import settle


class BatchReader(DataSourceReader):
    """Plans in one process, and reads in many: it is sent to all of them."""

    def __init__(self, options: SourceOptions, columns: Sequence[str]) -> None:
        self._options = options
        self._columns = tuple(columns)
        self._bounds = EVERYTHING

    def partitions(self) -> Sequence[InputPartition]:
        """One for each task."""
        return input_partitions(plan_batch(self._options, self._bounds), self._options)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The rows of one task, as Arrow batches."""
        return read_partition(partition, self._options, self._columns)


class FilteringBatchReader(BatchReader):
    """A reader that takes filters; Spark refuses it where it is not set to offer any."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Read less; the filters that are returned are left to Spark."""
        self._bounds, left = take_filters(filters)
        return left


def input_partitions(ranges: Sequence[OffsetRange], options: SourceOptions) -> list[InputPartition]:
    """The ranges, cut and packed into tasks of a good size."""
    return [InputPartition(pack) for pack in tasks_of(ranges, options)]


def read_partition(
    partition: InputPartition, options: SourceOptions, columns: Sequence[str]
) -> Iterator[Any]:
    """The rows of one task; Spark makes up one without value when there are none."""
    settle()
    pack: Pack = partition.value or ()
    if len(pack) == 1:
        return read_range(options, pack[0], columns)
    return gathered(chain.from_iterable(read_range(options, wanted, columns) for wanted in pack))
