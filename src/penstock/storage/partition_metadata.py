"""``partition.metadata``: the topic id of the partition whose files lie beside it.

Names come back when a topic is deleted and made again; ids do not. The id in this file keeps a new topic from
adopting an old one's records.
"""

import re

from penstock.model.errors import StorageError
from penstock.model.ids import TopicId, uuid_from_text, uuid_to_text
from penstock.storage.atomic_file import write_atomically
from penstock.storage.filesystem import FileSystem, join_path

PARTITION_METADATA = "partition.metadata"

_CONTENT = re.compile(r"version: 0\ntopic_id: ([A-Za-z0-9_-]{22})\n?")


def read_partition_metadata(fs: FileSystem, directory: str) -> TopicId | None:
    """The topic id; None without a file. A damaged file raises, since guessing could mix two topics."""
    path = join_path(directory, PARTITION_METADATA)
    if not fs.exists(path):
        return None
    match = _CONTENT.fullmatch(fs.read_file(path).decode(errors="replace"))
    if match is None:
        raise StorageError(f"{path} does not say which topic id the partition has")
    return TopicId(uuid_from_text(match[1]))


def write_partition_metadata(fs: FileSystem, directory: str, topic_id: TopicId) -> None:
    """Bind the directory to a topic id, durably."""
    write_atomically(fs, join_path(directory, PARTITION_METADATA), partition_metadata_content(topic_id))


def partition_metadata_content(topic_id: TopicId) -> bytes:
    """What the file holds, for a caller that makes many and batches the syncs."""
    return f"version: 0\ntopic_id: {uuid_to_text(topic_id)}".encode()
