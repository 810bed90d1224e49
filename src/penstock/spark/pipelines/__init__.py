"""Pipelines as files: sources, steps, flows and sinks, checked before Spark starts and run by it.

``model`` is what a pipeline is, ``loading`` reads one from YAML or Python, ``steps`` has the built-in steps,
``running`` makes Spark run it and ``reporting`` tells how that goes. Python files of pipelines say
``from penstock.spark import pipelines as dp`` and use the names below, which are those of Spark's Declarative
Pipelines. Importing this does not import Spark.
"""

from penstock.spark.pipelines.definitions import (
    append_flow,
    create_sink,
    create_streaming_table,
    pipeline,
    table,
    temporary_view,
)
from penstock.spark.pipelines.python_steps import step

__all__ = [
    "append_flow",
    "create_sink",
    "create_streaming_table",
    "pipeline",
    "step",
    "table",
    "temporary_view",
]
