"""The settings of consumer groups and of the offsets they keep."""

from penstock.config.broker_key import broker_key
from penstock.config.definition import INT_MAX, ConfigType
from penstock.config.validators import at_least, one_of, some_of

_READ_BY = "penstock.broker.coordination.groups"


GROUP_KEYS = (
    broker_key(
        "group.min.session.timeout.ms",
        ConfigType.INT,
        6_000,
        "The shortest session timeout that a member of a classic group may ask for.",
        validator=at_least(1),
        read_by=_READ_BY,
    ),
    broker_key(
        "group.max.session.timeout.ms",
        ConfigType.INT,
        1_800_000,
        "The longest session timeout that a member of a classic group may ask for.",
        validator=at_least(1),
        read_by=_READ_BY,
    ),
    broker_key(
        "group.max.size",
        ConfigType.INT,
        INT_MAX,
        "How many members a classic group may have.",
        validator=at_least(1),
        read_by=_READ_BY,
    ),
    broker_key(
        "group.initial.rebalance.delay.ms",
        ConfigType.INT,
        3_000,
        "How long a new classic group waits for more members before its first generation.",
        validator=at_least(0),
        read_by=_READ_BY,
    ),
    broker_key(
        "group.consumer.session.timeout.ms",
        ConfigType.INT,
        45_000,
        "After how long without a heartbeat a member of a consumer group is taken out.",
        validator=at_least(1),
        read_by=_READ_BY,
    ),
    broker_key(
        "group.consumer.heartbeat.interval.ms",
        ConfigType.INT,
        5_000,
        "How often members of consumer groups are told to send heartbeats.",
        validator=at_least(1),
        read_by=_READ_BY,
    ),
    broker_key(
        "group.consumer.max.size",
        ConfigType.INT,
        INT_MAX,
        "How many members a consumer group may have.",
        validator=at_least(1),
        read_by=_READ_BY,
    ),
    broker_key(
        "group.consumer.assignors",
        ConfigType.LIST,
        ("uniform", "range"),
        "How partitions of consumer groups are assigned; members may choose one of these, and get the first "
        "otherwise.",
        validator=some_of("uniform", "range"),
        read_by=_READ_BY,
    ),
    broker_key(
        "group.consumer.migration.policy",
        ConfigType.STRING,
        "bidirectional",
        "Which way a group with members may change between the classic and the consumer protocol.",
        validator=one_of("bidirectional", "upgrade", "downgrade", "disabled"),
        read_by=_READ_BY,
    ),
    broker_key(
        "offset.metadata.max.bytes",
        ConfigType.INT,
        4_096,
        "How much a client may write beside an offset it commits.",
        validator=at_least(0),
        read_by=_READ_BY,
    ),
    broker_key(
        "offsets.retention.minutes",
        ConfigType.INT,
        10_080,
        "For how long the offsets of a group are kept after its last member has left.",
        validator=at_least(1),
        read_by=_READ_BY,
    ),
    broker_key(
        "offsets.retention.check.interval.ms",
        ConfigType.LONG,
        600_000,
        "How often the broker looks for offsets that have outlived their retention.",
        validator=at_least(1),
        read_by=_READ_BY,
    ),
    broker_key(
        "offsets.topic.num.partitions",
        ConfigType.INT,
        50,
        "Partitions of __consumer_offsets. It counts when the topic is made; changing it later does nothing.",
        validator=at_least(1),
        read_by=_READ_BY,
    ),
    broker_key(
        "offsets.topic.replication.factor",
        ConfigType.INT,
        3,
        "Replicas of __consumer_offsets; a smaller cluster has as many as it has brokers.",
        validator=at_least(1),
        read_by=_READ_BY,
    ),
    broker_key(
        "offsets.topic.segment.bytes",
        ConfigType.INT,
        104_857_600,
        "Segment size of __consumer_offsets.",
        validator=at_least(1),
        read_by=_READ_BY,
    ),
)
