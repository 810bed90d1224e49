"""How the step ``mirror`` reaches its clusters: each password goes to the cluster that it is for."""

from pathlib import Path

import pytest

from penstock.spark.mirror.mirroring import MirrorPlan
from penstock.spark.pipelines.loading import load_pipeline
from penstock.spark.pipelines.steps.mirror import plan_of

LOGIN = "security.protocol: SASL_PLAINTEXT, sasl.mechanism: PLAIN, sasl.username: anna"
OURS = f"{LOGIN}, sasl.password: ours, request.timeout.ms: 5000, isolation.level: read_committed"


def planned(directory: Path, mirror: str) -> MirrorPlan:
    file = directory / "pipeline.yml"
    file.write_text(
        f"name: p\nstorage: s\nkafka: {{bootstrap.servers: 'ours:9092', {OURS}}}\n"
        f"flows:\n  copy:\n    mirror: {{from: 'theirs:9092', pattern: orders, {mirror}}}\n"
    )
    pipeline = load_pipeline(file)
    ending = pipeline.flows["copy"].ending
    assert ending is not None
    return plan_of(ending.options, pipeline.topic_options)


def test_cluster_of_the_pipeline_is_reached_as_the_pipeline_says(tmp_path: Path) -> None:
    plan = planned(tmp_path, "")

    assert plan.target.bootstrap_servers == "ours:9092"
    assert plan.target.librdkafka["sasl.password"] == "ours"
    assert plan.target.spark_options["kafka.request.timeout.ms"] == "5000"
    assert "kafka.isolation.level" not in plan.target.spark_options
    assert plan.source.spark_options == {"kafka.bootstrap.servers": "theirs:9092"}


@pytest.mark.parametrize("password", ["theirs", "${THEIR_PASSWORD}"])
def test_clusters_that_the_step_names_are_reached_as_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, password: str
) -> None:
    monkeypatch.setenv("THEIR_PASSWORD", "theirs")
    plan = planned(tmp_path, f"fromKafka: {{{LOGIN}, sasl.password: '{password}'}}, to: 'others:9092'")

    assert plan.source.librdkafka["sasl.password"] == "theirs"
    assert plan.target.spark_options == {"kafka.bootstrap.servers": "others:9092"}
    assert "theirs" not in repr(plan).replace("theirs:9092", "")
