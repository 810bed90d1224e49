"""How a query tells, for each micro-batch, how many rows left it sideways.

Spark counts them in passing (``observe``) and reports the count with the progress of the batch. So side
outputs cost a second look at a batch only if there is something to see.
"""

from typing import TYPE_CHECKING

from penstock.spark.pipelines.steps.step import StepContext

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

COUNT = "count"
_PREFIX = "side_"


def metric_name(label: str) -> str:
    """Under which name a use of a step reports."""
    return f"{_PREFIX}{label}"


def observed(frame: "DataFrame", is_aside: "Column", context: StepContext) -> "DataFrame":
    """The same rows; those that meet the condition are counted."""
    from pyspark.sql import functions as F

    return frame.observe(metric_name(context.label), F.count_if(is_aside).alias(COUNT))
