from random import Random

import pytest

from penstock.model.errors import StorageError
from penstock.model.ids import TopicId
from penstock.storage.atomic_file import write_atomically
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.partition_metadata import read_partition_metadata, write_partition_metadata

TOPIC_ID = TopicId(bytes(range(16)))


@pytest.fixture
def fs() -> MemoryFileSystem:
    fs = MemoryFileSystem(Random(1))
    fs.make_directory("/orders-0")
    return fs


def test_partition_metadata_reads_back_and_is_kafkas_text(fs: MemoryFileSystem) -> None:
    write_partition_metadata(fs, "/orders-0", TOPIC_ID)
    assert read_partition_metadata(fs, "/orders-0") == TOPIC_ID
    text = fs.read_file("/orders-0/partition.metadata")
    assert text == b"version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw"


def test_partition_metadata_with_final_newline_is_read(fs: MemoryFileSystem) -> None:
    write_atomically(fs, "/orders-0/partition.metadata", b"version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw\n")
    assert read_partition_metadata(fs, "/orders-0") == TOPIC_ID


def test_partition_metadata_missing_is_none(fs: MemoryFileSystem) -> None:
    assert read_partition_metadata(fs, "/orders-0") is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"version: 1\ntopic_id: AAECAwQFBgcICQoLDA0ODw\n",
        b"version: 0\ntopic_id: AAEC\n",
        b"version: 0\ntopic_id: \xff\xffECAwQFBgcICQoLDA0ODw\n",
        b"version: 0\n",
    ],
)
def test_damaged_partition_metadata_is_never_guessed(fs: MemoryFileSystem, content: bytes) -> None:
    write_atomically(fs, "/orders-0/partition.metadata", content)
    with pytest.raises(StorageError, match="topic id"):
        read_partition_metadata(fs, "/orders-0")
