"""The table of topic settings: all of Kafka 4's, with its names, types and defaults.

The one default that differs is ``flush.messages``: 1, since acknowledged means on disk. Settings without
``read_by`` belong to features Penstock does not have yet; topics carry them so that tools written for Kafka
find what they look for, and their text says so. ``segment.bytes`` keeps the lower bound of Kafka before 4.0:
small segments are useful in tests.
"""

from penstock.config.definition import LONG_MAX, ConfigKey, ConfigType, ConfigValue, Scope, Synonym, Validator
from penstock.config.validators import (
    at_least,
    between,
    between_or,
    list_of,
    one_of,
    only,
    throttled_replicas,
)

HOUR_MS = 3_600_000
MINUTE_MS = 60_000
WEEK_MS = 7 * 24 * HOUR_MS

_SETTINGS = "penstock.broker.topic_settings"
_RULES = "penstock.metadata.replication_rules"
_THROTTLES = "penstock.broker.replication.throttles"

_COMPRESSION_TYPES = ("producer", "uncompressed", "gzip", "snappy", "lz4", "zstd")
_NO_TIERS = "tiered storage is not available"
_NOT_ACTED_ON = " Kept and shown; Penstock does not act on it yet."


def _topic_key(
    name: str,
    type: ConfigType,
    default: ConfigValue,
    doc: str,
    *,
    synonyms: tuple[Synonym, ...] | str = (),
    validator: Validator | None = None,
    read_by: str = "",
) -> ConfigKey:
    return ConfigKey(
        name=name,
        type=type,
        default=default,
        doc=doc if read_by else doc + _NOT_ACTED_ON,
        scope=Scope.TOPIC,
        validator=validator,
        dynamic=True,
        read_by=read_by,
        synonyms=(Synonym(name=synonyms),) if isinstance(synonyms, str) else synonyms,
    )


_SIZE_AND_TIME = (
    _topic_key(
        "retention.ms",
        ConfigType.LONG,
        WEEK_MS,
        "How long records are kept before a whole old segment may be deleted; -1 keeps them for ever.",
        synonyms=(
            Synonym(name="log.retention.ms"),
            Synonym(name="log.retention.minutes", factor=MINUTE_MS),
            Synonym(name="log.retention.hours", factor=HOUR_MS),
        ),
        validator=at_least(-1),
        read_by=_SETTINGS,
    ),
    _topic_key(
        "retention.bytes",
        ConfigType.LONG,
        -1,
        "How large a partition may grow before its oldest segments are deleted; -1 sets no limit.",
        synonyms="log.retention.bytes",
        read_by=_SETTINGS,
    ),
    _topic_key(
        "segment.bytes",
        ConfigType.INT,
        1024**3,
        "Size at which a segment is closed and the next one begun. Retention removes whole segments.",
        synonyms="log.segment.bytes",
        validator=at_least(14),
        read_by=_SETTINGS,
    ),
    _topic_key(
        "segment.ms",
        ConfigType.LONG,
        WEEK_MS,
        "Age at which a segment is closed even when it is not full, so that retention can reach it.",
        synonyms=(Synonym(name="log.roll.ms"), Synonym(name="log.roll.hours", factor=HOUR_MS)),
        validator=at_least(1),
        read_by=_SETTINGS,
    ),
    _topic_key(
        "segment.jitter.ms",
        ConfigType.LONG,
        0,
        "Upper bound of a random amount taken off segment.ms, so that segments do not all roll at once.",
        synonyms=(Synonym(name="log.roll.jitter.ms"), Synonym(name="log.roll.jitter.hours", factor=HOUR_MS)),
        validator=at_least(0),
    ),
    _topic_key(
        "segment.index.bytes",
        ConfigType.INT,
        10 * 1024**2,
        "Size of a segment's offset index; a full index closes the segment.",
        synonyms="log.index.size.max.bytes",
        validator=at_least(4),
        read_by=_SETTINGS,
    ),
    _topic_key(
        "index.interval.bytes",
        ConfigType.INT,
        4096,
        "How many log bytes lie between two entries of the offset index.",
        synonyms="log.index.interval.bytes",
        validator=at_least(0),
        read_by=_SETTINGS,
    ),
    _topic_key(
        "file.delete.delay.ms",
        ConfigType.LONG,
        60_000,
        "How long a removed segment's files stay on disk under another name, for readers still in them.",
        synonyms="log.segment.delete.delay.ms",
        validator=at_least(0),
        read_by=_SETTINGS,
    ),
    _topic_key(
        "preallocate",
        ConfigType.BOOLEAN,
        False,
        "Whether a new segment's file is given its full size at once.",
        synonyms="log.preallocate",
        read_by=_SETTINGS,
    ),
)

