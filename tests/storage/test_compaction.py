import pytest
from tests.storage.compaction_testing import (
    HOUR_MS,
    append,
    batches_of,
    compact,
    compacted_config,
    keyed_batch,
    latest,
    marker,
    new_log,
    offsets_in,
    records_in,
    roll,
    stable_offset,
)
from tests.storage.log_testing import DIRECTORY, make_disk, make_log, put, read_all, reopen_clean

from penstock.model.errors import CorruptLogError
from penstock.records.compression import Codec
from penstock.records.record import NewRecord
from penstock.storage.log import Log

A, B, C = b"a", b"b", b"c"


def fill_some(log: Log) -> None:
    append(
        log,
        keyed_batch((A, b"1"), (B, b"1")),
        keyed_batch((A, b"2")),
        keyed_batch((C, b"1"), (A, b"3")),
    )


def test_newest_record_of_each_key_stays_with_its_offset() -> None:
    log = new_log()
    fill_some(log)
    compact(log)
    assert [(record.offset, record.key, record.value) for record in records_in(log)] == [
        (1, B, b"1"),
        (3, C, b"1"),
        (4, A, b"3"),
    ]


def test_readers_near_the_end_do_not_get_from_memory_what_is_gone() -> None:
    log = make_log(make_disk(), compacted_config(), tail_bytes=1 << 20)
    fill_some(log)
    compact(log)
    assert offsets_in(log) == [1, 3, 4]
    append(log, keyed_batch((B, b"2")))
    assert offsets_in(log) == [1, 3, 4, 5]


def test_batch_keeps_its_offsets_and_header_when_records_go() -> None:
    log = new_log()
    append(log, keyed_batch((A, b"1"), (B, b"1"), (A, b"2"), (C, b"1"), timestamp=70), keyed_batch((C, b"2")))
    ((before, _), *_) = batches_of(log)
    compact(log)
    ((after, records), *_) = batches_of(log)
    assert (after.base_offset, after.last_offset) == (before.base_offset, before.last_offset)
    assert [(record.offset, record.timestamp) for record in records] == [(1, 71), (2, 72)]
    assert after.max_timestamp == 72
    assert after.leader_epoch == before.leader_epoch


def test_batch_that_needs_no_change_is_copied_byte_for_byte() -> None:
    log = new_log()
    append(log, keyed_batch((A, b"1")), keyed_batch((B, b"1"), (C, b"1"), codec=Codec.ZSTD))
    before = read_all(log)
    compact(log)
    assert read_all(log) == before


@pytest.mark.parametrize("codec", list(Codec))
def test_changed_batch_keeps_codec_and_headers(codec: Codec) -> None:
    from penstock.records.builder import build_batch

    records = [
        NewRecord(key=key, value=b"v" * 50, headers=(("name", b"x"), ("none", None)), timestamp=9)
        for key in (A, B)
    ]
    log = new_log()
    append(log, build_batch(records, codec=codec), keyed_batch((A, b"2")))
    compact(log)
    ((header, (kept,)), _) = batches_of(log)
    assert header.codec == codec
    assert (kept.key, kept.offset, kept.timestamp) == (B, 1, 9)
    assert kept.headers == (("name", b"x"), ("none", None))


def test_long_keys_are_told_apart() -> None:
    log = new_log(compacted_config(segment_bytes=4000))
    one, other = b"k" * 100 + b"1", b"k" * 100 + b"2"
    append(log, keyed_batch((one, b"1"), (other, b"1")), keyed_batch((one, b"2")))
    compact(log)
    assert latest(records_in(log)) == {one: b"2", other: b"1"}
    assert offsets_in(log) == [1, 2]


def test_clean_part_loses_what_a_later_pass_supersedes() -> None:
    log = new_log()
    fill_some(log)
    compact(log)
    append(log, keyed_batch((B, b"2")), keyed_batch((C, b"2")))
    second = compact(log)
    assert second is not None
    assert second.totals.mapped_records == 2
    assert [(record.offset, record.value) for record in records_in(log)] == [(4, b"3"), (5, b"2"), (6, b"2")]


def test_pass_without_anything_dirty_is_none() -> None:
    log = new_log()
    fill_some(log)
    assert compact(log) is not None
    assert compact(log) is None


def test_active_segment_is_never_touched() -> None:
    log = new_log()
    append(log, keyed_batch((A, b"1")), keyed_batch((A, b"2")))
    assert log.compact(now=5_000, stable_offset=log.flushed_offset, map_bytes=1000) is None
    assert offsets_in(log) == [0, 1]


def test_records_without_key_go() -> None:
    """They cannot be produced to a compacted topic, but may be there from before it was one."""
    from penstock.records.builder import build_batch

    log = new_log()
    append(log, build_batch([NewRecord(value=b"x", key=None)]), keyed_batch((A, b"1")))
    compact(log)
    assert offsets_in(log) == [1]


