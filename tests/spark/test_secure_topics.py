"""Topics behind TLS and a login, read and written by batches and streams, with no secret written down."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.spark.conftest import run_to_end
from tests.wire_client.security.certificates import KEY_PASSWORD, Authority
from tests.wire_client.security.front import USERS, Front, guarded_broker

from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Connection
from penstock.wire_client.security.security import Login, Mechanism, Security, SecurityProtocol
from penstock.wire_client.topic_creation import ensure_topic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

PASSWORD = USERS["bert"]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def front(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    with guarded_broker(tmp_path_factory.mktemp("broker"), authority, lifetime_ms=2_000) as front:
        yield front


@pytest.fixture(scope="module")
def _topics(front: Front, authority: Authority) -> None:
    login = Login(mechanism=Mechanism.PLAIN, username="bert", password=PASSWORD)
    security = Security(
        protocol=SecurityProtocol.SASL_SSL, trusted=authority.certificate.read_text(), login=login
    )
    with Cluster.connect([front.address], connect=partial(Connection, security=security)) as cluster:
        for topic in ("orders", "copies"):
            ensure_topic(cluster, topic, configs={}, partition_count=2)


def options(front: Front, authority: Authority, **more: str) -> dict[str, str]:
    chain, key = authority.sign("client", is_encrypted=True)
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    return {
        "kafka.bootstrap.servers": str(front.address),
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "SCRAM-SHA-512",
        "kafka.sasl.jaas.config": f'{module} required username="bert" password="{PASSWORD}";',
        "kafka.ssl.keystore.type": "PEM",
        "kafka.ssl.keystore.certificate.chain": chain.read_text(),
        "kafka.ssl.keystore.key": key.read_text(),
        "kafka.ssl.key.password": KEY_PASSWORD,
        "kafka.ssl.truststore.type": "PEM",
        "kafka.ssl.truststore.location": str(authority.certificate),
        **more,
    }


def secrets_in(text: str) -> list[str]:
    return [secret for secret in (PASSWORD, KEY_PASSWORD, "BEGIN PRIVATE KEY") if secret in text]


def shown_plans(spark: "SparkSession") -> str:
    """All that Spark would show of the queries so far, on its pages and in its log of events."""
    session: Any = spark
    found = session._jsparkSession.sharedState().statusStore().executionsList()
    return "\n".join(found.apply(number).physicalPlanDescription() for number in range(found.size()))


def write(rows: "DataFrame", given: dict[str, str]) -> None:
    rows.write.format("penstock").options(**given, topic="orders").mode("append").save()


def values(spark: "SparkSession", topic: str, given: dict[str, str]) -> list[str]:
    reader = spark.read.format("penstock").options(**given).option("subscribe", topic)
    rows = reader.option("kafka.isolation.level", "read_committed").load()
    assert not secrets_in(rows._jdf.queryExecution().toString())
    return sorted(row.value for row in rows.selectExpr("CAST(value AS STRING) value").collect())


@pytest.mark.usefixtures("_topics")
def test_topics_are_read_and_written_by_batches_and_streams(
    spark: "SparkSession",
    front: Front,
    authority: Authority,
    checkpoint: str,
    request: pytest.FixtureRequest,
) -> None:
    spark.conf.set("spark.sql.ui.explainMode", "extended")
    request.addfinalizer(lambda: spark.conf.unset("spark.sql.ui.explainMode"))
    given = options(front, authority)
    written = [f"{number:03}" for number in range(60)]

    for first, last in ((0, 30), (30, 60)):
        write(spark.range(first, last).selectExpr("lpad(CAST(id AS STRING), 3, '0') value"), given)
        stream = spark.readStream.format("penstock").options(**given).option("subscribe", "orders")
        rows = stream.option("startingOffsets", "earliest").load().selectExpr("key", "value")
        copying = rows.writeStream.format("penstock").options(**given, topic="copies")
        query = run_to_end(copying.option("checkpointLocation", checkpoint))
        assert not secrets_in("".join(progress.json for progress in query.recentProgress))

    assert values(spark, "orders", given) == written
    assert values(spark, "copies", given) == written
    assert set(front.logins) == {"PLAIN", "SCRAM-SHA-512"}
    kept = [path for path in Path(checkpoint).rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if secrets_in(path.read_text("latin-1"))]
    plans = shown_plans(spark)
    assert "kafka.ssl.key.password" in plans
    assert not secrets_in(plans)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (
            "kafka.sasl.jaas.config",
            "x.ScramLoginModule required username='bert' password='guess';",
            "log in as",
        ),
        ("kafka.security.protocol", "SASL_PLAINTEXT", "kafka.ssl.truststore.location has no effect"),
        ("kafka.ssl.truststore.type", "JKS", "keytool"),
    ],
)
def test_what_is_wrong_is_said_when_the_query_is_made_or_planned(
    spark: "SparkSession",
    front: Front,
    authority: Authority,
    name: str,
    value: str,
    said: str,
) -> None:
    given = options(front, authority, **{name: value})
    with pytest.raises(Exception, match=said) as caught:
        spark.read.format("penstock").options(**given).option("subscribe", "orders").load().count()
    assert PASSWORD not in str(caught.value)
    assert "guess" not in str(caught.value)
