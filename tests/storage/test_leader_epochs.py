import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.model.ids import LeaderEpoch, Offset
from penstock.storage.checkpoints import EpochStart
from penstock.storage.leader_epochs import UNKNOWN_END, EpochEnd, LeaderEpochs


def epochs(*starts: tuple[int, int]) -> LeaderEpochs:
    return LeaderEpochs([EpochStart(LeaderEpoch(epoch), Offset(offset)) for epoch, offset in starts])


def test_assign_notes_the_first_offset_of_each_epoch_once() -> None:
    known = LeaderEpochs()
    for epoch, offset in [(0, 0), (0, 5), (2, 10), (2, 11), (3, 20)]:
        known.assign(epoch, offset)
    assert known.starts == ((0, 0), (2, 10), (3, 20))
    assert known.latest_epoch == 3
    assert known.is_dirty


def test_assign_of_a_negative_epoch_is_ignored() -> None:
    known = LeaderEpochs()
    known.assign(-1, 0)
    assert known.starts == ()
    assert not known.is_dirty


def test_assign_drops_entries_that_contradict_a_newer_batch() -> None:
    known = epochs((0, 0), (2, 10), (5, 20))
    known.assign(3, 10)
    assert known.starts == ((0, 0), (3, 10))


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (-1, UNKNOWN_END),
        (0, EpochEnd(0, 5)),
        (1, EpochEnd(1, 10)),
        (2, EpochEnd(2, 20)),
        (3, EpochEnd(2, 20)),
        (4, EpochEnd(4, 99)),
        (5, UNKNOWN_END),
    ],
)
def test_end_of_answers_as_kafka_does(asked: int, answer: EpochEnd) -> None:
    assert epochs((1, 5), (2, 10), (4, 20)).end_of(asked, 99) == answer


def test_end_of_without_epochs_is_unknown() -> None:
    assert LeaderEpochs().end_of(0, 5) == UNKNOWN_END


def test_epoch_at_is_the_epoch_that_wrote_the_offset() -> None:
    known = epochs((1, 5), (2, 10))
    assert [known.epoch_at(offset) for offset in (4, 5, 9, 10, 100)] == [-1, 1, 1, 2, 2]


def test_truncate_end_forgets_epochs_that_began_there_or_later() -> None:
    known = epochs((1, 5), (2, 10))
    known.truncate_end(11)
    assert not known.is_dirty
    known.truncate_end(10)
    assert known.starts == ((1, 5),)
    assert known.latest_epoch == 1
    assert known.is_dirty


@pytest.mark.parametrize(
    ("offset", "left"),
    [
        (4, ((1, 5), (2, 10))),
        (5, ((1, 5), (2, 10))),
        (7, ((1, 7), (2, 10))),
        (10, ((2, 10),)),
        (12, ((2, 12),)),
    ],
)
def test_truncate_start_lets_the_epoch_begin_at_the_new_start(
    offset: int, left: tuple[tuple[int, int], ...]
) -> None:
    known = epochs((1, 5), (2, 10))
    known.truncate_start(offset)
    assert known.starts == left
    assert known.is_dirty == (offset > 5)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 100)), max_size=30))
def test_both_columns_ascend_whatever_is_assigned(batches: list[tuple[int, int]]) -> None:
    known = LeaderEpochs()
    for epoch, offset in batches:
        known.assign(epoch, offset)
    numbers = [start.epoch for start in known.starts]
    offsets = [start.start_offset for start in known.starts]
    assert numbers == sorted(set(numbers))
    assert offsets == sorted(set(offsets))
    assert known.latest_epoch == (numbers[-1] if numbers else -1)


def test_file_is_wrong_once_an_epoch_in_it_was_cut_off() -> None:
    known = epochs((1, 5), (2, 10))
    seen = [known.file_is_wrong]
    known.truncate_end(10)
    seen.append(known.file_is_wrong)
    known.assign(2, 7)
    seen.append(known.file_is_wrong)
    known.settle(known.capture())
    seen.append(known.file_is_wrong)
    assert seen == [False, True, True, False]
    assert not known.is_dirty


def test_file_that_lacks_the_newest_epoch_or_the_new_start_is_not_wrong() -> None:
    known = epochs((1, 5), (2, 10))
    known.assign(3, 20)
    known.truncate_start(7)
    assert known.is_dirty
    assert not known.file_is_wrong


def test_file_may_be_wrong_because_of_a_write_that_is_under_way() -> None:
    known = epochs((1, 5))
    known.assign(2, 10)
    captured = known.capture()
    known.truncate_end(10)
    assert known.file_is_wrong
    known.settle(captured)
    assert known.file_is_wrong
