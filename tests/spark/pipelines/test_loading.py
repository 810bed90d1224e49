"""A pipeline file as the values it becomes."""

from pathlib import Path

import pytest

from penstock.spark.pipelines.loading import load_pipeline
from penstock.spark.pipelines.model import OnFailure, OutputMode, Pipeline, ReadMode, Trigger, TriggerKind
from penstock.spark.pipelines.problems import Place

WHOLE = """
name: shop
storage: state
configuration: {spark.sql.shuffle.partitions: 4}
kafka: {bootstrap.servers: "${SERVERS:-a:9092}", client.id: "${WHO}"}
onFailure: continue
trigger: {processingTime: 5 seconds}
sources:
  orders:
    options: {subscribe: orders, startingOffsets: earliest, maxOffsetsPerTrigger: 1000}
    value: {schema: "id bigint, no double", keep: key, deadLetterTopic: dlq}
  customers: {options: {subscribe: customers}, read: table, refresh: 10 minutes}
views:
  big: SELECT * FROM orders WHERE no > 100
  clean:
    from: big
    steps:
      - filter: id IS NOT NULL
      - select: [id, 'no AS amount']
tables:
  kept: {from: clean, partitionBy: id, trigger: once}
sinks:
  out: {options: {topic: out}, key: id, headers: {h: "'x'"}}
flows:
  per_minute:
    from: clean
    steps:
      - join: {with: customers, on: id, how: left}
    outputMode: update
    sink: out
  files:
    sql: |
      SELECT *
      FROM Kept
    trigger: {availableNow: true}
    onFailure: stop
    configuration: {spark.sql.shuffle.partitions: 1}
    sink: {format: parquet, path: files, partitionBy: [id]}
"""


@pytest.fixture
def pipeline(tmp_path: Path) -> Pipeline:
    (tmp_path / "shop.yml").write_text(WHOLE)
    return load_pipeline(tmp_path / "shop.yml", environment={"WHO": "me"})


def test_head_of_the_file(pipeline: Pipeline, tmp_path: Path) -> None:
    assert pipeline.name == "shop"
    assert pipeline.storage == str(tmp_path / "state")
    assert pipeline.configuration == {"spark.sql.shuffle.partitions": "4"}
    assert pipeline.topic_options == {"kafka.bootstrap.servers": "a:9092", "kafka.client.id": "me"}
    assert pipeline.on_failure is OnFailure.CONTINUE
    assert pipeline.trigger == Trigger(TriggerKind.PROCESSING_TIME, "5 seconds")


def test_sources_with_their_values(pipeline: Pipeline, tmp_path: Path) -> None:
    orders = pipeline.sources["orders"]
    assert orders.format == "penstock"
    assert orders.options["maxOffsetsPerTrigger"] == "1000"
    assert orders.option_places["startingOffsets"] == Place(str(tmp_path / "shop.yml"), 10, 34)
    assert orders.value is not None
    assert orders.value.options["schema"] == "id bigint, no double"
    assert orders.value.options["keep"] == ("key",)
    assert orders.value.options["mode"] == "PERMISSIVE"
    assert pipeline.sources["customers"].read is ReadMode.TABLE
    assert pipeline.sources["customers"].refresh == "10 minutes"


def test_views_of_sql_and_of_steps(pipeline: Pipeline) -> None:
    assert pipeline.views["big"].query.sql == "SELECT * FROM orders WHERE no > 100"
    clean = pipeline.views["clean"].query
    assert clean.origin == "big"
    assert [(use.name, use.options) for use in clean.steps] == [
        ("filter", {"where": "id IS NOT NULL"}),
        ("select", {"columns": ("id", "no AS amount")}),
    ]


def test_table_has_a_flow_of_its_name(pipeline: Pipeline) -> None:
    assert pipeline.tables["kept"].partition_by == ("id",)
    assert pipeline.flows["kept"].target == "kept"
    assert pipeline.flows["kept"].trigger == Trigger(TriggerKind.ONCE)


def test_flow_into_a_sink_of_the_file(pipeline: Pipeline) -> None:
    flow = pipeline.flows["per_minute"]
    assert flow.target == "out"
    assert flow.output_mode is OutputMode.UPDATE
    assert pipeline.trigger_of(flow) == pipeline.trigger
    assert pipeline.on_failure_of(flow) is OnFailure.CONTINUE
    assert pipeline.sinks["out"].key == "id"
    assert pipeline.sinks["out"].headers == {"h": "'x'"}


def test_flow_with_a_sink_of_its_own(pipeline: Pipeline, tmp_path: Path) -> None:
    flow = pipeline.flows["files"]
    assert flow.target == "files"
    assert flow.query.sql_places == (("Kept", Place(str(tmp_path / "shop.yml"), 34, 12)),)
    assert pipeline.trigger_of(flow).ends
    assert pipeline.on_failure_of(flow) is OnFailure.STOP
    assert pipeline.sinks["files"].options == {"path": str(tmp_path / "files")}


def test_value_that_an_alias_repeats_is_filled_once(tmp_path: Path) -> None:
    (tmp_path / "shop.yml").write_text(
        "name: shop\nstorage: state\nsources: {in: {options: {subscribe: t}}}\n"
        "kafka: {client.id: &who '${WHO}', bootstrap.servers: *who}\n"
        "flows: {f: {from: in, sink: {options: {topic: out}}}}\n"
    )

    loaded = load_pipeline(tmp_path / "shop.yml", environment={"WHO": "${ELSE}", "ELSE": "x"})

    assert loaded.kafka == {"client.id": "${ELSE}", "bootstrap.servers": "${ELSE}"}


@pytest.mark.parametrize("schema", ["n:int", "n map<string, array<int>>", "n int COMMENT 'one, two'"])
def test_schema_of_a_regular_expression_is_read_as_all_schemas_are(schema: str, tmp_path: Path) -> None:
    (tmp_path / "shop.yml").write_text(
        "name: shop\nstorage: state\n"
        "sources: {in: {options: {subscribe: t}, value: "
        f'{{format: regex, pattern: "(?<n>.*)", schema: "{schema}"}}}}}}\n'
        "flows: {f: {from: in, sink: {options: {topic: out}}}}\n"
    )

    value = load_pipeline(tmp_path / "shop.yml").sources["in"].value

    assert value is not None
    assert value.options["schema"] == schema


def test_library_adds_what_it_defines(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "views.py").write_text(
        "from penstock.spark import pipelines as dp\n"
        "@dp.temporary_view\ndef numbers():\n    return spark.range(3)\n"
    )
    file = tmp_path / "p.yml"
    file.write_text(
        "name: p\nstorage: s\nlibraries: [{glob: {include: more/**}}]\n"
        "flows: {f: {sql: SELECT * FROM numbers, sink: {format: noop}}}\n"
    )

    pipeline = load_pipeline(file)

    assert pipeline.views["numbers"].query.function is not None
    assert pipeline.views["numbers"].place == Place(str(tmp_path / "more" / "views.py"), 2, 1)
