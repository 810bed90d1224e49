"""Choices that several commands offer in the same words."""

from enum import StrEnum


class Acks(StrEnum):
    """Whose word is waited for."""

    NONE = "0"
    LEADER = "1"
    ALL = "all"

    @property
    def number(self) -> int:
        """As the wire carries it."""
        return -1 if self is Acks.ALL else int(self.value)


class Compression(StrEnum):
    """What batches are compressed with."""

    NONE = "none"
    GZIP = "gzip"
    SNAPPY = "snappy"
    LZ4 = "lz4"
    ZSTD = "zstd"


class Client(StrEnum):
    """What drives a benchmark."""

    RAW = "raw"
    LIBRDKAFKA = "librdkafka"
