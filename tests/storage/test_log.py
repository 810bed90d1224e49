"""The log as its users see it: appending, idempotence, rolling, retention."""

import doctest

import pytest
from tests.storage.log_testing import (
    DIRECTORY,
    PARTITION,
    fill,
    make_batch,
    make_disk,
    make_log,
    open_log,
    put,
    read_all,
    records_of,
    reopen_clean,
)

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, UsageError
from penstock.model.ids import TopicId
from penstock.records.batch import crc_matches, read_header, stamp
from penstock.records.control import TransactionMarker, build_transaction_marker
from penstock.storage import log as log_module
from penstock.storage.log import FilePiece, Log, MemoryPiece
from penstock.storage.log_config import LogConfig
from penstock.storage.offset_index import OffsetEntry
from penstock.storage.partition_metadata import read_partition_metadata
from penstock.storage.tail_cache import TailCache


def test_example_in_the_documentation_works() -> None:
    outcome = doctest.testmod(log_module)
    assert outcome.attempted > 5
    assert outcome.failed == 0


def test_created_log_is_durable_at_once() -> None:
    disk = make_disk()
    topic_id = TopicId(bytes(range(16)))
    Log.create(disk, DIRECTORY, PARTITION, LogConfig(), topic_id=topic_id)
    disk.power_loss()
    assert disk.list_directory(DIRECTORY) == [f"{0:020d}.log", "partition.metadata"]
    assert read_partition_metadata(disk, DIRECTORY) == topic_id
    assert open_log(disk).log_end_offset == 0


def test_append_gives_offsets_in_place_and_keeps_the_checksum() -> None:
    log = make_log(make_disk())
    first, second = make_batch(b"a", b"b", b"c"), make_batch(b"d")
    assert put(log, first, leader_epoch=3) == (0, 2, -1, False, 0)
    assert put(log, second, leader_epoch=3) == (3, 3, -1, False, 0)
    header = read_header(second)
    assert (header.base_offset, header.leader_epoch) == (3, 3)
    assert crc_matches(second, header)
    assert (log.log_end_offset, log.flushed_offset) == (4, 0)


def test_append_takes_a_view_of_a_request_without_copying() -> None:
    log = make_log(make_disk())
    frame = bytearray(b"head") + make_batch(b"inside a frame")
    view = memoryview(frame)[4:]
    log.append(view, read_header(view), leader_epoch=1, now=0)
    assert read_header(frame, 4).leader_epoch == 1
    log.flush()
    found = log.read(0, max_bytes=100, end_offset=1)
    assert found.pieces == [(view,)]


def test_append_touches_no_disk() -> None:
    disk = make_disk()
    log = make_log(disk, LogConfig(segment_bytes=300, index_interval_bytes=0))
    before = disk.operation_count
    for _ in range(10):
        put(log, make_batch(b"x" * 100, producer=(7, 0, -1)), is_client=False)
    assert disk.operation_count == before


def test_log_append_time_replaces_the_producer_s_timestamps() -> None:
    log = make_log(make_disk(), LogConfig(log_append_time=True))
    batch = make_batch(b"a", b"b", timestamp=5, producer=(7, 0, 0))
    assert put(log, batch, now=900).log_append_time == 900
    log.flush()
    assert [record.timestamp for record in records_of(read_all(log))] == [900, 900]
    retry = put(log, make_batch(b"a", b"b", timestamp=5, producer=(7, 0, 0)), now=950)
    assert (retry.is_duplicate, retry.log_append_time) == (True, 900)


def test_retry_is_answered_like_the_first_time_and_stored_once() -> None:
    log = make_log(make_disk())
    put(log, make_batch(b"other"))
    first = put(log, make_batch(b"a", b"b", producer=(7, 0, 0)))
    log.flush()
    again = put(log, make_batch(b"a", b"b", producer=(7, 0, 0)))
    assert again == first._replace(is_duplicate=True)
    assert not log.is_dirty
    assert log.log_end_offset == 3


