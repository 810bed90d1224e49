"""Reading from exact offsets on, whoever leads the partitions."""

import time
from collections.abc import Iterator

import pytest

from penstock import Producer
from penstock.gateway.kafka.access import bootstrap_addresses
from penstock.gateway.kafka.leader_fetches import ReadLimits
from penstock.gateway.kafka.record_reader import ReadRecord, RecordReader
from penstock.model.error_codes import ErrorCode
from penstock.testing import Cluster
from penstock.wire_client.cluster import Cluster as WireCluster
from penstock.wire_client.errors import RefusedError

TOPIC = "orders"
PARTITIONS = 3
RECORDS = 300
SECONDS_MAX = 60.0


@pytest.fixture
def brokers() -> Iterator[Cluster]:
    """Three brokers, each of which leads a partition of three replicas."""
    with Cluster(3) as cluster:
        cluster.create_topic(TOPIC, PARTITIONS, replication_factor=3, min_insync_replicas=2)
        with Producer(bootstrap_servers=cluster.bootstrap_servers) as producer:
            for number in range(RECORDS):
                producer.send(TOPIC, b"%d" % number, partition=number % PARTITIONS)
        yield cluster


@pytest.fixture
def connected(brokers: Cluster) -> Iterator[WireCluster]:
    with WireCluster.connect(bootstrap_addresses(brokers.bootstrap_servers)) as cluster:
        yield cluster


def read(reader: RecordReader, count: int, *, at_once: int = 7) -> list[ReadRecord]:
    """So many records, a few at a time."""
    found: list[ReadRecord] = []
    deadline = time.monotonic() + SECONDS_MAX
    while len(found) < count:
        assert time.monotonic() < deadline, reader.trouble
        found += reader.poll(records_max=min(at_once, count - len(found)), wait_ms=200)
    return found


@pytest.mark.slow
def test_reading_goes_on_exactly_when_a_leader_dies(brokers: Cluster, connected: WireCluster) -> None:
    reader = RecordReader(connected, TOPIC, dict.fromkeys(range(PARTITIONS), 0))
    found = read(reader, 100)
    victim = brokers.leader(TOPIC, 0)
    victim.kill()
    again = RecordReader(connected, TOPIC, reader.positions)
    found += read(again, 100)
    with Producer(bootstrap_servers=brokers.bootstrap_servers) as producer:
        for number in range(RECORDS, RECORDS + 30):
            producer.send(TOPIC, b"%d" % number, partition=number % PARTITIONS)
    found += read(again, RECORDS + 30 - 200)

    assert sorted(int(each.record.value or b"") for each in found) == list(range(RECORDS + 30))
    for partition in range(PARTITIONS):
        offsets = [each.record.offset for each in found if each.partition == partition]
        assert offsets == list(range(110))
    assert again.is_at_end


@pytest.mark.slow
def test_what_can_go_wrong_is_told(brokers: Cluster, connected: WireCluster) -> None:
    absent = RecordReader(connected, "absent", {0: 0})
    with pytest.raises(RefusedError) as refused:
        absent.poll(records_max=1, wait_ms=0)
    assert refused.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    beyond = RecordReader(connected, TOPIC, {0: 5000})
    with pytest.raises(RefusedError) as refused:
        beyond.poll(records_max=1, wait_ms=0)
    assert refused.value.code == ErrorCode.OFFSET_OUT_OF_RANGE

    small = ReadLimits(answer_bytes_max=100, partition_bytes_max=100, partition_bytes_min=1)
    bounded = RecordReader(connected, TOPIC, dict.fromkeys(range(PARTITIONS), 0), limits=small)
    assert len(read(bounded, RECORDS)) == RECORDS
    assert bounded.poll(records_max=1, wait_ms=0) == []
    assert bounded.is_at_end

    for each in brokers.brokers[1:]:
        each.kill()
    began = time.monotonic()
    while not bounded.trouble and time.monotonic() < began + SECONDS_MAX:
        assert bounded.poll(records_max=1, wait_ms=100) == []
    assert bounded.trouble
