"""The settings of replication between brokers.

Larger pieces than Kafka's and shorter times: a follower says that something is on its disk by asking for what
follows, so it asks in fewer and larger pieces, and acknowledgements wait for it.
"""

from penstock.config.broker_key import broker_key
from penstock.config.definition import LONG_MAX, ConfigType
from penstock.config.validators import at_least

_MEBIBYTE = 1024 * 1024
_REPLICATION = "penstock.broker.replication.replication"
_FETCHER = "penstock.broker.replication.fetcher"
_THROTTLES = "penstock.broker.replication.throttles"


REPLICATION_KEYS = (
    broker_key(
        "replica.lag.time.max.ms",
        ConfigType.LONG,
        10_000,
        "For how long a follower may be behind its leader and still count as in sync.",
        validator=at_least(1),
        read_by=_REPLICATION,
    ),
    broker_key(
        "replica.fetch.max.bytes",
        ConfigType.INT,
        4 * _MEBIBYTE,
        "How much a follower fetches of one partition at once; a batch that is larger comes all the same.",
        validator=at_least(1),
        read_by=_FETCHER,
    ),
    broker_key(
        "replica.fetch.response.max.bytes",
        ConfigType.INT,
        16 * _MEBIBYTE,
        "How much a follower fetches of all partitions of one leader at once.",
        validator=at_least(1),
        read_by=_FETCHER,
    ),
    broker_key(
        "replica.fetch.min.bytes",
        ConfigType.INT,
        1,
        "How much a leader waits for before it answers a follower.",
        validator=at_least(1),
        read_by=_FETCHER,
    ),
    broker_key(
        "replica.fetch.wait.max.ms",
        ConfigType.INT,
        500,
        "How long a leader without news lets a follower wait for an answer.",
        validator=at_least(0),
        read_by=_FETCHER,
    ),
    broker_key(
        "replica.fetch.backoff.ms",
        ConfigType.INT,
        100,
        "How long a follower waits after a failure before it fetches that partition again.",
        validator=at_least(1),
        read_by=_REPLICATION,
    ),
    broker_key(
        "replica.socket.timeout.ms",
        ConfigType.INT,
        5_000,
        "For how long, beyond replica.fetch.wait.max.ms, a follower waits for its leader's answer.",
        validator=at_least(1),
        read_by=_FETCHER,
    ),
    broker_key(
        "leader.replication.throttled.rate",
        ConfigType.LONG,
        LONG_MAX,
        "Bytes per second that this broker, as leader, sends to those leader.replication.throttled.replicas "
        "that are not in sync.",
        validator=at_least(1),
        dynamic=True,
        read_by=_THROTTLES,
    ),
    broker_key(
        "follower.replication.throttled.rate",
        ConfigType.LONG,
        LONG_MAX,
        "Bytes per second that this broker fetches for its follower.replication.throttled.replicas while "
        "they are not in sync.",
        validator=at_least(1),
        dynamic=True,
        read_by=_THROTTLES,
    ),
)
