from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.conftest import UniqueName
from tests.spark.conftest import run_to_end

from penstock.spark.sessions.kafka_format import undo, use_kafka_format

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

SERVERS = "kafka.bootstrap.servers"


@pytest.fixture
def alias() -> Iterator[None]:
    use_kafka_format()
    yield
    undo()


def read(spark: "SparkSession", bootstrap: str, topic: str) -> "DataFrame":
    reader = spark.read.format("kafka").option(SERVERS, bootstrap).option("subscribe", topic)
    return reader.load().selectExpr("CAST(value AS STRING) AS value")


def values(rows: "DataFrame") -> list[str]:
    return sorted(row["value"] for row in rows.collect())


@pytest.mark.usefixtures("alias")
def test_program_for_the_kafka_connector_works_as_it_is(
    spark: "SparkSession", bootstrap: str, unique: UniqueName, checkpoint: str
) -> None:
    first, second = unique(), unique()
    rows = spark.sql("SELECT CAST(id AS STRING) AS value FROM range(3)")
    rows.write.format("kafka").option(SERVERS, bootstrap).option("topic", first).save()
    rows.write.option(SERVERS, bootstrap).save(format="kafka", mode="append", topic=first)

    assert values(read(spark, bootstrap, first)) == ["0", "0", "1", "1", "2", "2"]

    stream = spark.readStream.format("KAFKA").option(SERVERS, bootstrap).option("subscribe", first)
    copied = stream.option("startingOffsets", "earliest").load().select("value").writeStream
    sink = copied.format("kafka").option(SERVERS, bootstrap).option("topic", second)
    run_to_end(sink.option("checkpointLocation", checkpoint))

    assert len(values(read(spark, bootstrap, second))) == 6


@pytest.mark.usefixtures("alias")
@pytest.mark.parametrize("mode", ["overwrite", "ignore"])
def test_modes_that_kafka_does_not_have_are_not_taken_for_append(
    spark: "SparkSession", bootstrap: str, unique: UniqueName, mode: str
) -> None:
    topic = unique()
    rows = spark.sql("SELECT 'x' AS value")
    with pytest.raises(Exception, match=r"(?i)mode|overwrite|ignore"):
        rows.write.mode(mode).format("kafka").option(SERVERS, bootstrap).option("topic", topic).save()


@pytest.mark.usefixtures("alias")
def test_other_formats_are_left_alone(spark: "SparkSession", tmp_path: object) -> None:
    path = f"{tmp_path}/rows"
    spark.range(3).write.format("parquet").save(path)
    with pytest.raises(Exception, match="PATH_ALREADY_EXISTS"):
        spark.range(3).write.format("parquet").save(path)
    assert spark.read.format("parquet").load(path).count() == 3


def test_alias_is_only_there_when_asked_for_and_can_be_taken_back(spark: "SparkSession") -> None:
    from pyspark.sql import DataFrameReader, DataFrameWriter

    before = [DataFrameReader.format, DataFrameWriter.format, DataFrameWriter.mode, DataFrameWriter.save]
    first = use_kafka_format()
    second = use_kafka_format()
    second()
    first()

    after = [DataFrameReader.format, DataFrameWriter.format, DataFrameWriter.mode, DataFrameWriter.save]
    assert after == before
    with pytest.raises(Exception, match="KAFKA"):
        spark.read.format("kafka").load()
