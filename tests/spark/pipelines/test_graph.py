"""How the parts of a pipeline hang together."""

from pathlib import Path

import pytest

from penstock.spark.pipelines.graph import all_read, levels, side_outputs
from penstock.spark.pipelines.loading import load_pipeline
from penstock.spark.pipelines.model import Pipeline

FILE = """
name: p
storage: s
sources:
  clicks:
    options: {subscribe: clicks}
    value: {schema: a int, deadLetterTopic: dlq}
views:
  good:
    from: clicks
    steps:
      - filter: a > 0
      - dead_letters: {where: a > 9, topic: many}
tables:
  first: {from: good}
  second: {sql: SELECT * FROM FIRST}
flows:
  last: {sql: SELECT * FROM second, sink: {format: noop}}
  other:
    from: good
    steps:
      - window: {time: t, size: 1 hour, aggregate: {n: count(*)}, lateTopic: late}
    sink: {format: noop}
"""


@pytest.fixture
def pipeline(tmp_path: Path) -> Pipeline:
    (tmp_path / "p.yml").write_text(FILE)
    return load_pipeline(tmp_path / "p.yml")


def test_all_read_goes_through_views_and_ends_at_tables(pipeline: Pipeline) -> None:
    assert all_read(pipeline, pipeline.flows["other"].query) == {"good", "clicks"}
    assert all_read(pipeline, pipeline.flows["last"].query) == {"second"}


def test_levels_put_flows_behind_those_that_fill_their_tables(pipeline: Pipeline) -> None:
    rounds = levels(pipeline, list(pipeline.flows.values()))

    assert [sorted(flow.name for flow in each) for each in rounds] == [
        ["first", "other"],
        ["second"],
        ["last"],
    ]


def test_side_output_that_flows_share_belongs_to_the_first(pipeline: Pipeline) -> None:
    owned = {name: [each.label for each in outputs] for name, outputs in side_outputs(pipeline).items()}

    assert owned == {
        "first": ["source_clicks_0", "view_good_1"],
        "second": [],
        "last": [],
        "other": ["flow_other_0"],
    }


def test_side_output_knows_the_way_from_its_source(pipeline: Pipeline) -> None:
    (late,) = side_outputs(pipeline)["other"]

    assert late.topic == "late"
    assert late.source is pipeline.sources["clicks"]
    assert [(holder.name, position, use.name) for holder, position, use in late.before] == [
        ("clicks", 0, "parse"),
        ("good", 0, "filter"),
        ("good", 1, "dead_letters"),
    ]


NAMESAKES = """
name: p
storage: s
sources:
  clicks:
    options: {subscribe: clicks}
    value: {schema: a int, deadLetterTopic: dlq}
  flow_clicks:
    options: {subscribe: others}
    value: {schema: a int, deadLetterTopic: dlq}
flows:
  clicks:
    from: clicks
    steps:
      - dead_letters: {where: a > 9, topic: many}
    sink: {format: noop}
  flow_clicks: {from: flow_clicks, sink: {format: noop}}
"""


def test_labels_tell_a_flow_from_a_source_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "p.yml").write_text(NAMESAKES)

    owned = side_outputs(load_pipeline(tmp_path / "p.yml"))

    labels = [each.label for outputs in owned.values() for each in outputs]
    assert len(labels) == 3
    assert len(set(labels)) == 3, labels
