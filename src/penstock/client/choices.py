"""The settings that are one of a few: their members are what ``str`` and Kafka call them."""

from enum import StrEnum


class AckMode(StrEnum):
    """Who must have a record before it is acknowledged."""

    ALL = "all"
    """Every replica in sync has it on disk."""
    LEADER = "1"
    """The partition's leader has it on disk."""
    NONE = "0"
    """Nobody: futures end as soon as the record is sent, and know no offset."""


class CompressionType(StrEnum):
    """How batches are compressed."""

    NONE = "none"
    GZIP = "gzip"
    SNAPPY = "snappy"
    LZ4 = "lz4"
    ZSTD = "zstd"


class OffsetResetPolicy(StrEnum):
    """Where a consumer begins that has no committed offset, or whose offset is gone."""

    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "none"
    """Nowhere: ``poll`` raises ``OffsetUnavailable``."""


class IsolationLevel(StrEnum):
    """Whether records of transactions that are not committed are read."""

    READ_COMMITTED = "read_committed"
    READ_UNCOMMITTED = "read_uncommitted"


class GroupProtocol(StrEnum):
    """Who computes assignments: a member (classic), or the broker (consumer, KIP-848)."""

    CLASSIC = "classic"
    CONSUMER = "consumer"


class SecurityProtocol(StrEnum):
    """What a connection is wrapped in."""

    PLAINTEXT = "plaintext"
    SSL = "ssl"
    SASL_PLAINTEXT = "sasl_plaintext"
    SASL_SSL = "sasl_ssl"
