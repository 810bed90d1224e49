"""The settings of the cleaner, which compacts logs.

Two defaults differ from Kafka's: the map of keys gets 48 MiB instead of 128, and there is one cleaner, so
that nothing has to be divided by a number of threads.
"""

from penstock.config.broker_key import broker_key
from penstock.config.definition import ConfigType
from penstock.config.validators import at_least

_CLEANER = "penstock.broker.cleaner"

UNLIMITED_BYTES_PER_SECOND = 1.7976931348623157e308
"""Kafka's default, the largest number there is."""


CLEANER_KEYS = (
    broker_key(
        "log.cleaner.enable",
        ConfigType.BOOLEAN,
        True,
        "Whether topics with cleanup.policy=compact are compacted. Without it they, and the broker's own "
        "internal topics, grow for ever.",
        read_by=_CLEANER,
    ),
    broker_key(
        "log.cleaner.dedupe.buffer.size",
        ConfigType.LONG,
        48 * 1024**2,
        "Memory for the map of keys. Where a log has more keys than fit (about 4,800 in a mebibyte), one "
        "pass covers only its older part and the next goes on.",
        validator=at_least(1024**2),
        dynamic=True,
        read_by=_CLEANER,
    ),
    broker_key(
        "log.cleaner.io.max.bytes.per.second",
        ConfigType.DOUBLE,
        UNLIMITED_BYTES_PER_SECOND,
        "How much compaction reads and writes in a second at most, on average.",
        validator=at_least(1),
        dynamic=True,
        read_by=_CLEANER,
    ),
    broker_key(
        "log.cleaner.backoff.ms",
        ConfigType.LONG,
        15_000,
        "How long the cleaner rests when no log is due.",
        validator=at_least(0),
        dynamic=True,
        read_by=_CLEANER,
    ),
)
