"""The settings of clusters: how brokers find each other, and when one counts as gone.

Times are far shorter than Kafka's: a broker that died is noticed in about a second. What that costs is a few
small requests more.
"""

from penstock.config.broker_key import broker_key
from penstock.config.definition import ConfigType
from penstock.config.listeners import SERVER_LIST
from penstock.config.validators import at_least

_ACCESSORS = "penstock.config.broker_config"
_QUORUM = "penstock.broker.control.quorum_options"
_CONTROLLER = "penstock.broker.control.controller"
_MEMBERSHIP = "penstock.broker.control.membership"


CLUSTER_KEYS = (
    broker_key(
        "controller.quorum.bootstrap.servers",
        ConfigType.LIST,
        (),
        "Brokers of the cluster that this one joins, or has joined, as HOST:PORT; one that lives is enough. "
        "An empty data directory without it begins a cluster of its own.",
        validator=SERVER_LIST,
        read_by=_ACCESSORS,
    ),
    broker_key(
        "controller.quorum.election.timeout.ms",
        ConfigType.INT,
        600,
        "After how long without a word from its leader a voter wants an election. The same on all brokers.",
        validator=at_least(50),
        read_by=_QUORUM,
    ),
    broker_key(
        "metadata.log.max.record.bytes.between.snapshots",
        ConfigType.LONG,
        20 * 1024 * 1024,
        "After how many bytes of metadata a snapshot is written, and what lies before it is removed.",
        validator=at_least(1),
        read_by=_QUORUM,
    ),
    broker_key(
        "broker.session.timeout.ms",
        ConfigType.INT,
        1_500,
        "After how long without a heartbeat a broker counts as gone, and others lead what it led.",
        validator=at_least(100),
        read_by=_CONTROLLER,
    ),
    broker_key(
        "broker.heartbeat.interval.ms",
        ConfigType.INT,
        300,
        "How often a broker tells the controller that it lives.",
        validator=at_least(10),
        read_by=_MEMBERSHIP,
    ),
    broker_key(
        "controlled.shutdown.enable",
        ConfigType.BOOLEAN,
        True,
        "Whether a broker that is told to stop has others lead what it leads before it does.",
        read_by=_MEMBERSHIP,
    ),
    broker_key(
        "auto.leader.rebalance.enable",
        ConfigType.BOOLEAN,
        True,
        "Whether the controller gives leadership back to preferred replicas that are in sync again.",
        read_by=_CONTROLLER,
    ),
    broker_key(
        "leader.imbalance.check.interval.seconds",
        ConfigType.LONG,
        300,
        "How often the controller looks whether leadership should go back to preferred replicas.",
        validator=at_least(1),
        read_by=_CONTROLLER,
    ),
)
