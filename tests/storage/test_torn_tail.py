from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.storage.log_testing import make_batch, make_disk

from penstock.records.batch import stamp
from penstock.storage.batch_scan import BatchChecker
from penstock.storage.filesystem import File
from penstock.storage.torn_tail import SECTOR_BYTES, TailVerdict, judge_tail


def content_of(count: int, *, size: int = 700, first_offset: int = 0) -> tuple[bytearray, list[int]]:
    """Batches without zero bytes to speak of, and where they begin."""
    content, starts = bytearray(), []
    rng = Random(count)
    for number in range(count):
        batch = make_batch(bytes(rng.randrange(1, 256) for _ in range(size)))
        stamp(batch, first_offset + number, 0)
        starts.append(len(content))
        content += batch
    return content, starts


def judge(
    content: bytes | bytearray, *, durable_offset: int = 0, has_successor: bool = False, first_offset: int = 0
) -> TailVerdict | None:
    """The verdict on a file; None if all of it is good."""
    file: File = make_disk().open("/data/x.log", create=True)
    file.write(0, [content])
    checker = BatchChecker(file, 0, len(content), expected_offset=first_offset, latest_epoch=-1)
    for _ in checker.runs():
        pass
    if checker.bad is None:
        return None
    return judge_tail(
        file, checker.bad, size=len(content), durable_offset=durable_offset, has_successor=has_successor
    )


def test_cut_last_batch_is_torn() -> None:
    content, _ = content_of(3)
    assert judge(content[:-1]) is TailVerdict.TORN
    assert judge(content[:-600]) is TailVerdict.TORN


def test_zeros_to_the_end_were_never_used() -> None:
    content, _ = content_of(3)
    assert judge(content + bytes(10_000)) is TailVerdict.UNUSED


def test_garbage_behind_the_last_batch_is_torn() -> None:
    content, _ = content_of(3)
    assert judge(content + b"garbage" * 30) is TailVerdict.TORN


def test_flipped_bit_before_good_batches_is_damage() -> None:
    content, starts = content_of(5)
    content[starts[2] + 300] ^= 1
    assert judge(content) is TailVerdict.DAMAGED


def test_flipped_bit_in_the_last_batch_is_damage_only_below_what_was_durable() -> None:
    content, starts = content_of(5)
    content[starts[4] + 300] ^= 1
    assert judge(content, durable_offset=4) is TailVerdict.TORN
    assert judge(content, durable_offset=5) is TailVerdict.DAMAGED


def test_cut_file_is_damage_below_what_was_durable() -> None:
    content, starts = content_of(5)
    assert judge(content[: starts[3] + 5], durable_offset=5) is TailVerdict.DAMAGED


def test_bad_batch_in_a_segment_with_a_successor_is_damage() -> None:
    content, _ = content_of(3)
    assert judge(content[:-1], has_successor=True) is TailVerdict.DAMAGED


def test_length_that_lies_hides_no_good_batch_behind_it() -> None:
    content, starts = content_of(5)
    content[starts[1] + 8 : starts[1] + 12] = (2**30).to_bytes(4, "big")
    assert judge(content) is TailVerdict.DAMAGED


def test_misdirected_batch_before_good_ones_is_damage() -> None:
    content, starts = content_of(5)
    content[starts[1] : starts[2]] = content[starts[3] : starts[4]]
    assert judge(content) is TailVerdict.DAMAGED


def test_zeroed_sector_is_damage_below_what_was_durable_and_torn_above() -> None:
    content, starts = content_of(5)
    sector = starts[1] - starts[1] % SECTOR_BYTES + SECTOR_BYTES
    content[sector : sector + SECTOR_BYTES] = bytes(SECTOR_BYTES)
    assert judge(content, durable_offset=5) is TailVerdict.DAMAGED
    assert judge(content, durable_offset=1) is TailVerdict.TORN


@pytest.mark.parametrize("bytes_in_first_sector", [1, 2, 7, 8, 11])
def test_zeros_that_a_batch_begins_with_are_no_missing_sector(bytes_in_first_sector: int) -> None:
    size = SECTOR_BYTES - bytes_in_first_sector - len(make_batch(b"")) - 2
    content, starts = content_of(4, size=size)
    assert SECTOR_BYTES - starts[1] == bytes_in_first_sector
    content[starts[1] + 100] ^= 1
    assert judge(content) is TailVerdict.DAMAGED


@pytest.mark.parametrize("first_offset", [0, 2**24 - 2, 2**24 - 1, 2**40 - 2, 2**62])
def test_good_batches_behind_are_found_across_any_carry_of_the_offset(first_offset: int) -> None:
    content, starts = content_of(4, first_offset=first_offset)
    content[starts[0] + 300] ^= 1
    assert judge(content, first_offset=first_offset) is TailVerdict.DAMAGED


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(0, 4))
def test_whatever_a_power_loss_leaves_of_an_unflushed_write_is_never_damage(
    seed: int, count: int, durable: int
) -> None:
    content, starts = content_of(durable + count, size=300)
    disk = make_disk(seed)
    file = disk.open("/data/x.log", create=True)
    border = starts[durable]
    file.write(0, [content[:border]])
    file.flush()
    disk.sync_directory("/data")
    file.write(border, [content[border:]])
    disk.power_loss()
    left = disk.read_file("/data/x.log")
    assert left[:border] == content[:border]
    assert judge(left, durable_offset=durable) is not TailVerdict.DAMAGED


def test_good_batch_far_behind_the_damage_is_found() -> None:
    content, starts = content_of(3, size=700_000)
    content[starts[0] + 3_000] ^= 1
    assert judge(content) is TailVerdict.DAMAGED
    content[starts[1] + 3_000] ^= 1
    assert judge(content) is TailVerdict.DAMAGED
    content[starts[2] + 3_000] ^= 1
    assert judge(content) is TailVerdict.TORN
