from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.errors import DiskFullError
from penstock.model.ids import Offset, TopicId
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.seal import SLOT_BYTES, Seal, SealKey

PATH = "/durable-offsets"


def key(number: int, partition: int = 0) -> SealKey:
    return SealKey(TopicId(number.to_bytes(16, "big")), partition)


@pytest.fixture
def fs() -> MemoryFileSystem:
    return MemoryFileSystem(Random(1))


def test_seal_of_an_unknown_partition_is_none(fs: MemoryFileSystem) -> None:
    assert Seal.open(fs, PATH).sealed_offset(key(1)) is None


def test_seal_flushed_survives_power_loss() -> None:
    for seed in range(20):
        fs = MemoryFileSystem(Random(seed))
        seal = Seal.open(fs, PATH)
        seal.record(key(1), Offset(10))
        seal.record(key(1, 5), Offset(2**62))
        seal.flush()
        fs.power_loss()
        again = Seal.open(fs, PATH)
        assert again.sealed_offset(key(1)) == 10
        assert again.sealed_offset(key(1, 5)) == 2**62


def test_seal_unflushed_is_the_old_or_the_new_offset_after_power_loss() -> None:
    seen = set()
    for seed in range(50):
        fs = MemoryFileSystem(Random(seed))
        seal = Seal.open(fs, PATH)
        seal.record(key(1), Offset(10))
        seal.flush()
        seal.record(key(1), Offset(20))
        job = seal.begin_write()
        assert job is not None
        job.write()
        fs.power_loss()
        seen.add(Seal.open(fs, PATH).sealed_offset(key(1)))
    assert seen == {10, 20}


def test_seal_moves_only_forward_by_record_and_only_back_by_lower(fs: MemoryFileSystem) -> None:
    seal = Seal.open(fs, PATH)
    seal.record(key(1), Offset(10))
    seal.record(key(1), Offset(5))
    assert seal.sealed_offset(key(1)) == 10
    seal.lower(key(1), Offset(15))
    assert seal.sealed_offset(key(1)) == 10
    seal.lower(key(1), Offset(3))
    seal.flush()
    assert Seal.open(fs, PATH).sealed_offset(key(1)) == 3
    seal.lower(key(9), Offset(3))
    assert seal.sealed_offset(key(9)) is None


def test_seal_of_an_empty_log_takes_no_slot(fs: MemoryFileSystem) -> None:
    seal = Seal.open(fs, PATH)
    seal.record(key(1), Offset(0))
    assert seal.begin_write() is None


def test_seal_forgotten_slot_is_used_again(fs: MemoryFileSystem) -> None:
    seal = Seal.open(fs, PATH)
    for number in range(3):
        seal.record(key(number), Offset(number + 1))
    seal.flush()
    seal.forget(key(1))
    seal.forget(key(77))
    seal.flush()
    again = Seal.open(fs, PATH)
    assert again.sealed_offset(key(1)) is None
    again.record(key(8), Offset(80))
    again.flush()
    assert fs.size(PATH) == 3 * SLOT_BYTES
    last = Seal.open(fs, PATH)
    assert [last.sealed_offset(key(number)) for number in (0, 1, 2, 8)] == [1, None, 3, 80]


def test_seal_retain_frees_all_others(fs: MemoryFileSystem) -> None:
    seal = Seal.open(fs, PATH)
    for number in range(4):
        seal.record(key(number), Offset(5))
    seal.retain([key(2), key(9)])
    seal.flush()
    again = Seal.open(fs, PATH)
    assert [again.sealed_offset(key(number)) for number in range(4)] == [None, None, 5, None]


def test_seal_damaged_slot_is_unknown_and_others_stand(fs: MemoryFileSystem) -> None:
    seal = Seal.open(fs, PATH)
    seal.record(key(1), Offset(10))
    seal.record(key(2), Offset(20))
    seal.flush()
    fs.flip_bit(PATH, 23)
    again = Seal.open(fs, PATH)
    assert again.sealed_offset(key(1)) is None
    assert again.sealed_offset(key(2)) == 20