def test_sequence_gap_is_refused_and_changes_nothing() -> None:
    log = make_log(make_disk())
    put(log, make_batch(b"a", producer=(7, 0, 0)))
    with pytest.raises(ApiError) as caught:
        put(log, make_batch(b"c", producer=(7, 0, 2)))
    assert caught.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log.log_end_offset == 1


def test_coordinator_writes_without_sequence_checks() -> None:
    log = make_log(make_disk())
    put(log, make_batch(b"a", producer=(7, 0, 5)), is_client=False)
    put(log, make_batch(b"b", producer=(7, 0, 5)), is_client=False)
    assert log.log_end_offset == 2


def test_marker_of_an_old_coordinator_is_refused_and_changes_nothing() -> None:
    log = make_log(make_disk())
    for coordinator_epoch, is_good in ((5, True), (4, False)):
        marker = TransactionMarker(
            is_commit=True, coordinator_epoch=coordinator_epoch, producer_id=7, producer_epoch=0
        )
        batch = build_transaction_marker(marker, timestamp=1)
        if is_good:
            put(log, batch, is_client=False)
        else:
            with pytest.raises(ApiError) as caught:
                put(log, batch, is_client=False)
            assert caught.value.code is ErrorCode.TRANSACTION_COORDINATOR_FENCED
    assert log.log_end_offset == 1


def test_follower_keeps_the_leader_s_offsets_and_epochs() -> None:
    leader = make_log(make_disk(), LogConfig(segment_bytes=500, index_interval_bytes=0))
    put(leader, make_batch(b"a", producer=(7, 0, 0), transactional=True), leader_epoch=2)
    marker = TransactionMarker(is_commit=False, coordinator_epoch=1, producer_id=7, producer_epoch=0)
    put(leader, build_transaction_marker(marker, timestamp=1), leader_epoch=3, is_client=False)
    put(leader, make_batch(b"b" * 400), leader_epoch=3)
    leader.flush()
    follower = make_log(make_disk(), LogConfig())
    data = bytearray(read_all(leader))
    position = 0
    while position < len(data):
        header = read_header(data, position)
        view = memoryview(data)[position : position + header.size_bytes]
        follower.append_as_follower(view, header)
        position += header.size_bytes
    follower.flush()
    assert read_all(follower) == data
    assert follower.leader_epochs.starts == leader.leader_epochs.starts == ((2, 0), (3, 1))
    assert follower.aborted_transactions(0, 3) == leader.aborted_transactions(0, 3) != []
    with pytest.raises(UsageError, match="has that already"):
        follower.append_as_follower(view, header)


def test_follower_s_copies_are_read_from_the_file_behind_what_it_led_before() -> None:
    log = make_log(make_disk())
    batches = [make_batch(b"led"), make_batch(b"copied"), make_batch(b"too"), make_batch(b"led again")]
    put(log, batches[0])
    for offset, batch in enumerate(batches[1:3], 1):
        stamp(batch, offset, 1)
    log.append_copied([(batch, read_header(batch)) for batch in batches[1:3]])
    put(log, batches[3], leader_epoch=2)
    log.flush()
    assert read_all(log) == b"".join(batches)
    kinds = [type(log.read(offset, max_bytes=1, end_offset=4).pieces[0]) for offset in range(4)]
    assert kinds == [FilePiece, FilePiece, FilePiece, MemoryPiece]
    with pytest.raises(UsageError, match="has that already"):
        log.append_copied([(batches[1], read_header(batches[1]))])


def test_leader_epochs_are_answered_with_their_end() -> None:
    log = make_log(make_disk())
    for epoch in (1, 1, 4):
        put(log, make_batch(b"v"), leader_epoch=epoch)
    assert log.offset_for_leader_epoch(1) == (1, 2)
    assert log.offset_for_leader_epoch(3) == (1, 2)
    assert log.offset_for_leader_epoch(4) == (4, 3)
    assert log.offset_for_leader_epoch(5) == (-1, -1)


