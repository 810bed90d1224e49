"""Records whose headers are none: a producer may write them, and nobody's page may break on them."""

from tests.conftest import UniqueName
from tests.gateway.console.asking import events, get

from penstock.client import Admin
from penstock.gateway.console.filters.candidate import MISSING, Candidate
from penstock.gateway.console.filters.language import compile_filter
from penstock.gateway.server import GatewayServer
from penstock.records.batch import read_header, write_crc
from penstock.records.builder import build_batch
from penstock.records.lazy_record import lazy_records
from penstock.records.record import NewRecord
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address


def malformed() -> bytearray:
    """A batch of one record that claims a header of a hundred bytes in its last two."""
    batch = build_batch([NewRecord(value=b"needle", headers=(("h", b""),), timestamp=1_700_000_000_000)])
    batch[-3] = 0x7E
    write_crc(batch, len(batch))
    return batch


def test_filters_take_malformed_headers_for_none() -> None:
    batch = malformed()
    (record,) = lazy_records(batch, read_header(batch))
    candidate = Candidate(0, record, lambda _: MISSING)
    for text, is_found in (("needle", True), ("header.h", False), ("nothing", False)):
        wanted = compile_filter(text)
        assert wanted is not None
        assert wanted(candidate) is is_found


def test_a_message_with_malformed_headers_is_shown_without_them(
    gateway: GatewayServer, bootstrap: str, unique: UniqueName
) -> None:
    topic = unique("malformed")
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topic(topic, partitions=1)
    host, port = bootstrap.split(":")
    data = PartitionProduceData(index=0, records=malformed())
    request = ProduceRequest(
        acks=-1,
        timeout_ms=10_000,
        topic_data=(TopicProduceData(name=topic, partition_data=(data,)),),
    )
    with Cluster.connect([Address(host, int(port))]) as cluster:
        answer = cluster.any_broker().call(ApiKey.PRODUCE, request, at_most=9)
    assert answer.responses[0].partition_responses[0].error_code == 0

    page = get(gateway.url, f"messages/{topic}", isolation="read_uncommitted")
    assert [each["value"]["text"] for each in page["messages"]] == ["needle"]
    assert "headers at offset 0" in page["notes"][0]
    names = [event.name for event in events(gateway.url, f"messages/{topic}/search", filter="needle")]
    assert names[-1] == "end"
    assert "matches" in names