def test_seal_with_half_a_slot_at_the_end_is_read_and_continued(fs: MemoryFileSystem) -> None:
    seal = Seal.open(fs, PATH)
    seal.record(key(1), Offset(10))
    seal.flush()
    fs.open(PATH).truncate(SLOT_BYTES + 7)
    again = Seal.open(fs, PATH)
    again.record(key(2), Offset(20))
    again.flush()
    assert Seal.open(fs, PATH).sealed_offset(key(2)) == 20


def test_seal_job_keeps_what_it_was_given_while_the_seal_moves_on(fs: MemoryFileSystem) -> None:
    seal = Seal.open(fs, PATH)
    seal.record(key(1), Offset(10))
    job = seal.begin_write()
    assert job is not None
    seal.record(key(1), Offset(11))
    job.run()
    seal.finish_write(job)
    assert Seal.open(fs, PATH).sealed_offset(key(1)) == 10
    seal.flush()
    assert Seal.open(fs, PATH).sealed_offset(key(1)) == 11


def test_seal_job_that_was_overtaken_leaves_newer_offsets_alone(fs: MemoryFileSystem) -> None:
    seal = Seal.open(fs, PATH)
    seal.record(key(1), Offset(10))
    seal.record(key(2), Offset(20))
    older = seal.begin_write()
    seal.lower(key(1), Offset(4))
    newer = seal.begin_write()
    assert older is not None
    assert newer is not None
    newer.run()
    seal.finish_write(newer)
    older.run()
    seal.finish_write(older)
    again = Seal.open(fs, PATH)
    assert (again.sealed_offset(key(1)), again.sealed_offset(key(2))) == (4, 20)


def test_seal_job_that_failed_is_repeated_with_what_holds_then(fs: MemoryFileSystem) -> None:
    seal = Seal.open(fs, PATH)
    seal.record(key(1), Offset(10))
    failed = seal.begin_write()
    seal.lower(key(1), Offset(4))
    seal.flush()
    assert failed is not None
    seal.fail_write(failed)
    seal.flush()
    assert Seal.open(fs, PATH).sealed_offset(key(1)) == 4


def test_seal_job_without_room_is_repeated_with_newer_offsets(fs: MemoryFileSystem) -> None:
    seal = Seal.open(fs, PATH)
    fs.capacity_bytes = 10
    seal.record(key(1), Offset(10))
    seal.record(key(2), Offset(20))
    job = seal.begin_write()
    assert job is not None
    with pytest.raises(DiskFullError):
        job.run()
    seal.record(key(1), Offset(11))
    seal.fail_write(job)
    fs.capacity_bytes = 1000
    seal.flush()
    again = Seal.open(fs, PATH)
    assert (again.sealed_offset(key(1)), again.sealed_offset(key(2))) == (11, 20)


def test_seal_job_writes_neighbouring_slots_in_one_go(fs: MemoryFileSystem) -> None:
    seal = Seal.open(fs, PATH)
    for number in range(10):
        seal.record(key(number), Offset(5))
    seal.flush()
    for number in (1, 2, 3, 7):
        seal.record(key(number), Offset(6))
    before = fs.operation_count
    seal.flush()
    names = [operation.name for operation in list(fs.operations)[before:]]
    assert names == ["write", "write", "flush"]
    seal.close()


operations = st.lists(
    st.tuples(
        st.sampled_from(["record", "lower", "forget"]), st.integers(0, 4), st.integers(1, 100).map(Offset)
    )
)


@given(operations)
def test_seal_reopened_equals_a_plain_table(steps: list[tuple[str, int, Offset]]) -> None:
    fs, table = MemoryFileSystem(Random(1)), dict[int, Offset]()
    seal = Seal.open(fs, PATH)
    for name, number, offset in steps:
        if name == "record":
            seal.record(key(number), offset)
            table[number] = max(table.get(number, Offset(0)), offset)
        elif name == "lower":
            seal.lower(key(number), offset)
            if number in table:
                table[number] = min(table[number], offset)
        else:
            seal.forget(key(number))
            table.pop(number, None)
    seal.flush()
    again = Seal.open(fs, PATH)
    assert [again.sealed_offset(key(number)) for number in range(5)] == [table.get(n) for n in range(5)]