def bases(log: Log) -> list[int]:
    return [facts.base_offset for facts in log.describe_segments()]


def test_segment_rolls_before_the_batch_that_would_not_fit() -> None:
    size = len(make_batch(b"x" * 100))
    log = make_log(make_disk(), LogConfig(segment_bytes=2 * size))
    fill(log, 5)
    assert bases(log) == [0, 2, 4]
    assert log.size_bytes == 5 * size


def test_segment_rolls_by_the_age_of_its_first_batch() -> None:
    log = make_log(make_disk(), LogConfig(segment_ms=100))
    for timestamp in (1_000, 1_100, 1_050, 1_101, 1_150, 1_202):
        put(log, make_batch(b"v", timestamp=timestamp))
    assert bases(log) == [0, 3, 5]


def test_segment_rolls_when_its_index_is_full() -> None:
    log = make_log(make_disk(), LogConfig(segment_index_bytes=60, index_interval_bytes=0))
    fill(log, 12)
    sizes = [b - a for a, b in zip(bases(log), [*bases(log)[1:], 12], strict=True)]
    assert max(sizes) <= 1 + 60 // 12
    assert len(sizes) > 1


def test_segment_rolls_when_a_relative_offset_would_not_fit() -> None:
    log = make_log(make_disk())
    batch = make_batch(b"v")
    stamp(batch, 2**31 - 2, 0)
    log.append_as_follower(batch, read_header(batch))
    put(log, make_batch(b"v"))
    put(log, make_batch(b"v"))
    assert bases(log) == [0, 2**31]


def test_old_active_segment_rolls_when_asked_and_without_timestamps_by_when_it_began() -> None:
    log = make_log(make_disk(), LogConfig(segment_ms=100))
    assert not log.roll_if_due(10**9)
    put(log, make_batch(b"v", timestamp=1_000))
    assert not log.roll_if_due(1_100)
    assert log.roll_if_due(1_101)
    assert not log.roll_if_due(1_102)
    assert log.is_dirty
    put(log, make_batch(b"v", timestamp=-1), now=5_000)
    put(log, make_batch(b"v", timestamp=-1), now=5_050)
    assert not log.roll_if_due(5_100)
    assert log.roll_if_due(5_101)
    log.flush()
    assert bases(log) == [0, 1, 3]


def test_old_segment_of_a_former_process_rolls_without_timestamps_by_when_it_was_opened() -> None:
    disk = make_disk()
    log = make_log(disk, LogConfig(segment_ms=100))
    put(log, make_batch(b"v", timestamp=-1), now=5_000)
    reopened = reopen_clean(disk, log)
    assert not reopened.roll_if_due(100)
    assert reopened.roll_if_due(101)


def test_index_entries_lead_to_their_batches() -> None:
    disk = make_disk()
    log = make_log(disk, LogConfig(index_interval_bytes=300))
    fill(log, 10)
    size = log.size_bytes // 10
    log.close()
    content = disk.read_file(f"{DIRECTORY}/{0:020d}.index")
    entries = [
        OffsetEntry(int.from_bytes(content[n : n + 4], "big"), int.from_bytes(content[n + 4 : n + 8], "big"))
        for n in range(0, len(content), 8)
    ]
    assert entries == [OffsetEntry(n, n * size) for n in (2, 4, 6, 8)]


def test_retention_by_time_takes_whole_old_segments() -> None:
    log = make_log(make_disk(), LogConfig(segment_bytes=250, retention_ms=500))
    fill(log, 6)
    assert log.expire(now=1_500, high_watermark=6) is None
    job = log.expire(now=1_503, high_watermark=6)
    assert job is not None
    assert (job.segment_count, log.log_start_offset) == (3, 3)
    assert bases(log) == [3, 4, 5]
    with pytest.raises(ApiError):
        log.read(2, max_bytes=100, end_offset=6)