_DURABILITY = (
    _topic_key(
        "flush.messages",
        ConfigType.LONG,
        1,
        "After how many records data is forced to disk. With 1, the default, an acknowledged record is on "
        "disk; anything larger acknowledges from the page cache, as Kafka does.",
        synonyms="log.flush.interval.messages",
        validator=at_least(1),
        read_by=_SETTINGS,
    ),
    _topic_key(
        "flush.ms",
        ConfigType.LONG,
        LONG_MAX,
        "After how long data is forced to disk when flush.messages is larger than 1.",
        synonyms="log.flush.interval.ms",
        validator=at_least(0),
        read_by=_SETTINGS,
    ),
    _topic_key(
        "min.insync.replicas",
        ConfigType.INT,
        1,
        "How many replicas must have a batch before acks=all is answered; with fewer in sync, writes are "
        "refused.",
        synonyms="min.insync.replicas",
        validator=at_least(1),
        read_by=_RULES,
    ),
    _topic_key(
        "unclean.leader.election.enable",
        ConfigType.BOOLEAN,
        False,
        "Whether a replica that is not in sync may become leader, which loses data.",
        synonyms="unclean.leader.election.enable",
        read_by=_RULES,
    ),
)

_RECORDS = (
    _topic_key(
        "max.message.bytes",
        ConfigType.INT,
        1024**2 + 12,
        "Largest record batch a producer may send, as it travels (after compression).",
        synonyms="message.max.bytes",
        validator=at_least(0),
        read_by=_SETTINGS,
    ),
    _topic_key(
        "message.timestamp.type",
        ConfigType.STRING,
        "CreateTime",
        "Whether records keep the producer's time (CreateTime) or get the broker's (LogAppendTime).",
        synonyms="log.message.timestamp.type",
        validator=one_of("CreateTime", "LogAppendTime"),
        read_by=_SETTINGS,
    ),
    _topic_key(
        "message.timestamp.before.max.ms",
        ConfigType.LONG,
        LONG_MAX,
        "How far a CreateTime timestamp may lie in the past.",
        synonyms="log.message.timestamp.before.max.ms",
        validator=at_least(0),
        read_by=_SETTINGS,
    ),
    _topic_key(
        "message.timestamp.after.max.ms",
        ConfigType.LONG,
        HOUR_MS,
        "How far a CreateTime timestamp may lie in the future.",
        synonyms="log.message.timestamp.after.max.ms",
        validator=at_least(0),
        read_by=_SETTINGS,
    ),
    _topic_key(
        "compression.type",
        ConfigType.STRING,
        "producer",
        "Codec batches are stored with; 'producer' keeps what was sent and costs nothing.",
        synonyms="compression.type",
        validator=one_of(*_COMPRESSION_TYPES),
        read_by=_SETTINGS,
    ),
    _topic_key(
        "compression.gzip.level",
        ConfigType.INT,
        -1,
        "Level used when batches are stored with gzip.",
        synonyms="compression.gzip.level",
        validator=between_or(1, 9, other=-1),
    ),
    _topic_key(
        "compression.lz4.level",
        ConfigType.INT,
        9,
        "Level used when batches are stored with lz4.",
        synonyms="compression.lz4.level",
        validator=between(1, 17),
    ),
    _topic_key(
        "compression.zstd.level",
        ConfigType.INT,
        3,
        "Level used when batches are stored with zstd.",
        synonyms="compression.zstd.level",
        validator=between(-131_072, 22),
    ),
)

