"""Built-in steps for pipelines in Python: ``dp.step(rows, "window", time="ts", ...)`` inside a decorated
function.

Options are checked by the same tables as those of files. Steps with a topic of their own for what leaves
sideways need a flow whose steps are known, and so a YAML file.
"""

import itertools
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from penstock.spark.pipelines.document import Document, node_of
from penstock.spark.pipelines.parsing.context import Reading
from penstock.spark.pipelines.parsing.steps import read_use
from penstock.spark.pipelines.problems import PipelineFileError, Place, Problem, suggestion
from penstock.spark.pipelines.steps import STEPS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.spark.pipelines.model import Holder
    from penstock.spark.pipelines.running.datasets import Datasets

_open: "list[tuple[Datasets, Holder, Iterator[int]]]" = []


@contextmanager
def building(datasets: "Datasets", holder: "Holder") -> Iterator[None]:
    """While a function of a pipeline file is called: whose steps are used there."""
    _open.append((datasets, holder, itertools.count()))
    try:
        yield
    finally:
        _open.pop()


def session_of_pipeline() -> "SparkSession | None":
    """The session of the pipeline whose function is being called, if one is.

    Whatever else runs in this process may have made another session the active one.
    """
    return _open[-1][0].spark if _open else None


def step(rows: "DataFrame", name: str, options: Mapping[str, Any] | None = None, **more: Any) -> "DataFrame":
    """The rows after a built-in step; options are keyword arguments, or a mapping for ``with`` and so on."""
    frame = sys._getframe(1)
    place = Place(frame.f_code.co_filename, frame.f_lineno, 1)
    if not _open:
        raise _mistake(
            place, "step() was called outside of a pipeline.", "Use it inside a decorated function."
        )
    found = STEPS.get(name)
    if found is None or found.is_ending:
        known = [each.name for each in STEPS.values() if not each.is_ending]
        raise _mistake(place, f"There is no step {name!r}.", suggestion(name, known))
    reading = Reading(Document(place.file))
    use = read_use(found, node_of({**(options or {}), **more}), reading)
    if use is None or len(reading.problems):
        raise PipelineFileError(Problem(place, each.message, each.hint) for each in reading.problems)
    if topic := found.side_topic(use.options):
        hint = "Write the flow in YAML, or filter the rows into a flow of their own."
        raise _mistake(place, f"A step in Python has no side output, such as to {topic!r}.", hint)
    datasets, holder, positions = _open[-1]
    return datasets.after_step(rows, use, datasets.context(holder, next(positions)))


def _mistake(place: Place, message: str, hint: str) -> PipelineFileError:
    return PipelineFileError([Problem(place, message, hint)])