def test_records_without_timestamps_are_kept_as_long_as_others() -> None:
    log = make_log(make_disk(), LogConfig(retention_ms=500))
    put(log, make_batch(b"v", timestamp=-1), now=10_000)
    put(log, make_batch(b"v", timestamp=-1), now=10_100)
    log.flush()
    assert log.expire(now=10_600, high_watermark=2) is None
    assert not log.is_dirty
    log.expire(now=10_601, high_watermark=2)
    log.flush()
    assert log.expire(now=10_601, high_watermark=2) is not None
    assert log.log_start_offset == 2


def test_copies_without_timestamps_are_kept_as_long_as_others() -> None:
    log = make_log(make_disk(), LogConfig(retention_ms=500))
    log.roll_if_due(10_000)
    batch = make_batch(b"v", timestamp=-1)
    log.append_copied([(batch, read_header(batch))])
    log.flush()
    log.expire(now=10_500, high_watermark=1)
    assert not log.is_dirty
    log.expire(now=10_501, high_watermark=1)
    assert log.is_dirty, "the active segment is to go"


def test_retention_takes_the_active_segment_after_its_successor_is_on_the_disk() -> None:
    log = make_log(make_disk(), LogConfig(retention_ms=500))
    fill(log, 3)
    assert log.expire(now=10_000, high_watermark=3) is None
    assert log.is_dirty
    log.flush()
    job = log.expire(now=10_000, high_watermark=3)
    assert job is not None
    job.run()
    assert (log.log_start_offset, log.log_end_offset) == (3, 3)
    assert log.expire(now=10_000, high_watermark=3) is None
    fill(log, 1)
    assert log.flushed_offset == 4


def test_retention_by_size_keeps_at_least_that_much() -> None:
    size = len(make_batch(b"x" * 100))
    log = make_log(make_disk(), LogConfig(segment_bytes=size, retention_ms=-1, retention_bytes=3 * size))
    fill(log, 6)
    job = log.expire(now=0, high_watermark=6)
    assert job is not None
    assert log.size_bytes == 3 * size


def test_retention_never_goes_above_the_high_watermark() -> None:
    log = make_log(make_disk(), LogConfig(segment_bytes=250, retention_ms=0))
    fill(log, 6)
    job = log.expire(now=10**9, high_watermark=2)
    assert job is not None
    assert log.log_start_offset == 2


def test_compacted_log_keeps_old_segments_but_not_those_before_its_start() -> None:
    config = LogConfig(segment_bytes=250, retention_ms=0, cleanup_policy=frozenset({"compact"}))
    log = make_log(make_disk(), config)
    fill(log, 6)
    assert log.expire(now=10**9, high_watermark=6) is None
    log.advance_log_start(2)
    job = log.expire(now=10**9, high_watermark=6)
    assert job is not None
    assert job.segment_count == 2


def test_log_start_moves_forward_only_and_not_beyond_what_is_flushed() -> None:
    log = make_log(make_disk())
    fill(log, 3)
    put(log, make_batch(b"not flushed"))
    assert log.advance_log_start(2)
    assert not log.advance_log_start(1)
    with pytest.raises(ApiError) as caught:
        log.advance_log_start(4)
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.leader_epochs.starts == ((0, 2),)


def test_silent_producers_expire_with_the_retention() -> None:
    log = make_log(make_disk(), LogConfig(producer_id_expiration_ms=100))
    put(log, make_batch(b"v", timestamp=1_000, producer=(7, 0, 0)))
    log.flush()
    log.expire(now=1_099, high_watermark=1)
    assert log.producers.get(7) is not None
    log.expire(now=1_100, high_watermark=1)
    assert log.producers.get(7) is None


