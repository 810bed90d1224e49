"""What the settings say to the quorum."""

from penstock.broker.control.identity import Identity
from penstock.broker.peers.address import Address
from penstock.broker.quorum.surroundings import QuorumOptions
from penstock.config.broker_config import BrokerConfig
from penstock.metadata.records import BrokerEndpoint
from penstock.raft.replica import Endpoint
from penstock.raft.settings import RaftSettings

HEARTBEATS_PER_ELECTION = 4
"""How many of a leader's heartbeats may be lost before others want an election."""


def quorum_options(
    config: BrokerConfig, identity: Identity, endpoints: tuple[BrokerEndpoint, ...]
) -> QuorumOptions:
    """The options of this broker's node."""
    election_timeout_ms = config.integer("controller.quorum.election.timeout.ms")
    return QuorumOptions(
        node_id=identity.node_id,
        founds=identity.founds,
        endpoints=tuple(Endpoint(name=each.name, host=each.host, port=each.port) for each in endpoints),
        bootstrap=tuple(Address(each.host, each.port) for each in config.bootstrap_servers),
        settings=RaftSettings(
            election_timeout_ms=election_timeout_ms,
            heartbeat_interval_ms=election_timeout_ms // HEARTBEATS_PER_ELECTION,
        ),
        snapshot_bytes=config.integer("metadata.log.max.record.bytes.between.snapshots"),
    )
