"""The table of broker settings: those that Penstock acts on, with Kafka's names.

Every topic setting that is acted on also has its broker-wide default here (``log.retention.ms`` for
``retention.ms`` and so on), made from the topic's line so that the two cannot drift apart. What nothing
reads is not in the table: a setting that is accepted and ignored would be a lie.

Defaults that differ from Kafka's, each for safety or so that nothing needs to be set to begin with:
``log.flush.interval.messages`` 1, ``listeners`` on the loopback address, ``log.dirs``, ``node.id``,
``socket.request.max.bytes`` 16 MiB, ``queued.max.request.bytes`` 256 MiB, ``max.connections`` 10,000,
``log.cleaner.dedupe.buffer.size`` 48 MiB, ``log.flush.offset.checkpoint.interval.ms`` 5 s and those of
clusters (``cluster_keys``, ``replication_keys``).
"""

from penstock.config.broker_key import broker_key
from penstock.config.cleaner_keys import CLEANER_KEYS
from penstock.config.cluster_keys import CLUSTER_KEYS
from penstock.config.definition import INT_MAX, ConfigKey, ConfigType
from penstock.config.group_keys import GROUP_KEYS
from penstock.config.listeners import LISTENER_LIST
from penstock.config.log_keys import LOG_KEYS
from penstock.config.metrics_keys import METRICS_KEYS
from penstock.config.replication_keys import REPLICATION_KEYS
from penstock.config.telemetry_keys import TELEMETRY_KEYS
from penstock.config.topic_keys import TOPIC_KEYS
from penstock.config.transaction_keys import TRANSACTION_KEYS
from penstock.config.validators import at_least, one_item

_TOPIC_DEFAULTS = "penstock.config.topic_keys"
_SERVER = "penstock.broker.server"
_BROKER = "penstock.broker.broker"
_ACCESSORS = "penstock.config.broker_config"
_HOUSEKEEPING = "penstock.broker.housekeeping"
_TOPICS = "penstock.metadata.topic_creation"
_DESCRIBE = "penstock.broker.apis.describe_topic_partitions"

_MEBIBYTE = 1024**2


_IDENTITY = (
    broker_key(
        "node.id",
        ConfigType.INT,
        1,
        "This broker's number in the cluster. It belongs to the data directory and must not change. A broker "
        "that joins a cluster gets the next free one unless this is set.",
        validator=at_least(0),
        read_by=_BROKER,
    ),
    broker_key(
        "broker.rack",
        ConfigType.STRING,
        "",
        "Where this broker stands; replicas of a partition are spread over racks.",
        read_by="penstock.broker.control.membership",
    ),
    broker_key(
        "listeners",
        ConfigType.LIST,
        ("PLAINTEXT://127.0.0.1:9092",),
        "Where clients connect, as PLAINTEXT://HOST:PORT. Port 0 takes a free one; an empty host listens on "
        "every interface.",
        validator=LISTENER_LIST,
        read_by=_ACCESSORS,
    ),
    broker_key(
        "advertised.listeners",
        ConfigType.LIST,
        (),
        "What clients are told to connect to, when that differs from listeners (behind NAT, in a container).",
        validator=LISTENER_LIST,
        read_by=_ACCESSORS,
    ),
    broker_key(
        "log.dirs",
        ConfigType.LIST,
        ("./penstock-data",),
        "The directory that holds the data. One directory for now.",
        validator=one_item(),
        read_by=_ACCESSORS,
    ),
)

_CONNECTIONS = (
    broker_key(
        "socket.request.max.bytes",
        ConfigType.INT,
        16 * _MEBIBYTE,
        "Largest request; a larger one closes the connection. At least message.max.bytes.",
        validator=at_least(1),
        read_by=_SERVER,
    ),
    broker_key(
        "queued.max.requests",
        ConfigType.INT,
        500,
        "How many requests may wait to be served before the broker stops reading from sockets.",
        validator=at_least(1),
        read_by=_SERVER,
    ),
    broker_key(
        "queued.max.request.bytes",
        ConfigType.LONG,
        256 * _MEBIBYTE,
        "How many bytes of requests may be in memory before the broker stops reading from sockets.",
        validator=at_least(1),
        read_by=_SERVER,
    ),
    broker_key(
        "max.connections",
        ConfigType.INT,
        10_000,
        "How many connections may be open at once; further ones are closed at once.",
        validator=at_least(1),
        dynamic=True,
        read_by=_SERVER,
    ),
    broker_key(
        "max.connections.per.ip",
        ConfigType.INT,
        INT_MAX,
        "How many connections one address may have open.",
        validator=at_least(0),
        dynamic=True,
        read_by=_SERVER,
    ),
    broker_key(
        "max.connection.creation.rate",
        ConfigType.INT,
        INT_MAX,
        "How many connections are accepted per second.",
        validator=at_least(1),
        dynamic=True,
        read_by=_SERVER,
    ),
    broker_key(
        "connections.max.idle.ms",
        ConfigType.LONG,
        600_000,
        "After how long without a request a connection is closed.",
        validator=at_least(1),
        read_by=_SERVER,
    ),
)

