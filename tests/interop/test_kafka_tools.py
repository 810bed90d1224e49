"""Apache Kafka's own tools: the Java client against the broker, and kafka-dump-log on its files.

``PENSTOCK_KAFKA_LIBS`` names a directory with Kafka's jars; without it these tests are skipped.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.broker_process import Server
from tests.conftest import MakeServer, UniqueName
from tests.interop.confluent import admin_client, create_topic, make_producer, read_all, send
from tests.raw_kafka import Connection

LIBRARIES = Path(os.environ.get("PENSTOCK_KAFKA_LIBS") or "no-such-directory")

pytestmark = [
    pytest.mark.interop,
    pytest.mark.slow,
    pytest.mark.skipif(not LIBRARIES.is_dir(), reason="PENSTOCK_KAFKA_LIBS names no directory of jars"),
    pytest.mark.skipif(shutil.which("java") is None, reason="java is not installed"),
]

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
CONTROL_BIT = 32
GROUP_COMMAND = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
DUMP_LOG = "kafka.tools.DumpLogSegments"


def kafka(tool: str, *arguments: str, stdin: str = "") -> str:
    """Run one of Kafka's tools to its end; what it printed."""
    done = subprocess.run(
        [
            *("java", "-Xmx256m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"),
            *("-cp", f"{LIBRARIES}/*", tool, *arguments),
        ],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def topic(bootstrap: str, unique: UniqueName) -> str:
    return create_topic(admin_client(bootstrap), unique("java"), partitions=2)


def test_java_producer_and_consumer_exchange_records(bootstrap: str, topic: str) -> None:
    lines = [f"key{index}:value{index}" for index in range(100)]
    kafka(
        "org.apache.kafka.tools.ConsoleProducer",
        *("--bootstrap-server", bootstrap, "--topic", topic, "--compression-codec", "zstd"),
        *("--property", "parse.key=true", "--property", "key.separator=:"),
        stdin="\n".join(lines) + "\n",
    )
    shown = kafka(
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *("--bootstrap-server", bootstrap, "--topic", topic, "--partition", "0", "--offset", "earliest"),
        *("--timeout-ms", "3000", "--property", "print.key=true", "--property", "key.separator=:"),
    ).split()
    with Connection(bootstrap) as raw:
        batches = raw.fetch_all(topic, 0)
    assert len(shown) == sum(batch.record_count for batch in batches) > 10
    assert set(shown) <= set(lines)
    assert {batch.codec for batch in batches} == {4}
    assert batches[0].producer_id >= 0, "the Java producer is idempotent by default"


def test_java_admin_tools_describe_alter_and_delete(bootstrap: str, unique: UniqueName) -> None:
    name = unique("java-admin")
    server = ("--bootstrap-server", bootstrap)
    kafka("org.apache.kafka.tools.TopicCommand", *server, "--create", "--topic", name, "--partitions", "3")
    described = kafka("org.apache.kafka.tools.TopicCommand", *server, "--describe", "--topic", name)
    assert re.search(r"PartitionCount: 3\s+ReplicationFactor: 1", described)
    assert described.count("Leader: 1") == 3

    alter = ("--alter", "--entity-type", "topics", "--entity-name", name, "--add-config", "retention.ms=4711")
    kafka("kafka.admin.ConfigCommand", *server, *alter)
    shown = kafka(
        "kafka.admin.ConfigCommand", *server, "--describe", "--entity-type", "topics", "--entity-name", name
    )
    assert "retention.ms=4711" in shown

    offsets = kafka("org.apache.kafka.tools.GetOffsetShell", *server, "--topic", name)
    assert offsets.split() == [f"{name}:{number}:0" for number in range(3)]
    directories = kafka("org.apache.kafka.tools.LogDirsCommand", *server, "--describe", "--topic-list", name)
    assert f'"{name}-0"' in directories
    kafka("org.apache.kafka.tools.TopicCommand", *server, "--delete", "--topic", name)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_java_consumer_commits_and_its_group_is_described_reset_and_deleted(
    bootstrap: str, unique: UniqueName, protocol: str
) -> None:
    topic = create_topic(admin_client(bootstrap), unique("java-group"), partitions=2)
    group, server = unique("java-group"), ("--bootstrap-server", bootstrap)
    send(make_producer(bootstrap), topic, [{"value": b"%d" % n, "partition": n % 2} for n in range(100)])

    consume = (
        *server,
        "--topic",
        topic,
        "--group",
        group,
        "--consumer-property",
        f"group.protocol={protocol}",
    )
    beginning = ("--from-beginning", "--max-messages", "100", "--timeout-ms", "20000")
    shown = kafka("org.apache.kafka.tools.consumer.ConsoleConsumer", *consume, *beginning)
    assert sorted(map(int, shown.split())) == list(range(100))

    described = kafka(GROUP_COMMAND, *server, "--describe", "--group", group)
    rows = [line.split() for line in described.splitlines() if line.startswith(group)]
    assert sorted((row[2], row[3], row[4], row[5]) for row in rows) == [
        ("0", "50", "50", "0"),
        ("1", "50", "50", "0"),
    ]
    reset = ("--reset-offsets", "--topic", topic, "--shift-by", "-10", "--execute")
    kafka(GROUP_COMMAND, *server, "--group", group, *reset)
    shown = kafka(
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *consume,
        "--max-messages",
        "20",
        "--timeout-ms",
        "20000",
    )
    assert sorted(map(int, shown.split())) == list(range(80, 100))
    kafka(GROUP_COMMAND, *server, "--delete", "--group", group)
    assert group not in kafka(GROUP_COMMAND, *server, "--list").split()


def test_java_producer_transacts_in_the_second_version(bootstrap: str, unique: UniqueName) -> None:
    """It ends a transaction every few milliseconds and never announces a partition."""
    name, transactional_id = create_topic(admin_client(bootstrap), unique("java-tx")), unique("java")
    kafka(
        "org.apache.kafka.tools.ProducerPerformance",
        *("--topic", name, "--num-records", "2000", "--record-size", "100", "--throughput", "2000"),
        *("--producer-props", f"bootstrap.servers={bootstrap}"),
        *("--transactional-id", transactional_id, "--transaction-duration-ms", "50"),
    )
    assert len(read_all(bootstrap, name, isolation_level="read_committed")) == 2000
    described = kafka(
        "org.apache.kafka.tools.TransactionsCommand",
        *("--bootstrap-server", bootstrap, "describe", "--transactional-id", transactional_id),
    )
    assert "CompleteCommit" in described
    with Connection(bootstrap) as raw:
        markers = [batch for batch in raw.fetch_all(name) if batch.attributes & CONTROL_BIT]
    assert len(markers) > 5


def filled_and_stopped(make_server: MakeServer) -> Server:
    """Several segments with every codec, written by a plain and an idempotent producer."""
    server = make_server()
    admin = admin_client(server.bootstrap)
    create_topic(admin, "dumped", config={"segment.bytes": "20000", "index.interval.bytes": "500"})
    messages = [
        {"key": b"%d" % index, "value": b"%d " % index * 100, "headers": [("h", b"v")]}
        for index in range(200)
    ]
    for codec in CODECS:
        producer = make_producer(
            server.bootstrap,
            compression_type=codec,
            enable_idempotence=codec == "zstd",
            batch_num_messages=10,
        )
        send(producer, "dumped", messages)
    assert server.stop() == 0
    return server


def test_dump_log_reads_every_segment_and_index(make_server: MakeServer) -> None:
    server = filled_and_stopped(make_server)
    segments = server.segment_paths("dumped")
    assert len(segments) > 2

    printed = kafka(DUMP_LOG, "--print-data-log", "--deep-iteration", "--files", ",".join(map(str, segments)))

    assert "isvalid: false" not in printed
    offsets = [int(found) for found in re.findall(r"^\| offset: (\d+) ", printed, re.MULTILINE)]
    assert offsets == list(range(1000))
    for codec in CODECS:
        assert f"compresscodec: {codec}" in printed

    directory = server.partition_directory("dumped")
    indexes = [str(path) for kind in ("*.index", "*.timeindex") for path in sorted(directory.glob(kind))]
    checked = kafka(DUMP_LOG, "--index-sanity-check", "--files", ",".join(indexes))
    assert checked.count("passed sanity check") == len(indexes)
    for path in sorted(directory.glob("*.index")):
        kafka(DUMP_LOG, "--verify-index-only", "--files", str(path))


def test_dump_log_reads_producer_snapshots_and_metadata(make_server: MakeServer) -> None:
    server = filled_and_stopped(make_server)
    snapshot = sorted(server.partition_directory("dumped").glob("*.snapshot"))[-1]
    assert "producerId:" in kafka(DUMP_LOG, "--files", str(snapshot))
    (metadata,) = server.data_directory.glob("__cluster_metadata-0/*.log")
    printed = kafka(DUMP_LOG, "--cluster-metadata-decoder", "--files", str(metadata))
    assert '"name":"dumped"' in printed
    assert '"type":"PARTITION_RECORD"' in printed
