"""Three real processes, one of which begins a cluster and two of which are told to join it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.broker_process import Server, wait_until
from tests.cluster_processes import voters

from penstock.bench.connection import Connection, parse_address
from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.wire.messages.decommission_broker import DecommissionBrokerRequest
from penstock.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

pytestmark = pytest.mark.slow


def described(server: Server) -> DescribeClusterResponse:
    with Connection(parse_address(server.bootstrap)) as connection:
        response: DescribeClusterResponse = connection.call(ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest())
    return response


def members(server: Server) -> list[int]:
    return [broker.broker_id for broker in described(server).brokers]


def create(server: Server, name: str) -> int:
    topic = CreatableTopic(name=name, num_partitions=1, replication_factor=3)
    with Connection(parse_address(server.bootstrap)) as connection:
        (result,) = connection.call(ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics=(topic,))).topics
    return int(result.error_code)


def leader(server: Server, name: str) -> int:
    request = MetadataRequest(topics=(MetadataRequestTopic(name=name),), allow_auto_topic_creation=False)
    with Connection(parse_address(server.bootstrap)) as connection:
        (topic,) = connection.call(ApiKey.METADATA, request).topics
    return int(topic.partitions[0].leader_id)


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[list[Server]]:
    first = Server(tmp_path / "1")
    joining = [Server(tmp_path / "2"), Server(tmp_path / "3")]
    servers = [first, *joining]
    try:
        first.start()
        for server in joining:
            server.join = first.bootstrap
            server.start()
        yield servers
    finally:
        for server in servers:
            server.close()


def test_three_processes_are_one_cluster_that_outlives_any_of_them(servers: list[Server]) -> None:
    first, second, third = servers
    assert [members(server) for server in servers] == [[1, 2, 3]] * 3
    assert create(third, "orders") == ErrorCode.NONE
    wait_until(lambda: voters(second) == [1, 2, 3], what="three voters")
    wait_until(lambda: leader(second, "orders") > 0, what="a leader")
    first.kill()
    wait_until(lambda: members(second) == members(third) == [2, 3], what="the dead broker to be shut out")
    wait_until(lambda: leader(second, "orders") in (2, 3), what="another leader")
    wait_until(lambda: described(third).controller_id in (2, 3), what="another controller")
    first.restart()
    assert members(first) == [1, 2, 3]
    assert second.stop() == 0
    wait_until(lambda: members(third) == [1, 3], what="the stopped broker to be gone")
    second.restart()
    assert members(second) == [1, 2, 3]


def test_process_that_was_emptied_and_forgotten_ends_by_itself(servers: list[Server]) -> None:
    first, _, third = servers
    with Connection(parse_address(first.bootstrap)) as connection:
        request = DecommissionBrokerRequest(broker_id=3)
        assert connection.call(ApiKey.DECOMMISSION_BROKER, request).error_code == ErrorCode.NONE
    assert third.wait_exit() == 0
    assert members(first) == [1, 2]


def test_process_that_waits_for_its_cluster_can_be_stopped(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.join = "127.0.0.1:1"
    try:
        server.launch()
        wait_until(lambda: "cannot join yet" in server.stderr_text(), what="the process to try")
        assert server.stop() == 0
    finally:
        server.close()