def test_tombstone_stays_until_its_horizon_which_the_first_pass_sets() -> None:
    log = new_log()
    append(
        log, keyed_batch((A, b"1"), (B, b"1")), keyed_batch((A, None), timestamp=77), keyed_batch((C, b"1"))
    )
    compact(log, now=10_000)
    assert offsets_in(log) == [1, 2, 3]
    (header,) = [header for header, records in batches_of(log) if records and records[0].value is None]
    assert header.has_delete_horizon
    assert header.base_timestamp == 10_000 + HOUR_MS
    assert [record.timestamp for record in records_in(log) if record.offset == 2] == [77]
    append(log, keyed_batch((C, b"2")))
    compact(log, now=10_000 + HOUR_MS - 1)
    assert offsets_in(log) == [1, 2, 4]
    append(log, keyed_batch((C, b"3")))
    compact(log, now=10_000 + HOUR_MS)
    assert offsets_in(log) == [1, 5]
    assert latest(records_in(log)) == {B: b"1", C: b"3"}


def test_horizon_once_set_is_not_moved() -> None:
    log = new_log()
    append(log, keyed_batch((A, None), (B, b"1")))
    compact(log, now=10_000)
    append(log, keyed_batch((B, b"2")))
    compact(log, now=20_000)
    ((header, _), *_) = batches_of(log)
    assert header.base_timestamp == 10_000 + HOUR_MS
    assert offsets_in(log) == [0, 2]


def test_value_after_a_tombstone_lives() -> None:
    log = new_log()
    append(log, keyed_batch((A, b"1")), keyed_batch((A, None)), keyed_batch((A, b"2")))
    compact(log)
    assert latest(records_in(log)) == {A: b"2"}
    assert offsets_in(log) == [2]


def test_newest_batch_of_a_producer_stays_as_an_empty_one() -> None:
    log = new_log()
    append(
        log,
        keyed_batch((A, b"1"), producer=(7, 0, 0)),
        keyed_batch((A, b"2"), (A, b"3"), producer=(7, 0, 1)),
        keyed_batch((A, b"4")),
    )
    compact(log)
    assert offsets_in(log) == [3]
    ((header, records), _) = batches_of(log)
    assert records == []
    assert (header.base_offset, header.last_offset, header.record_count) == (1, 2, 0)
    assert (header.producer_id, header.base_sequence, header.last_sequence) == (7, 1, 2)
    log = reopen_clean(log._filesystem, log)
    again = put(log, keyed_batch((A, b"2"), (A, b"3"), producer=(7, 0, 1)))
    assert again.is_duplicate
    assert again.base_offset == 1
    assert not put(log, keyed_batch((A, b"5"), producer=(7, 0, 3))).is_duplicate


def test_empty_batch_goes_once_its_producer_has_written_on() -> None:
    log = new_log()
    append(log, keyed_batch((A, b"1"), producer=(7, 0, 0)), keyed_batch((A, b"2")))
    compact(log)
    append(log, keyed_batch((B, b"1"), producer=(7, 0, 1)))
    compact(log)
    assert [header.base_offset for header, _ in batches_of(log)] == [1, 2]


def test_aborted_records_go_and_do_not_supersede() -> None:
    log = new_log()
    append(
        log,
        keyed_batch((A, b"good")),
        keyed_batch((A, b"bad"), (B, b"bad"), producer=(7, 0, 0), transactional=True),
        marker(7, is_commit=False),
        keyed_batch((C, b"1")),
    )
    compact(log)
    assert latest(records_in(log)) == {A: b"good", C: b"1"}
    assert log.aborted_transactions(0, 10) != []


def test_committed_records_supersede() -> None:
    log = new_log()
    append(
        log,
        keyed_batch((A, b"1")),
        keyed_batch((A, b"2"), producer=(7, 0, 0), transactional=True),
        marker(7, is_commit=True),
        keyed_batch((C, b"1")),
    )
    compact(log)
    assert latest(records_in(log)) == {A: b"2", C: b"1"}


@pytest.mark.parametrize("is_commit", [True, False])
def test_marker_goes_after_its_records_and_its_horizon(is_commit: bool) -> None:
    log = new_log()
    append(
        log,
        keyed_batch((A, b"1"), producer=(7, 0, 0), transactional=True),
        marker(7, is_commit=is_commit),
        keyed_batch((A, b"2"), producer=(7, 1, 0)),
        keyed_batch((C, b"1")),
    )
    markers = []
    for now in (0, 10, 10 + HOUR_MS - 1, 10 + HOUR_MS):
        compact(log, now=now)
        markers.append([header.base_offset for header, _ in batches_of(log) if header.is_control])
        append(log, keyed_batch((C, b"2")))
    # The first pass still met the records, the second set the horizon.
    assert markers == [[1], [1], [1], []]
    assert log.aborted_transactions(0, 10) == []