_COMPACTION = (
    _topic_key(
        "cleanup.policy",
        ConfigType.LIST,
        ("delete",),
        "What becomes of old data: 'delete' drops whole segments by age and size, 'compact' keeps each key's "
        "last value. A topic with 'compact' refuses records without a key.",
        synonyms="log.cleanup.policy",
        validator=list_of("compact", "delete"),
        read_by=_SETTINGS,
    ),
    _topic_key(
        "delete.retention.ms",
        ConfigType.LONG,
        24 * HOUR_MS,
        "How long the tombstone of a deleted key stays in a compacted topic, from the first compaction that "
        "met it. A reader that needs longer for the whole topic may miss that the key is gone.",
        synonyms="log.cleaner.delete.retention.ms",
        validator=at_least(0),
        read_by=_SETTINGS,
    ),
    _topic_key(
        "min.compaction.lag.ms",
        ConfigType.LONG,
        0,
        "How long a record is safe from compaction.",
        synonyms="log.cleaner.min.compaction.lag.ms",
        validator=at_least(0),
        read_by=_SETTINGS,
    ),
    _topic_key(
        "max.compaction.lag.ms",
        ConfigType.LONG,
        LONG_MAX,
        "After how long a record must have become eligible for compaction; also closes segments of that age.",
        synonyms="log.cleaner.max.compaction.lag.ms",
        validator=at_least(1),
        read_by=_SETTINGS,
    ),
    _topic_key(
        "min.cleanable.dirty.ratio",
        ConfigType.DOUBLE,
        0.5,
        "Which share of a log must be uncompacted before compaction is worth its while.",
        synonyms="log.cleaner.min.cleanable.ratio",
        validator=between(0, 1),
        read_by=_SETTINGS,
    ),
)

_REPLICATION_AND_TIERS = (
    _topic_key(
        "leader.replication.throttled.replicas",
        ConfigType.LIST,
        (),
        "Replicas whose traffic is limited on the leader's side.",
        validator=throttled_replicas(),
        read_by=_THROTTLES,
    ),
    _topic_key(
        "follower.replication.throttled.replicas",
        ConfigType.LIST,
        (),
        "Replicas whose traffic is limited on the follower's side.",
        validator=throttled_replicas(),
        read_by=_THROTTLES,
    ),
    _topic_key(
        "remote.storage.enable",
        ConfigType.BOOLEAN,
        False,
        "Whether old segments move to remote storage.",
        validator=only(False, reason=_NO_TIERS),
    ),
    _topic_key(
        "remote.log.copy.disable",
        ConfigType.BOOLEAN,
        False,
        "Whether copying to remote storage is stopped.",
        validator=only(False, reason=_NO_TIERS),
    ),
    _topic_key(
        "remote.log.delete.on.disable",
        ConfigType.BOOLEAN,
        False,
        "Whether remote data goes when remote storage is turned off.",
        validator=only(False, reason=_NO_TIERS),
    ),
    _topic_key(
        "local.retention.ms",
        ConfigType.LONG,
        -2,
        "How long segments stay on local disk when they are also remote; -2 takes retention.ms.",
        synonyms="log.local.retention.ms",
        validator=at_least(-2),
    ),
    _topic_key(
        "local.retention.bytes",
        ConfigType.LONG,
        -2,
        "How much stays on local disk when it is also remote; -2 takes retention.bytes.",
        synonyms="log.local.retention.bytes",
        validator=at_least(-2),
    ),
)

TOPIC_KEYS: dict[str, ConfigKey] = {
    key.name: key
    for key in sorted(
        _SIZE_AND_TIME + _DURABILITY + _RECORDS + _COMPACTION + _REPLICATION_AND_TIERS,
        key=lambda key: key.name,
    )
}
"""Every topic setting by name, in the order of names."""