def test_changed_settings_apply_from_the_next_batch() -> None:
    size = len(make_batch(b"x" * 100))
    log = make_log(make_disk())
    fill(log, 4)
    log.configure(LogConfig(segment_bytes=2 * size))
    fill(log, 2)
    assert bases(log) == [0, 4]


def test_logs_share_one_tail_cache() -> None:
    disk = make_disk()
    cache = TailCache(150)
    logs = [Log.create(disk, f"/data/t-{n}", PARTITION, LogConfig(), tail_cache=cache) for n in range(2)]
    for log in logs:
        fill(log, 1, size=50)
    assert cache.size_bytes <= 150
    assert len(cache) == 1


def test_first_unstable_offset_follows_transactions() -> None:
    log = make_log(make_disk())
    marker = TransactionMarker(is_commit=True, coordinator_epoch=1, producer_id=7, producer_epoch=0)
    seen = [log.first_unstable_offset]
    put(log, make_batch(b"plain"))
    put(log, make_batch(b"a", producer=(7, 0, 0), transactional=True))
    seen.append(log.first_unstable_offset)
    put(log, build_transaction_marker(marker, timestamp=1), is_client=False)
    log.flush()
    seen.append(log.first_unstable_offset)
    log.update_high_watermark(3)
    seen.append(log.first_unstable_offset)
    assert seen == [None, 1, 1, None]


def test_repr_names_the_partition_and_its_range() -> None:
    log = make_log(make_disk())
    fill(log, 2)
    assert repr(log) == "Log(orders-0, 0 to 2)"


def test_smaller_index_limit_rolls_a_segment_whose_index_is_already_larger() -> None:
    log = make_log(make_disk(), LogConfig(index_interval_bytes=0))
    fill(log, 10)
    log.configure(LogConfig(index_interval_bytes=0, segment_index_bytes=50))
    fill(log, 1)
    assert bases(log) == [0, 10]


def test_damaged_segment_is_never_deleted_for_its_age() -> None:
    disk = make_disk()
    config = LogConfig(segment_bytes=250, retention_ms=500)
    log = make_log(disk, config)
    fill(log, 6)
    log.close()
    for suffix in (".log", ".timeindex"):
        disk.open(f"{DIRECTORY}/{1:020d}{suffix}").write(0, [b"nonsense!!!!"])
    log = open_log(disk, config, recovery_point=6, clean=True)
    job = log.expire(now=10**9, high_watermark=6)
    assert job is not None
    assert job.segment_count == 1
    assert log.log_start_offset == 1


def test_looking_at_old_segments_leaves_no_files_open() -> None:
    disk = make_disk()
    config = LogConfig(segment_bytes=250)
    log = make_log(disk, config)
    fill(log, 6)
    log = reopen_clean(disk, log)
    assert len(log.describe_segments()) == 6
    assert [segment.is_open for segment in log._segments] == [False] * 5 + [True]


def test_transactions_that_cannot_matter_to_a_range_are_not_looked_for() -> None:
    log = make_log(make_disk(), LogConfig(segment_bytes=200))
    for producer_id in range(6):
        put(log, make_batch(b"a", producer=(producer_id, 0, 0), transactional=True))
        marker = TransactionMarker(
            is_commit=False, coordinator_epoch=1, producer_id=producer_id, producer_epoch=0
        )
        put(log, build_transaction_marker(marker, timestamp=1), is_client=False)
    log.flush()
    assert [aborted.producer_id for aborted in log.aborted_transactions(4, 8)] == [2, 3]
    assert [aborted.producer_id for aborted in log.aborted_transactions(0, 12)] == list(range(6))


def test_log_that_refuses_refuses_followers_and_truncation_too() -> None:
    log = make_log(make_disk())
    batch = make_batch(b"v")
    log.close()
    with pytest.raises(ApiError, match="closed"):
        log.append_as_follower(batch, read_header(batch))
    with pytest.raises(ApiError, match="closed"):
        log.truncate(0)
