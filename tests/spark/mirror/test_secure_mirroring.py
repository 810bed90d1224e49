"""A mirror from a cluster behind TLS and a login to a plain one, and back; no secret is written down."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cli.terminal import Terminal
from tests.spark.mirror.two_regions import TOPIC, mirror_once
from tests.spark.test_secure_topics import PASSWORD, secrets_in, shown_plans
from tests.wire_client.security.certificates import Authority
from tests.wire_client.security.front import Front, guarded_broker

from penstock.client import Admin, Consumer, Producer, TopicPartition
from penstock.spark.mirror.access import Access
from penstock.spark.mirror.mirroring import MirrorPlan
from penstock.spark.mirror.naming import Selection
from penstock.spark.pipelines.loading import load_pipeline
from penstock.spark.pipelines.model import Trigger, TriggerKind
from penstock.spark.pipelines.running.runner import Runner
from penstock.testing import Broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


@pytest.fixture
def front(authority: Authority, tmp_path: Path) -> Iterator[Front]:
    with guarded_broker(tmp_path / "broker", authority) as front:
        yield front


@pytest.fixture
def secure(front: Front, authority: Authority) -> Access:
    return Access(
        bootstrap_servers=str(front.address),
        options={
            "kafka.security.protocol": "SASL_SSL",
            "kafka.sasl.mechanism": "SCRAM-SHA-512",
            "kafka.sasl.jaas.config": f'{MODULE} required username="bert" password="{PASSWORD}";',
            "kafka.ssl.truststore.type": "PEM",
            "kafka.ssl.truststore.location": str(authority.certificate),
        },
    )


def produce(access: Access, values: range) -> None:
    with Producer(bootstrap_servers=access.bootstrap_servers, kafka=access.librdkafka) as producer:
        producer.send_batch((TOPIC, b"%d" % value) for value in values)


def values_at(access: Access) -> list[int]:
    with Consumer(bootstrap_servers=access.bootstrap_servers, kafka=access.librdkafka) as consumer:
        consumer.assign({(TOPIC, 0): 0})
        return [int(message.raw_value or b"") for message in consumer.messages(idle_timeout=1.5)]


def admin_of(access: Access) -> Admin:
    return Admin(bootstrap_servers=access.bootstrap_servers, kafka=access.librdkafka)


def plan(source: Access, target: Access) -> MirrorPlan:
    return MirrorPlan(
        source=source, target=target, selection=Selection(topic_pattern="ord.*", group_pattern="billing")
    )


def test_topic_and_group_go_from_behind_a_login_to_a_plain_cluster_and_back(
    spark: "SparkSession",
    secure: Access,
    front: Front,
    west: Broker,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    request: pytest.FixtureRequest,
) -> None:
    spark.conf.set("spark.sql.ui.explainMode", "extended")
    request.addfinalizer(lambda: spark.conf.unset("spark.sql.ui.explainMode"))
    plain = Access(bootstrap_servers=west.bootstrap_servers)
    billing = {TopicPartition(TOPIC, 0): 7}
    with admin_of(secure) as admin:
        admin.create_topic(TOPIC, partitions=1)
        admin.alter_group_offsets("billing", billing)
    produce(secure, range(20))

    there = mirror_once(spark, plan(secure, plain), str(tmp_path / "state" / "there"))
    produce(plain, range(20, 30))
    back = mirror_once(spark, plan(plain, secure), str(tmp_path / "state" / "back"))

    assert [lag.lag for lag in (*there.lags, *back.lags)] == [0, 0]
    assert values_at(plain) == values_at(secure) == list(range(30))
    with admin_of(plain) as admin:
        assert admin.group_offsets("billing") == billing
    assert set(front.logins) == {"SCRAM-SHA-512"}
    kept = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if secrets_in(path.read_text("latin-1"))]
    assert not secrets_in(shown_plans(spark))
    assert not secrets_in(caplog.text)


def test_pipeline_mirrors_into_its_own_cluster_behind_a_login(
    spark: "SparkSession",
    secure: Access,
    west: Broker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOGIN", secure.options["kafka.sasl.jaas.config"])
    kafka = {name.removeprefix("kafka."): value for name, value in secure.options.items()}
    kafka["sasl.jaas.config"] = "${LOGIN}"
    lines = "".join(f"  {name}: {value}\n" for name, value in kafka.items())
    flow = f"mirror: {{from: '{west.bootstrap_servers}', topics: [{TOPIC}]}}"
    file = tmp_path / "pipeline.yml"
    file.write_text(f"name: p\nstorage: state\nkafka:\n{lines}flows:\n  copy:\n    {flow}\n")
    west.create_topic(TOPIC)
    produce(Access(bootstrap_servers=west.bootstrap_servers), range(20))

    before = set(threading.enumerate())
    pipeline = load_pipeline(file)
    ran = Runner(
        spark,
        pipeline,
        topic_options={**pipeline.topic_options, "kafka.bootstrap.servers": secure.bootstrap_servers},
        listener=lambda event: None,
        trigger=Trigger(TriggerKind.AVAILABLE_NOW),
    ).run()
    for thread in set(threading.enumerate()) - before:
        if thread.name.startswith("attend "):
            thread.join(30)

    assert not ran.failures
    assert values_at(secure) == list(range(20))
    kept = [path for path in tmp_path.glob("state/**/*") if path.is_file()]
    assert kept
    assert not [path for path in kept if secrets_in(path.read_text("latin-1"))]


def test_commands_take_what_kafkas_tools_are_given(
    spark: "SparkSession",
    secure: Access,
    authority: Authority,
    west: Broker,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "client.properties"
    file.write_text(
        "".join(f"{name.removeprefix('kafka.')}={value}\n" for name, value in secure.options.items())
    )
    with admin_of(secure) as admin:
        admin.create_topic(TOPIC, partitions=1)
    produce(secure, range(20))
    terminal = Terminal(west.bootstrap_servers, capfd, monkeypatch)
    words = ("--from", secure.bootstrap_servers, "--from-config", str(file), "--to", west.bootstrap_servers)
    state = tmp_path / "state"

    ran = terminal.must("mirror", "run", *words, "--topic", TOPIC, "--available-now", "--storage", str(state))
    asked = terminal.must("mirror", "status", *words)

    assert ran.output.splitlines()[-1] == "20 records copied  lag 0"
    assert asked.output.splitlines()[-1] == "0 offsets behind in all"
    assert not secrets_in(ran.output + ran.errors + asked.output + asked.errors)
    assert not [path for path in state.rglob("*") if path.is_file() and secrets_in(path.read_text("latin-1"))]

    file.write_text(file.read_text().replace(PASSWORD, "a guess"))
    refused = terminal.run("mirror", "status", *words)
    assert refused.code == 1
    assert "bert" in refused.errors
    assert "a guess" not in refused.errors
