"""Topics that are read as they are whenever a micro-batch reads them: what makes a topic a table.

Spark plans a batch source once for each DataFrame: which offsets a task reads is then settled for as long as
the query runs. So here tasks are planned without offsets. Each of them looks up, when it runs, which
partitions there are, takes its share of them, and reads them from their first record to their last.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceReader, InputPartition

from penstock.spark.data_source import PenstockDataSource
from penstock.spark.options.source_options import SourceOptions, batch_options
from penstock.spark.reading.planning import plan_batch
from penstock.spark.reading.projection import wanted_columns
from penstock.spark.reading.rows import gathered, read_range
from penstock.spark.reading.worker_process import settle

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

FORMAT = "penstock-live"
_TASKS_MAX = 64


class LiveTopics(PenstockDataSource):
    """The data source; it has to be registered in the session."""

    @classmethod
    def name(cls) -> str:
        """What stands in ``format("...")``."""
        return FORMAT

    def reader(self, schema: "StructType") -> DataSourceReader:
        """For ``spark.read``."""
        return LiveReader(batch_options(self._given), wanted_columns(schema))


class LiveReader(DataSourceReader):
    """Plans how many tasks there are, and nothing else."""

    def __init__(self, options: SourceOptions, columns: Sequence[str]) -> None:
        self._options = options
        self._columns = tuple(columns)

    def partitions(self) -> Sequence[InputPartition]:
        """A task for each partition there is now, up to a limit; those made later are shared among them."""
        count = min(_TASKS_MAX, max(1, len(plan_batch(self._options))))
        return [InputPartition((number, count)) for number in range(count)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The rows of a task's partitions, as far as they go now."""
        settle()
        number, count = partition.value
        mine = [each for position, each in enumerate(plan_batch(self._options)) if position % count == number]
        return gathered(chain.from_iterable(read_range(self._options, each, self._columns) for each in mine))
