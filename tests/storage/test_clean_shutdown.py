import json
from random import Random

import pytest

from penstock.storage.atomic_file import write_atomically
from penstock.storage.clean_shutdown import (
    CleanShutdown,
    read_clean_shutdown,
    remove_clean_shutdown,
    write_clean_shutdown,
)
from penstock.storage.memory_filesystem import MemoryFileSystem

MARKER = CleanShutdown(broker_epoch=42, file_sizes={"b-0/00000000000000000000.log": 7, "a-0/1.log": 0})
PATH = "/data/.kafka_cleanshutdown"


def disk(seed: int = 1) -> MemoryFileSystem:
    fs = MemoryFileSystem(Random(seed))
    fs.make_directory("/data")
    fs.sync_directory("/")
    return fs


def test_clean_shutdown_reads_back_what_was_written() -> None:
    fs = disk()
    write_clean_shutdown(fs, "/data", MARKER)
    assert read_clean_shutdown(fs, "/data") == MARKER


def test_clean_shutdown_has_the_fields_kafka_reads() -> None:
    fs = disk()
    write_clean_shutdown(fs, "/data", MARKER)
    content = json.loads(fs.read_file(PATH))
    assert content["version"] == 0
    assert content["brokerEpoch"] == 42


def test_clean_shutdown_missing_is_none() -> None:
    assert read_clean_shutdown(disk(), "/data") is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'{"version":0}',
        b'{"version":0,"brokerEpoch":1}',
        b'{"version":1,"brokerEpoch":1,"files":{}}',
        b'{"version":0,"brokerEpoch":"x","files":{}}',
        b'{"version":0,"brokerEpoch":1,"files":{"a":"b"}}',
        b"\xff\xff",
    ],
)
def test_clean_shutdown_that_cannot_be_read_vouches_for_nothing(content: bytes) -> None:
    fs = disk()
    write_atomically(fs, PATH, content)
    assert read_clean_shutdown(fs, "/data") is None


def test_removed_marker_never_comes_back() -> None:
    for seed in range(50):
        fs = disk(seed)
        write_clean_shutdown(fs, "/data", MARKER)
        remove_clean_shutdown(fs, "/data")
        fs.power_loss()
        assert read_clean_shutdown(fs, "/data") is None


def test_removing_a_missing_marker_is_harmless() -> None:
    fs = disk()
    remove_clean_shutdown(fs, "/data")
    assert fs.list_directory("/data") == []
