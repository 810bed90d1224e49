from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.ids import LeaderEpoch, Offset, TopicPartition
from penstock.model.limits import CHECKPOINT_BYTES_MAX
from penstock.storage.atomic_file import write_atomically
from penstock.storage.checkpoints import (
    EpochStart,
    read_leader_epoch_checkpoint,
    read_offset_checkpoint,
    write_leader_epoch_checkpoint,
    write_offset_checkpoint,
)
from penstock.storage.memory_filesystem import MemoryFileSystem

PATH = "/checkpoint"

topics = st.text(alphabet="abcXYZ019._-", min_size=1, max_size=30).filter(
    lambda name: name not in (".", "..")
)
partitions = st.builds(TopicPartition, topics, st.integers(0, 2**31 - 1))
offsets = st.integers(0, 2**63 - 1).map(Offset)


@pytest.fixture
def fs() -> MemoryFileSystem:
    return MemoryFileSystem(Random(1))


def epochs(*pairs: tuple[int, int]) -> list[EpochStart]:
    return [EpochStart(LeaderEpoch(epoch), Offset(start)) for epoch, start in pairs]


def test_offset_checkpoint_is_kafkas_text(fs: MemoryFileSystem) -> None:
    write_offset_checkpoint(
        fs, PATH, {TopicPartition("orders", 10): Offset(7), TopicPartition("orders", 2): Offset(0)}
    )
    assert fs.read_file(PATH) == b"0\n2\norders 2 0\norders 10 7\n"


def test_leader_epoch_checkpoint_is_kafkas_text(fs: MemoryFileSystem) -> None:
    write_leader_epoch_checkpoint(fs, PATH, epochs((0, 0), (3, 120)))
    assert fs.read_file(PATH) == b"0\n2\n0 0\n3 120\n"


@given(st.dictionaries(partitions, offsets, max_size=20))
def test_offset_checkpoint_reads_back_what_was_written(table: dict[TopicPartition, Offset]) -> None:
    fs = MemoryFileSystem(Random(1))
    write_offset_checkpoint(fs, PATH, table)
    assert read_offset_checkpoint(fs, PATH) == table


@given(st.lists(st.tuples(st.integers(0, 2**31 - 1), st.integers(0, 2**63 - 1)), max_size=20))
def test_leader_epoch_checkpoint_reads_back_what_was_written(pairs: list[tuple[int, int]]) -> None:
    fs = MemoryFileSystem(Random(1))
    starts = sorted(start for _, start in pairs)
    numbers = sorted({epoch for epoch, _ in pairs})
    table = epochs(*zip(numbers, starts, strict=False))
    write_leader_epoch_checkpoint(fs, PATH, table)
    assert read_leader_epoch_checkpoint(fs, PATH) == table


def test_missing_checkpoints_read_as_none(fs: MemoryFileSystem) -> None:
    assert read_offset_checkpoint(fs, PATH) is None
    assert read_leader_epoch_checkpoint(fs, PATH) is None


def test_checkpoint_without_final_newline_is_read(fs: MemoryFileSystem) -> None:
    write_atomically(fs, PATH, b"0\n1\norders 0 5")
    assert read_offset_checkpoint(fs, PATH) == {TopicPartition("orders", 0): 5}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"0",
        b"1\n0\n",
        b"0\n2\norders 0 5\n",
        b"0\n0\norders 0 5\n",
        b"0\n1\norders 0\n",
        b"0\n1\norders 0 5 6\n",
        b"0\n1\norders 0 -5\n",
        b"0\n1\norders 0 5_0\n",
        b"0\n1\norders 0 99999999999999999999\n",
        b"0\n1\norders x 5\n",
        b"0\n1\n../up 0 5\n",
        b"0\n1\n.. 0 5\n",
        b"0\n2\norders 0 5\norders 0 6\n",
        b"0\n1\norders 0 5\n\n",
        b"0\n1\n\xff\xfe 0 5\n",
        bytes(100),
    ],
)
def test_damaged_offset_checkpoint_reads_as_none(fs: MemoryFileSystem, content: bytes) -> None:
    write_atomically(fs, PATH, content)
    assert read_offset_checkpoint(fs, PATH) is None


@pytest.mark.parametrize(
    "content", [b"0\n2\n1 5\n1 6\n", b"0\n2\n1 5\n2 4\n", b"0\n1\n1\n", b"0\n1\na b\n", b"7\n0\n"]
)
def test_damaged_leader_epoch_checkpoint_reads_as_none(fs: MemoryFileSystem, content: bytes) -> None:
    write_atomically(fs, PATH, content)
    assert read_leader_epoch_checkpoint(fs, PATH) is None


def test_absurdly_large_checkpoint_is_not_even_read(fs: MemoryFileSystem) -> None:
    file = fs.open(PATH, create=True)
    file.truncate(CHECKPOINT_BYTES_MAX + 1)
    assert read_offset_checkpoint(fs, PATH) is None
