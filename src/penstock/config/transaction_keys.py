"""The settings of transactions."""

from penstock.config.broker_key import broker_key
from penstock.config.definition import ConfigType
from penstock.config.validators import at_least

_COORDINATOR = "penstock.broker.transaction_coordinator"
_LEADER = "penstock.broker.transactional_appends"


TRANSACTION_KEYS = (
    broker_key(
        "transaction.max.timeout.ms",
        ConfigType.INT,
        900_000,
        "The longest transaction timeout that a producer may ask for.",
        validator=at_least(1),
        read_by=_COORDINATOR,
    ),
    broker_key(
        "transactional.id.expiration.ms",
        ConfigType.INT,
        604_800_000,
        "For how long a transactional id is remembered after its last transaction.",
        validator=at_least(1),
        read_by=_COORDINATOR,
    ),
    broker_key(
        "transaction.partition.verification.enable",
        ConfigType.BOOLEAN,
        True,
        "Whether the coordinator is asked before the first batch of a transaction is appended to a partition "
        "(KIP-890). It keeps out batches that arrive after their transaction has ended.",
        read_by=_LEADER,
        dynamic=True,
    ),
    broker_key(
        "transaction.state.log.num.partitions",
        ConfigType.INT,
        50,
        "Partitions of __transaction_state. It counts when the topic is made; a later change does nothing.",
        validator=at_least(1),
        read_by=_COORDINATOR,
    ),
    broker_key(
        "transaction.state.log.replication.factor",
        ConfigType.INT,
        3,
        "Replicas of __transaction_state; a smaller cluster has as many as it has brokers.",
        validator=at_least(1),
        read_by=_COORDINATOR,
    ),
    broker_key(
        "transaction.state.log.min.isr",
        ConfigType.INT,
        2,
        "How many replicas of __transaction_state must have a decision before it counts, of those there are.",
        validator=at_least(1),
        read_by=_COORDINATOR,
    ),
    broker_key(
        "transaction.state.log.segment.bytes",
        ConfigType.INT,
        104_857_600,
        "Segment size of __transaction_state.",
        validator=at_least(1),
        read_by=_COORDINATOR,
    ),
)
