"""The files of a partition's replicas, side by side."""

from collections.abc import Sequence
from pathlib import Path


def log_bytes(data_directory: Path, topic: str, partition: int) -> bytes:
    """All batches of a replica in their order, whatever segments they are in."""
    paths = sorted((data_directory / f"{topic}-{partition}").glob("*.log"))
    return b"".join(path.read_bytes() for path in paths)


def check_replicas_equal(data_directories: Sequence[Path], topic: str, partitions: int) -> None:
    """Of brokers that were stopped in good order: every replica has the same bytes."""
    for partition in range(partitions):
        logs = [log_bytes(directory, topic, partition) for directory in data_directories]
        assert logs[0], f"{topic}-{partition} is empty"
        different = [number for number, log in enumerate(logs) if log != logs[0]]
        assert not different, f"{topic}-{partition}: replicas {different} differ from replica 0"
