"""The names that queries use: sources, views and tables of a pipeline, made when they are first asked for.

Every dataset is also a temporary view of the session, so that SQL and functions find it by its name. A
function may read what is not made yet; Spark then names what it did not find, that is made, and the function
called anew.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.model.errors import PenstockError
from penstock.spark.pipelines.graph import canonical, datasets_read
from penstock.spark.pipelines.model import PENSTOCK, Flow, Holder, Pipeline, Query, ReadMode, StepUse
from penstock.spark.pipelines.python_steps import building
from penstock.spark.pipelines.running.checkpoints import Offsets
from penstock.spark.pipelines.running.failures import StepFailed
from penstock.spark.pipelines.running.refreshing import Refreshing
from penstock.spark.pipelines.running.sources import Narrowed, read_source
from penstock.spark.pipelines.running.storage import Storage, storage_of
from penstock.spark.pipelines.steps import STEPS
from penstock.spark.pipelines.steps.paths import local_path
from penstock.spark.pipelines.steps.step import StepContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NOT_FOUND = "TABLE_OR_VIEW_NOT_FOUND"


@contextmanager
def unstarted_datasets(
    spark: "SparkSession", pipeline: Pipeline, *, topic_options: Mapping[str, str]
) -> "Iterator[Datasets]":
    """Datasets for queries that are only looked at."""
    refreshing = Refreshing(now_ms=0)
    datasets = Datasets(
        spark, pipeline, storage_of(pipeline), topic_options=topic_options, refreshing=refreshing
    )
    try:
        yield datasets
    finally:
        datasets.close()
        refreshing.close()


class Datasets:
    """What can be read in one run of a pipeline."""

    def __init__(
        self,
        spark: "SparkSession",
        pipeline: Pipeline,
        storage: Storage,
        *,
        topic_options: Mapping[str, str],
        refreshing: Refreshing,
        starts: Mapping[str, Offsets] | None = None,
        narrowed: Mapping[str, Narrowed] | None = None,
    ) -> None:
        self.spark = spark
        self.pipeline = pipeline
        self.topic_options = topic_options
        self._storage = storage
        self._refreshing = refreshing
        self._starts = starts or {}
        self._narrowed = narrowed or {}
        self._made: dict[str, DataFrame] = {}
        self._being_made: list[str] = []

    def get(self, name: str) -> "DataFrame":
        """The rows of a source, view or table."""
        known = canonical(self.pipeline, name)
        if known is None:
            return self.spark.table(name)
        if known not in self._made:
            self._being_made.append(known)
            try:
                made = self._make(known)
            finally:
                self._being_made.pop()
            made.createOrReplaceTempView(known)
            self._made[known] = made
        return self._made[known]

    def rows_of(self, holder: Holder, query: Query) -> "DataFrame":
        """The rows of a query; ``holder`` is the flow or view it belongs to."""
        for name in datasets_read(self.pipeline, query):
            self.get(name)
        if query.function is not None:
            rows = self._called(holder, query)
        elif query.sql:
            rows = self._in_step(holder, "sql", lambda: self.spark.sql(query.sql))
        else:
            rows = self.get(query.origin)
        return self.after_steps(rows, holder, query.steps)

    def after_steps(
        self, rows: "DataFrame", holder: Holder, uses: Sequence[StepUse], *, carried: tuple[str, ...] = ()
    ) -> "DataFrame":
        """The rows after some steps."""
        for position, use in enumerate(uses):
            rows = self.after_step(rows, use, self.context(holder, position, carried=carried))
        return rows

    def after_step(self, rows: "DataFrame", use: StepUse, context: StepContext) -> "DataFrame":
        """The rows after one step; what goes wrong names it."""
        build = STEPS[use.name].build
        assert build is not None, f"{use.name} is an ending"
        step = f"{context.position + 1} ({use.name})"
        return self._in_step(context.holder, step, lambda: build(rows, use.options, context))

    def context(self, holder: Holder, position: int, *, carried: tuple[str, ...] = ()) -> StepContext:
        """What a step of this pipeline may ask for."""
        return StepContext(
            spark=self.spark,
            pipeline=self.pipeline.name,
            holder=holder,
            position=position,
            dataset=self.get,
            topic_options=self.topic_options,
            refreshing=self._refreshing,
            directory=str(Path(self.pipeline.file).resolve().parent),
            carried=carried,
        )

    def forget_streams(self) -> None:
        """Have streams made anew from here on, so that no two flows share one.

        Spark takes notes in the plan of a query while it runs. Where another query has parts of that plan
        and is just being sent to its tasks, it fails: "Task not serializable".
        """
        for name in [name for name, rows in self._made.items() if rows.isStreaming]:
            self.spark.catalog.dropTempView(name)
            del self._made[name]

    def close(self) -> None:
        """Take the names out of the session again."""
        for name in self._made:
            self.spark.catalog.dropTempView(name)

    def _make(self, name: str) -> "DataFrame":
        if name in self.pipeline.sources:
            return self._source(name)
        if name in self.pipeline.views:
            view = self.pipeline.views[name]
            return self.rows_of(view.holder, view.query)
        return self._table(name)

    def _source(self, name: str) -> "DataFrame":
        source = self.pipeline.sources[name]
        rows = read_source(
            self.spark,
            source,
            self.topic_options,
            start=self._starts.get(name),
            narrowed=self._narrowed.get(name),
        )
        if source.value is not None:
            rows = self.after_step(rows, source.value, self.context(source.holder, 0))
        if source.read is ReadMode.STREAM or source.format != PENSTOCK:
            return rows
        return self._refreshing.refreshed(rows, source.refresh)

    def _table(self, name: str) -> "DataFrame":
        """The rows that all flows into a table have appended, as a stream."""
        parts = [self._table_part(name, flow) for flow in self.pipeline.flows_into(name)]
        rows = parts[0]
        for part in parts[1:]:
            rows = rows.unionByName(part)
        return rows

    def _table_part(self, name: str, flow: Flow) -> "DataFrame":
        schema = self.rows_of(flow.holder, flow.query).schema
        path = self._storage.table(name, flow.name)
        if (directory := local_path(path)) is not None:
            directory.mkdir(parents=True, exist_ok=True)
        table = self.pipeline.tables[name]
        return self.spark.readStream.format(table.format).schema(schema).load(path)

    def _called(self, holder: Holder, query: Query) -> "DataFrame":
        """What a function returns, after making whatever it reads."""
        from pyspark.errors import AnalysisException

        assert query.function is not None, "not a query of a function"
        for _ in range(len(self.pipeline.datasets) + 1):
            try:
                with building(self, holder):
                    return query.function()
            except AnalysisException as error:
                missing = self._missing(error)
                if missing is None:
                    raise StepFailed(holder, "the function", error) from error
            except Exception as error:
                raise StepFailed(holder, "the function", error) from error
            self.get(missing)
        raise StepFailed(holder, "the function", PenstockError("What it reads cannot be made."))

    def _missing(self, error: "Exception") -> str | None:
        """The dataset of ours that Spark did not find and that is not made yet."""
        condition = getattr(error, "getCondition", lambda: None)()
        if condition is None or not condition.startswith(_NOT_FOUND):
            return None
        parameters: dict[str, str] = getattr(error, "getMessageParameters", dict)() or {}
        name = canonical(self.pipeline, parameters.get("relationName", "").strip("`"))
        return name if name is not None and name not in self._made and name not in self._being_made else None

    def _in_step(self, holder: Holder, step: str, build: Callable[[], "DataFrame"]) -> "DataFrame":
        try:
            return build()
        except StepFailed:
            raise
        except Exception as error:
            raise StepFailed(holder, step, error) from error
