"""A bit that turns over in a log while its machine is off.

Only where the seal vouches for the batch: an outage and rot that meet in one batch, before anybody has
written down that it was durable, cannot be told from a torn end. And only above the recovery point: what lies
below is not looked at before somebody reads it, and a broker that finds rot then tells, but cannot mend it.
"""

from collections.abc import Iterator
from random import Random

from penstock.records.batch import split_batches
from penstock.sim.cluster.node import DATA_DIRECTORY
from penstock.storage.checkpoints import RECOVERY_POINT_CHECKPOINT, read_offset_checkpoint
from penstock.storage.filesystem import join_path
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.partition_directory import parse_directory_name
from penstock.storage.partition_metadata import read_partition_metadata
from penstock.storage.seal import SEAL_FILE, Seal, SealKey
from penstock.storage.segment import LOG_SUFFIX

LEADER_EPOCH_BYTES = range(12, 16)
"""Outside of the checksum, and any value not below the last one's is a good one: nobody can tell."""


def spoil_log(disk: MemoryFileSystem, topic: str, draw: Random) -> str | None:
    """Turn one bit over in some batch of a topic's logs; answers where, or None if there is no such batch."""
    places = list(_vouched_places(disk, topic))
    if not places:
        return None
    path, start, size = draw.choice(places)
    position = start + draw.choice([byte for byte in range(size) if byte not in LEADER_EPOCH_BYTES])
    disk.flip_bit(path, position)
    return f"byte {position} of {path}"


def _vouched_places(disk: MemoryFileSystem, topic: str) -> Iterator[tuple[str, int, int]]:
    """File, position and size of every batch that is known to be durable and will be looked at."""
    recovery_points = read_offset_checkpoint(disk, join_path(DATA_DIRECTORY, RECOVERY_POINT_CHECKPOINT)) or {}
    seal = Seal.open(disk, join_path(DATA_DIRECTORY, SEAL_FILE))
    for name in disk.list_directory(DATA_DIRECTORY):
        partition = parse_directory_name(name)
        if partition is None or partition.topic != topic:
            continue
        directory = join_path(DATA_DIRECTORY, name)
        topic_id = read_partition_metadata(disk, directory)
        sealed = 0 if topic_id is None else seal.sealed_offset(SealKey(topic_id, partition.partition)) or 0
        for file in disk.list_directory(directory):
            if file.endswith(LOG_SUFFIX):
                path = join_path(directory, file)
                for start, header in split_batches(disk.read_file(path)):
                    if recovery_points.get(partition, 0) <= header.base_offset < header.next_offset <= sealed:
                        yield path, start, header.size_bytes
    seal.close()