_TOPIC_CREATION = (
    broker_key(
        "num.partitions",
        ConfigType.INT,
        1,
        "Partitions of a topic whose creator did not say how many.",
        validator=at_least(1),
        read_by=_TOPICS,
    ),
    broker_key(
        "default.replication.factor",
        ConfigType.INT,
        1,
        "Replicas of a topic whose creator did not say how many.",
        validator=at_least(1),
        read_by=_TOPICS,
    ),
    broker_key(
        "auto.create.topics.enable",
        ConfigType.BOOLEAN,
        True,
        "Whether a client that asks for a topic that is not there may have it made.",
        read_by="penstock.broker.apis.metadata",
    ),
    broker_key(
        "delete.topic.enable",
        ConfigType.BOOLEAN,
        True,
        "Whether topics may be deleted.",
        read_by="penstock.metadata.topic_deletion",
    ),
)

_LOGS = (
    broker_key(
        "log.roll.ms",
        ConfigType.LONG,
        None,
        "Default of segment.ms for topics. Unset: log.roll.hours counts.",
        validator=at_least(1),
        dynamic=True,
        read_by=_TOPIC_DEFAULTS,
    ),
    broker_key(
        "log.roll.hours",
        ConfigType.INT,
        168,
        "Default of segment.ms for topics, in hours.",
        validator=at_least(1),
        read_by=_TOPIC_DEFAULTS,
    ),
    broker_key(
        "log.retention.ms",
        ConfigType.LONG,
        None,
        "Default of retention.ms for topics. Unset: log.retention.minutes counts.",
        validator=at_least(-1),
        dynamic=True,
        read_by=_TOPIC_DEFAULTS,
    ),
    broker_key(
        "log.retention.minutes",
        ConfigType.INT,
        None,
        "Default of retention.ms for topics, in minutes. Unset: log.retention.hours counts.",
        validator=at_least(-1),
        read_by=_TOPIC_DEFAULTS,
    ),
    broker_key(
        "log.retention.hours",
        ConfigType.INT,
        168,
        "Default of retention.ms for topics, in hours.",
        validator=at_least(-1),
        read_by=_TOPIC_DEFAULTS,
    ),
    broker_key(
        "log.retention.check.interval.ms",
        ConfigType.LONG,
        300_000,
        "How often the broker looks for segments that have outlived their retention.",
        validator=at_least(1),
        read_by=_HOUSEKEEPING,
    ),
    broker_key(
        "log.flush.offset.checkpoint.interval.ms",
        ConfigType.INT,
        5_000,
        "How often recovery points are written down; after a crash, what lies beyond them is checked again.",
        validator=at_least(1),
        read_by=_BROKER,
    ),
    broker_key(
        "producer.id.expiration.ms",
        ConfigType.INT,
        86_400_000,
        "How long the broker remembers an idempotent producer that has gone quiet.",
        validator=at_least(1),
        dynamic=True,
        read_by="penstock.broker.topic_settings",
    ),
    broker_key(
        "tail.cache.bytes",
        ConfigType.LONG,
        64 * _MEBIBYTE,
        "Memory for the newest batches, shared by all partitions; readers near the end are served from it. "
        "Penstock's own setting.",
        validator=at_least(0),
        read_by=_BROKER,
    ),
    broker_key(
        "kernel.flush.enable",
        ConfigType.BOOLEAN,
        True,
        "Whether the kernel flushes files by itself where it can, which is faster than threads that do. "
        "Penstock's own setting.",
        read_by=_BROKER,
    ),
    broker_key(
        "disk.reserve.bytes",
        ConfigType.LONG,
        1024 * _MEBIBYTE,
        "Produce requests are refused while less than this is free on the disk, or less than 5% of it where "
        "that is smaller. Penstock's own setting.",
        validator=at_least(0),
        read_by=_BROKER,
    ),
)

_READING = (
    broker_key(
        "fetch.max.bytes",
        ConfigType.INT,
        55 * _MEBIBYTE,
        "Largest answer to one fetch request.",
        validator=at_least(1024),
        read_by="penstock.broker.apis.fetch",
    ),
    broker_key(
        "max.incremental.fetch.session.cache.slots",
        ConfigType.INT,
        1_000,
        "How many fetch sessions are kept (KIP-227).",
        validator=at_least(0),
        read_by=_BROKER,
    ),
    broker_key(
        "max.request.partition.size.limit",
        ConfigType.INT,
        2_000,
        "How many partitions one answer of DescribeTopicPartitions holds at most.",
        validator=at_least(1),
        read_by=_DESCRIBE,
    ),
)

_DEFINED_BY_HAND = (
    _IDENTITY
    + _CONNECTIONS
    + _TOPIC_CREATION
    + _LOGS
    + _READING
    + CLUSTER_KEYS
    + CLEANER_KEYS
    + GROUP_KEYS
    + METRICS_KEYS
    + LOG_KEYS
    + REPLICATION_KEYS
    + TELEMETRY_KEYS
    + TRANSACTION_KEYS
)


def _topic_defaults() -> tuple[ConfigKey, ...]:
    """A broker setting for each topic setting that is acted on and has a single, same-valued synonym."""
    return tuple(
        broker_key(
            topic_key.synonyms[0].name,
            topic_key.type,
            topic_key.default,
            f"Default of {topic_key.name} for topics. {topic_key.doc}",
            validator=topic_key.validator,
            dynamic=True,
            read_by=_TOPIC_DEFAULTS,
        )
        for topic_key in TOPIC_KEYS.values()
        if topic_key.read_by and len(topic_key.synonyms) == 1
    )


BROKER_KEYS: dict[str, ConfigKey] = {
    key.name: key for key in sorted(_DEFINED_BY_HAND + _topic_defaults(), key=lambda key: key.name)
}
"""Every broker setting by name, in the order of names."""
