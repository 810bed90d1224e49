"""Archives in pipeline files: kept by one flow, replayed by another."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.conftest import UniqueName
from tests.spark.archive.weeks import by_partition, consume, create_topic, produce, week
from tests.spark.pipelines.running.pipeline_runs import run_pipeline

from penstock.spark.pipelines.loading import load_pipeline
from penstock.spark.pipelines.problems import PipelineFileError
from penstock.spark.pipelines.steps import STEPS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEEPING = """
name: {topic}
storage: keeping
sources:
  all: {{options: {{subscribe: {topic}, startingOffsets: earliest, includeHeaders: "{headers}"}}}}
flows:
  keep: {{from: all, archive: archive}}
"""

REPLAYING = """
name: {topic}
storage: replaying
flows:
  again:
    replay: {{archive: archive, topic: {topic}, to: {target}, since: "1970-01-01"}}
"""


def written(directory: Path, text: str, **words: str) -> Path:
    path = directory / "pipeline.yml"
    path.write_text(text.format(**words))
    return path


@pytest.mark.spark
def test_pipelines_keep_and_replay(
    spark: "SparkSession", bootstrap: str, unique: UniqueName, tmp_path: Path
) -> None:
    topic, target = unique("kept"), unique("again")
    records = week(40, partitions=2, days=1)
    for name in (topic, target):
        create_topic(bootstrap, name, partitions=2)
    produce(bootstrap, topic, records)

    run_pipeline(spark, written(tmp_path, KEEPING, topic=topic, headers="true"), bootstrap)
    for _ in range(2):
        run_pipeline(spark, written(tmp_path, REPLAYING, topic=topic, target=target), bootstrap)

    assert consume(bootstrap, target, partitions=2) == by_partition(records, partitions=2)


@pytest.mark.spark
def test_records_without_headers_are_not_kept(
    spark: "SparkSession", bootstrap: str, unique: UniqueName, tmp_path: Path
) -> None:
    topic = unique("kept")
    create_topic(bootstrap, topic, partitions=1)

    ran = run_pipeline(
        spark, written(tmp_path, KEEPING, topic=topic, headers="false"), bootstrap, must_succeed=False
    )

    (failure,) = ran.outcome.failures
    assert "these have no headers: read the topic with includeHeaders=true" in str(failure)


@pytest.mark.parametrize("name", ["archive", "replay"])
def test_example_of_an_ending_can_be_read(name: str, tmp_path: Path) -> None:
    flow = "from: all\n    " if name == "archive" else ""
    text = f"name: p\nstorage: s\nsources:\n  all: {{options: {{subscribe: t}}}}\nflows:\n  f:\n    {flow}"
    path = tmp_path / "p.yml"
    path.write_text(text + STEPS[name].example)

    ending = load_pipeline(path).flows["f"].ending

    assert ending is not None
    assert ending.name == name


def test_time_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.yml"
    path.write_text("name: p\nstorage: s\nflows:\n  f:\n    replay: {topic: a, to: b, since: yesterday}")

    with pytest.raises(PipelineFileError, match=r"p\.yml:5:13: The time 'yesterday' of 'replay' is none"):
        load_pipeline(path)
