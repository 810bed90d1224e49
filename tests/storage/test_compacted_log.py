"""What else goes on with a log while, and after, it is compacted."""

import pytest
from tests.storage.compaction_testing import (
    append,
    compact,
    compacted_config,
    keyed_batch,
    new_log,
    offsets_in,
    records_in,
    roll,
)
from tests.storage.log_testing import DIRECTORY, make_disk, put, reopen_clean

from penstock.model.errors import DiskFullError, InvariantError
from penstock.records.batch import read_header
from penstock.storage.cleaned_segment import CleanedSegment
from penstock.storage.compaction import Compaction
from penstock.storage.filesystem import FileSystem
from penstock.storage.log import Log
from penstock.storage.segment import Segment

A, B = b"a", b"b"
NOW = 5_000


def filled(*, is_deleting: bool = False, retention_ms: int = -1) -> Log:
    log = new_log(compacted_config(segment_bytes=260, is_deleting=is_deleting, retention_ms=retention_ms))
    append(log, *[keyed_batch((A, b"%d" % n), (B, b"%d" % n), timestamp=1_000 + 10 * n) for n in range(10)])
    roll(log)
    return log


def begin(log: Log) -> Compaction:
    part = log.cleanable_part(NOW, log.flushed_offset)
    compaction = log.begin_compaction(part, now=NOW, map_bytes=100_000)
    list(compaction.map_keys())
    return compaction


def clean(log: Log, compaction: Compaction, group: list[Segment]) -> CleanedSegment:
    cleaned = log.begin_group(compaction, group)
    list(compaction.clean(group, cleaned))
    return cleaned


def test_fetch_at_an_offset_that_is_gone_begins_with_the_next_batch() -> None:
    log = filled()
    compact(log)
    assert offsets_in(log) == [18, 19]
    for offset in range(20):
        found = log.read(offset, max_bytes=1, end_offset=log.flushed_offset)
        assert read_header(found.read_bytes()).last_offset >= offset
    assert log.read(20, max_bytes=100, end_offset=20).size == 0


def test_search_by_time_finds_records_that_are_left() -> None:
    log = filled()
    compact(log)
    assert log.offset_for_timestamp(0) == (18, 1_090)
    assert log.offset_for_timestamp(1_091) == (19, 1_091)
    assert log.offset_for_timestamp(1_092) is None
    assert log.offset_of_max_timestamp() == (19, 1_091)


def test_retention_and_truncation_wait_for_a_pass() -> None:
    log = filled(is_deleting=True, retention_ms=1)
    compaction = begin(log)
    assert log.expire(10**9, log.flushed_offset) is None
    with pytest.raises(InvariantError):
        log.truncate(20)
    log.abandon_compaction(compaction)
    assert log.expire(10**9, log.flushed_offset) is not None


def test_compacted_topic_that_deletes_loses_old_segments() -> None:
    log = filled(is_deleting=True, retention_ms=1)
    compact(log)
    job = log.expire(10**9, log.flushed_offset)
    assert job is not None
    job.run()
    assert records_in(log) == []
    assert log.log_start_offset == 20
    append(log, keyed_batch((A, b"new")))
    assert offsets_in(log) == [20]


def test_log_takes_appends_and_rolls_while_it_is_compacted() -> None:
    log = filled()
    compaction = begin(log)
    append(log, keyed_batch((A, b"later")))
    roll(log)
    for group in log.group_segments(compaction):
        cleaned = clean(log, compaction, group)
        append(log, keyed_batch((B, b"later")))
        swap = log.begin_swap(group, cleaned)
        assert swap is not None
        swap.commit()
        append(log, keyed_batch((B, b"later")))
        log.enter_swap(swap)
        append(log, keyed_batch((B, b"later")))
        swap.complete()
        log.finish_swap(swap)
    log.finish_compaction(compaction)
    assert log.cleaned_offset == 20
    assert offsets_in(log)[:3] == [18, 19, 20]
    assert offsets_in(log)[-1] == log.flushed_offset - 1


def test_checkpoint_and_swap_wait_for_each_other() -> None:
    log = filled()
    compaction = begin(log)
    group = log.group_segments(compaction)[0]
    cleaned = clean(log, compaction, group)
    append(log, *[keyed_batch((A, b"x")) for _ in range(5)])
    checkpoint = log.begin_checkpoint()
    assert checkpoint is not None
    assert log.begin_swap(group, cleaned) is None
    checkpoint.run()
    log.finish_checkpoint(checkpoint)
    swap = log.begin_swap(group, cleaned)
    assert swap is not None
    append(log, *[keyed_batch((A, b"x")) for _ in range(5)])
    assert log.needs_swap
    assert log.begin_checkpoint() is None


class FailingOnce:
    """A file system whose renames fail once, at a chosen one."""

    def __init__(self, inner: FileSystem, number: int) -> None:
        self._inner = inner
        self._left = number

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def rename(self, source: str, target: str) -> None:
        self._left -= 1
        if self._left == -1:
            raise DiskFullError("no room for a name")
        self._inner.rename(source, target)


@pytest.mark.parametrize("number", range(16))
def test_names_that_could_not_be_given_are_given_later(number: int) -> None:
    log = filled()
    wanted = len(log.describe_segments())
    compaction = begin(log)
    groups = log.group_segments(compaction)
    cleaned = clean(log, compaction, groups[0])
    swap = log.begin_swap(groups[0], cleaned)
    assert swap is not None
    swap.commit()
    log.enter_swap(swap)
    swap._filesystem = FailingOnce(swap._filesystem, number)  # type: ignore[assignment]  # The rest is inherited.
    try:
        swap.complete()
    except DiskFullError:
        swap.complete()
    log.finish_swap(swap)
    swap.remove()
    log.abandon_compaction(compaction)
    before = records_in(log)
    reopened = reopen_clean(log._filesystem, log)
    assert records_in(reopened) == before
    assert len(reopened.describe_segments()) <= wanted
    assert reopened.offset_for_timestamp(1_090) == (18, 1_090)


def test_cleaned_offset_counts_only_finished_passes() -> None:
    log = filled()
    log.abandon_compaction(begin(log))
    assert log.cleaned_offset == 0
    compact(log)
    assert log.cleaned_offset == 20


def test_second_pass_at_once_is_a_mistake() -> None:
    log = filled()
    compaction = begin(log)
    with pytest.raises(InvariantError):
        begin(log)
    log.abandon_compaction(compaction)
    with pytest.raises(InvariantError):
        log.finish_compaction(compaction)


def test_young_records_wait() -> None:
    log = new_log(compacted_config(min_lag_ms=1_000))
    append(log, keyed_batch((A, b"1"), timestamp=NOW - 500), keyed_batch((A, b"2"), timestamp=NOW - 500))
    assert compact(log, now=NOW) is None
    assert compact(log, now=NOW + 501) is not None
    assert offsets_in(log) == [1]


def test_full_disk_leaves_the_log_as_it_was() -> None:
    disk = make_disk()
    log = new_log(compacted_config(segment_bytes=10_000), disk=disk)
    append(log, *[keyed_batch((b"%d" % n, b"v" * 200)) for n in range(20)])
    roll(log)
    before = offsets_in(log)
    disk.capacity_bytes = disk.used_bytes + 1_000
    with pytest.raises(DiskFullError):
        compact(log)
    assert offsets_in(log) == before
    assert not log.is_being_compacted
    assert not [name for name in disk.list_directory(DIRECTORY) if name.endswith(".cleaned")]
    disk.capacity_bytes = 1 << 30
    assert compact(log) is not None
    assert put(log, keyed_batch((A, b"1"))).base_offset == 20
