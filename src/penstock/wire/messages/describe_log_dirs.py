"""DescribeLogDirs (key 35): how much the partitions of this broker take on its disks.

Version notes: 2 flexible; 3 an error code for the whole answer; 4 sizes of the volume; 5 cordoning.
"""

from penstock.wire.primitives import BOOLEAN, INT16, INT32, INT64, STRING
from penstock.wire.schema import Struct, array, field, nullable_array


class DescribableLogDirTopic(Struct):
    """The partitions of one topic to look at."""

    topic: str = field(STRING)
    partitions: tuple[int, ...] = array(INT32)


class DescribeLogDirsRequest(Struct):
    """How big are these? Null means everything here."""

    topics: tuple[DescribableLogDirTopic, ...] | None = nullable_array(DescribableLogDirTopic)


class DescribeLogDirsPartition(Struct):
    """One partition's size on this disk."""

    partition_index: int = field(INT32)
    partition_size: int = field(INT64)
    offset_lag: int = field(INT64)
    is_future_key: bool = field(BOOLEAN)


class DescribeLogDirsTopic(Struct):
    """One topic's partitions on this disk."""

    name: str = field(STRING)
    partitions: tuple[DescribeLogDirsPartition, ...] = array(DescribeLogDirsPartition)


class DescribeLogDirsResult(Struct):
    """One data directory."""

    error_code: int = field(INT16)
    log_dir: str = field(STRING)
    topics: tuple[DescribeLogDirsTopic, ...] = array(DescribeLogDirsTopic)
    total_bytes: int = field(INT64, "4+", default=-1)
    usable_bytes: int = field(INT64, "4+", default=-1)
    is_cordoned: bool = field(BOOLEAN, "5+")


class DescribeLogDirsResponse(Struct):
    """All data directories of this broker."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16, "3+")
    results: tuple[DescribeLogDirsResult, ...] = array(DescribeLogDirsResult)
