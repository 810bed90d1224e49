import pytest

from penstock.config.definition import ConfigError
from penstock.config.sources import load_broker_config

SERVERS = "controller.quorum.bootstrap.servers"


def test_servers_to_join_are_addresses() -> None:
    config = load_broker_config(flags={SERVERS: "one:9092, PLAINTEXT://two:9093,[::1]:9094"})
    assert [(each.host, each.port) for each in config.bootstrap_servers] == [
        ("one", 9092),
        ("two", 9093),
        ("::1", 9094),
    ]
    assert load_broker_config().bootstrap_servers == ()


@pytest.mark.parametrize("text", ["one", "one:0", ":9092", "one:9092,two", "SSL://one:9092"])
def test_servers_that_cannot_be_connected_to_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="a list of addresses like broker-1:9092"):
        load_broker_config(flags={SERVERS: text})


def test_session_shorter_than_two_heartbeats_is_refused() -> None:
    with pytest.raises(ConfigError, match="must be at most half of"):
        load_broker_config(flags={"broker.heartbeat.interval.ms": "800"})


def test_number_is_only_told_when_somebody_tells_it() -> None:
    assert load_broker_config().node_id is None
    told = load_broker_config(flags={"node.id": "1"})
    assert told.node_id == 1
    learned = load_broker_config().with_node_id(5)
    assert (learned.node_id, learned.integer("node.id")) == (5, 5)
    assert learned.with_dynamic(cluster={"log.retention.ms": "1"}).integer("node.id") == 5
