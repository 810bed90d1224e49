"""Pipelines written in Python."""

from pathlib import Path

import pytest

from penstock.spark import pipelines as dp
from penstock.spark.pipelines.loading import load_pipeline
from penstock.spark.pipelines.model import OutputMode, Pipeline, Trigger, TriggerKind
from penstock.spark.pipelines.problems import PipelineFileError

IMPORT = "from penstock.spark import pipelines as dp\n"
WHOLE = """
from penstock.spark import pipelines as dp

dp.pipeline(name="shop", storage="state", trigger={"processingTime": "5 seconds"})
dp.create_sink("out", "penstock", {"topic": "out"}, key="id", value={"columns": ["id"]})
dp.create_streaming_table("both", partition_cols=["day"])

@dp.temporary_view
def orders():
    return spark.readStream.format("rate").load()

@dp.table(name="kept", spark_conf={"spark.sql.shuffle.partitions": "1"})
def _kept():
    return spark.readStream.table("orders")

@dp.append_flow(target="out", output_mode="update", trigger="availableNow")
def totals():
    return spark.sql("SELECT count(*) FROM orders")

@dp.append_flow(target="both", name="first")
def _first():
    return spark.readStream.table("orders")
"""


def load(tmp_path: Path, text: str) -> Pipeline:
    file = tmp_path / "shop.py"
    file.write_text(text)
    return load_pipeline(file)


def test_python_file_becomes_the_same_values_as_yaml(tmp_path: Path) -> None:
    pipeline = load(tmp_path, WHOLE)

    assert (pipeline.name, pipeline.storage) == ("shop", str(tmp_path / "state"))
    assert pipeline.trigger == Trigger(TriggerKind.PROCESSING_TIME, "5 seconds")
    assert set(pipeline.views) == {"orders"}
    assert pipeline.flows["kept"].target == "kept"
    assert pipeline.flows["kept"].configuration == {"spark.sql.shuffle.partitions": "1"}
    assert pipeline.flows["totals"].output_mode is OutputMode.UPDATE
    assert pipeline.flows["totals"].trigger == Trigger(TriggerKind.AVAILABLE_NOW)
    assert pipeline.flows["first"].target == "both"
    assert pipeline.tables["both"].partition_by == ("day",)
    sink = pipeline.sinks["out"]
    assert (sink.key, sink.options) == ("id", {"topic": "out"})
    assert sink.value == {"format": "json", "columns": ("id",), "options": {}}


def test_python_file_without_a_head_is_named_after_itself(tmp_path: Path) -> None:
    pipeline = load(
        tmp_path, "\n".join(line for line in WHOLE.splitlines() if not line.startswith("dp.pipeline"))
    )

    assert (pipeline.name, pipeline.storage) == ("shop", str(tmp_path / ".penstock" / "shop"))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("x = 1 +\n", 1, "This is no Python"),
        ("x = 1\nx.y\n", 2, "cannot be loaded: AttributeError"),
        ("spark.range(3)\n", 1, "use spark.range inside a decorated function"),
        (f"{IMPORT}dp.create_sink('s', 'penstock', keys='x')\n", 2, "no key 'keys'"),
        (f"{IMPORT}dp.pipeline(nam='x')\n", 2, "no key 'nam'"),
        (f"{IMPORT}dp.pipeline()\ndp.pipeline()\n", 3, "called twice"),
        (f"{IMPORT}dp.append_flow(target='s', output_mode='x')\n", 2, "'x' must be one of"),
        (f"{IMPORT}dp.append_flow(target='s', trigger='x')\n", 2, "'x' is no trigger"),
        (f"{IMPORT}dp.table(cluster_by=['x'])\n", 2, "cluster_by has no meaning"),
        (f"{IMPORT}dp.create_sink('s', 'noop')\ndp.create_sink('s', 'noop')\n", 3, "already a sink 's'"),
        (f"{IMPORT}\n@dp.append_flow(target='nobody')\ndef f(): ...\n", 3, "writes to 'nobody'"),
    ],
)
def test_mistake_in_python_is_told_with_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(PipelineFileError) as caught:
        load(tmp_path, text)

    assert line in [problem.place.line for problem in caught.value.problems if message in problem.message]


def test_decorators_outside_of_a_pipeline_say_how_to_run_it() -> None:
    with pytest.raises(PipelineFileError, match="penstock pipeline run FILE"):
        dp.create_sink("s", "noop")
