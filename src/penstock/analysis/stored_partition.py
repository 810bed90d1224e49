"""The partitions that lie in a data directory, with their files, as a look from outside finds them.

Nothing is opened for writing, nothing repaired, nothing locked. A broker may run beside it: files may grow,
or be gone by the time they are looked at, and both are no failure.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.model.errors import UsageError
from penstock.model.ids import TopicPartition
from penstock.storage.filesystem import FileSystem, PathMissingError, join_path
from penstock.storage.meta_properties import META_PROPERTIES
from penstock.storage.partition_directory import parse_directory_name
from penstock.storage.segment import LOG_SUFFIX

_SEGMENT_FILE = re.compile(r"([0-9]{20})(\.[a-z]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSegment:
    """A segment by the files that were there when somebody looked."""

    base_offset: int
    directory: str
    sizes: dict[str, int]
    """Bytes by suffix: ``.log``, ``.index``, ``.timeindex``, ..."""
    is_newest: bool
    """Whether it is the last of its partition, which a broker may be writing."""

    @property
    def size(self) -> int:
        """Bytes of the batches."""
        return self.sizes[LOG_SUFFIX]

    @property
    def index_bytes(self) -> int:
        """Bytes of everything that is derived from the batches."""
        return sum(self.sizes.values()) - self.size

    def path(self, suffix: str = LOG_SUFFIX) -> str:
        """Where one of its files is."""
        return join_path(self.directory, f"{self.base_offset:020d}{suffix}")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPartition:
    """A partition's directory."""

    partition: TopicPartition
    directory: str
    segments: tuple[StoredSegment, ...]
    """Oldest first."""
    file_count: int
    file_bytes: int
    """Of all files, also those that belong to no segment."""

    @property
    def log_bytes(self) -> int:
        """Bytes of all segments' batches."""
        return sum(segment.size for segment in self.segments)


def find_partitions(filesystem: FileSystem, data_directory: str) -> Iterator[StoredPartition]:
    """Every partition in ``data_directory``, by topic and number."""
    if not filesystem.is_directory(data_directory):
        raise UsageError(f"There is no directory {data_directory}.")
    names = filesystem.list_directory(data_directory)
    parsed = ((parse_directory_name(name), name) for name in names)
    for partition, name in sorted((partition, name) for partition, name in parsed if partition is not None):
        directory = join_path(data_directory, name)
        if filesystem.is_directory(directory) and not _is_of_a_broker(filesystem, directory):
            yield _look_at(filesystem, partition, directory)


def _is_of_a_broker(filesystem: FileSystem, directory: str) -> bool:
    """Whether this is all that a broker has: ``node-1`` of a cluster reads like partition 1 of a topic."""
    return filesystem.exists(join_path(directory, META_PROPERTIES))


def _look_at(filesystem: FileSystem, partition: TopicPartition, directory: str) -> StoredPartition:
    sizes = dict(_file_sizes(filesystem, directory))
    segments: dict[int, dict[str, int]] = defaultdict(dict)
    for name, size in sizes.items():
        if match := _SEGMENT_FILE.fullmatch(name):
            segments[int(match[1])][match[2]] = size
    logs = sorted(base for base, files in segments.items() if LOG_SUFFIX in files)
    return StoredPartition(
        partition=partition,
        directory=directory,
        segments=tuple(
            StoredSegment(
                base_offset=base, directory=directory, sizes=segments[base], is_newest=base == logs[-1]
            )
            for base in logs
        ),
        file_count=len(sizes),
        file_bytes=sum(sizes.values()),
    )


def _file_sizes(filesystem: FileSystem, directory: str) -> Iterator[tuple[str, int]]:
    try:
        names = filesystem.list_directory(directory)
    except PathMissingError:
        return
    for name in names:
        try:
            yield name, filesystem.size(join_path(directory, name))
        except PathMissingError:
            continue