def test_marker_that_holds_the_producers_epoch_stays() -> None:
    log = new_log()
    append(
        log,
        keyed_batch((A, b"1"), producer=(7, 0, 0), transactional=True),
        marker(7, is_commit=True, epoch=1),
        keyed_batch((A, b"2")),
    )
    for now in (0, 10, 10 + 2 * HOUR_MS, 10 + 4 * HOUR_MS):
        compact(log, now=now)
        append(log, keyed_batch((C, b"2")))
    assert [header.base_offset for header, _ in batches_of(log) if header.is_control] == [1]


def test_nothing_from_an_open_transaction_on_is_touched() -> None:
    log = new_log(compacted_config(segment_bytes=100))
    append(log, keyed_batch((A, b"1")), keyed_batch((A, b"2")))
    append(log, keyed_batch((B, b"1"), producer=(7, 0, 0), transactional=True), keyed_batch((A, b"3")))
    roll(log)
    assert stable_offset(log) == 2
    compact(log)
    assert offsets_in(log) == [1, 2, 3]
    append(log, marker(7, is_commit=True))
    compact(log)
    assert offsets_in(log) == [2, 3]


def test_full_map_ends_the_pass_early_and_the_next_goes_on() -> None:
    log = new_log(compacted_config(segment_bytes=10_000))
    for generation in range(2):
        append(log, *[keyed_batch((b"%d" % key, b"%d" % generation)) for key in range(20)])
    passes = 0
    while (compaction := compact(log, map_bytes=1200)) is not None:
        passes += 1
        assert len(compaction._map) <= 6
        assert latest(records_in(log)) == {b"%d" % key: b"1" for key in range(20)}
    assert passes > 5
    # Passes over the first half supersede nothing; what the others supersede lies before them.
    assert offsets_in(log) == list(range(20, 40))


def test_segments_are_merged_up_to_the_segment_size() -> None:
    log = new_log(compacted_config(segment_bytes=300))
    append(log, *[keyed_batch((A, b"%d" % number)) for number in range(40)])
    roll(log)
    before = len(log.describe_segments())
    compact(log)
    middle = len(log.describe_segments())
    append(log, keyed_batch((B, b"1")))
    compact(log)
    after = log.describe_segments()
    assert before == middle > len(after)
    assert all(segment.size_bytes <= 300 for segment in after)


def test_segments_join_without_a_gap() -> None:
    log = new_log(compacted_config(segment_bytes=150))
    append(log, *[keyed_batch((A, b"%d" % number)) for number in range(20)])
    compact(log)
    segments = log.describe_segments()
    assert len(segments) > 2
    headers = [header for header, _ in batches_of(log)]
    for segment in segments[:-1]:
        inside = [h for h in headers if segment.base_offset <= h.base_offset < segment.next_offset]
        assert inside[-1].next_offset == segment.next_offset


def test_damaged_segment_is_not_compacted() -> None:
    disk = make_disk()
    log = new_log(disk=disk)
    fill_some(log)
    roll(log)
    path = f"{DIRECTORY}/{0:020d}.log"
    disk.flip_bit(path, 70)
    with pytest.raises(CorruptLogError):
        compact(log)
    assert not log.is_being_compacted
    assert not [name for name in disk.list_directory(DIRECTORY) if name.endswith(".cleaned")]


def test_old_files_stay_readable_for_whoever_has_them() -> None:
    log = new_log()
    fill_some(log)
    roll(log)
    found = log.read(0, max_bytes=10_000, end_offset=log.flushed_offset)
    before = found.read_bytes()
    part = log.cleanable_part(5_000, log.flushed_offset)
    compaction = log.begin_compaction(part, now=5_000, map_bytes=10_000)
    list(compaction.map_keys())
    (group,) = log.group_segments(compaction)
    cleaned = log.begin_group(compaction, group)
    list(compaction.clean(group, cleaned))
    swap = log.begin_swap(group, cleaned)
    assert swap is not None
    swap.commit()
    log.enter_swap(swap)
    assert offsets_in(log) == [1, 3, 4]
    swap.complete()
    log.finish_swap(swap)
    log.finish_compaction(compaction)
    assert found.read_bytes() == before
    assert offsets_in(log) == [1, 3, 4]
    swap.remove()
    assert offsets_in(log) == [1, 3, 4]


def test_segment_whose_successor_has_no_file_yet_is_left_alone() -> None:
    """The job that creates the successor also writes the last of the segment that is put aside."""
    log = new_log()
    append(log, keyed_batch((A, b"1")), keyed_batch((A, b"2")))
    assert log.roll_if_due(2**62)
    assert log.cleanable_part(5_000, log.flushed_offset).dirty_bytes == 0
    log.flush()
    assert log.cleanable_part(5_000, log.flushed_offset).dirty_bytes > 0
