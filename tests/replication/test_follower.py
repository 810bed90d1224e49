from dataclasses import replace
from typing import Any

import pytest
from tests.replication.epochs import history

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import InvariantError
from penstock.model.ids import LeaderEpoch, Millis, NodeId, Offset
from penstock.replication.divergence import EpochEnd, EpochHistory
from penstock.replication.follower import PartitionFollower
from penstock.replication.follower_events import (
    AdvanceLogStart,
    AppendRecords,
    AskLeaderOffsets,
    FetchAnswered,
    FetchFailed,
    FetchFrom,
    FetchSent,
    FollowerEffect,
    LeaderOffsetsReceived,
    LogTruncated,
    RecordsAppended,
    StartAfresh,
    TruncateLog,
)
from penstock.replication.follower_start import FollowerStart
from penstock.replication.leader_events import LocalLogFlushed, PublishHighWatermark

NOW = Millis(1_000)


def make_follower(
    *,
    end: int = 15,
    flushed: int | None = None,
    high_watermark: int = 10,
    epochs: EpochHistory | None = None,
    start: int = 0,
    may_lose: bool = False,
) -> PartitionFollower:
    return PartitionFollower(
        leader=NodeId(1),
        leader_epoch=LeaderEpoch(4),
        history=epochs or history((0, 0), (3, 12)),
        start=FollowerStart(
            log_start_offset=start,
            log_end_offset=end,
            flushed_offset=end if flushed is None else flushed,
            high_watermark=Offset(high_watermark),
            may_lose_committed=may_lose,
            retry_ms=100,
        ),
    )


def ask(follower: PartitionFollower) -> FetchFrom:
    """Send the next fetch."""
    position = follower.fetch_position(NOW)
    assert position is not None
    follower.handle(FetchSent(position=position))
    return position


def answer(
    follower: PartitionFollower,
    *,
    asked: FetchFrom | None = None,
    error: ErrorCode = ErrorCode.NONE,
    high_watermark: int = 10,
    log_start: int = 0,
    diverging: EpochEnd | None = None,
    records_end: int | None = None,
) -> tuple[FollowerEffect, ...]:
    """Send a fetch, and take this for its answer, or for that to another fetch."""
    sent = ask(follower)
    return follower.handle(
        FetchAnswered(
            asked=asked or sent,
            now=NOW,
            error_code=error,
            high_watermark=high_watermark,
            log_start_offset=log_start,
            diverging=diverging,
            records_end_offset=records_end,
        )
    )


def test_follower_asks_from_its_end_with_the_epoch_of_its_last_record() -> None:
    assert make_follower().fetch_position(NOW) == FetchFrom(
        offset=15, last_fetched_epoch=3, current_leader_epoch=LeaderEpoch(4), log_start_offset=0
    )


def test_empty_epoch_at_the_end_is_not_that_of_the_last_record() -> None:
    """It led once, and wrote nothing."""
    position = make_follower(epochs=history((0, 0), (3, 15))).fetch_position(NOW)
    assert position is not None
    assert position.last_fetched_epoch == 0


def test_empty_log_has_no_last_epoch() -> None:
    position = make_follower(end=0, high_watermark=0, epochs=history()).fetch_position(NOW)
    assert position is not None
    assert (position.offset, position.last_fetched_epoch) == (0, -1)


def test_next_fetch_waits_until_everything_is_on_disk() -> None:
    follower = make_follower()
    assert AppendRecords() in answer(follower, records_end=20)
    assert follower.fetch_position(NOW) is None
    follower.handle(RecordsAppended(end_offset=20))
    assert follower.fetch_position(NOW) is None
    follower.handle(LocalLogFlushed(end_offset=18))
    assert follower.fetch_position(NOW) is None
    follower.handle(LocalLogFlushed(end_offset=20))
    position = follower.fetch_position(NOW)
    assert position is not None
    assert position.offset == 20


def test_leader_that_becomes_follower_with_an_unflushed_end_waits_for_it() -> None:
    follower = make_follower(flushed=13)
    assert follower.fetch_position(NOW) is None
    follower.handle(LocalLogFlushed(end_offset=15))
    assert follower.fetch_position(NOW) is not None


def test_one_fetch_at_a_time() -> None:
    follower = make_follower()
    position = ask(follower)
    assert follower.fetch_position(NOW) is None
    with pytest.raises(InvariantError, match="is fetching has sent a fetch"):
        follower.handle(FetchSent(position=position))


def test_high_watermark_follows_the_leaders_as_far_as_the_disk_goes() -> None:
    follower = make_follower()
    assert answer(follower, high_watermark=12) == (PublishHighWatermark(offset=Offset(12)),)
    effects = answer(follower, high_watermark=18, records_end=20)
    assert effects == (AppendRecords(), PublishHighWatermark(offset=Offset(15)))
    follower.handle(RecordsAppended(end_offset=20))
    flushed = follower.handle(LocalLogFlushed(end_offset=20))
    assert flushed == (PublishHighWatermark(offset=Offset(18)),)


def test_high_watermark_does_not_go_back_with_a_new_leader() -> None:
    follower = make_follower()
    assert answer(follower, high_watermark=3) == ()
    assert follower.high_watermark == 10


def test_log_start_follows_the_leaders_up_to_the_high_watermark() -> None:
    follower = make_follower()
    assert answer(follower, log_start=4) == (AdvanceLogStart(offset=4),)
    assert answer(follower, log_start=4) == ()
    assert answer(follower, log_start=14) == (AdvanceLogStart(offset=10),)


def test_what_diverges_is_cut_off_before_the_next_fetch() -> None:
    follower = make_follower()
    assert answer(follower, diverging=EpochEnd(0, 11)) == (TruncateLog(offset=11),)
    assert follower.fetch_position(NOW) is None
    follower.handle(LogTruncated(log_start_offset=0, end_offset=11))
    position = follower.fetch_position(NOW)
    assert position is not None
    assert (position.offset, position.last_fetched_epoch) == (11, 0)


def test_committed_records_are_not_cut_off() -> None:
    with pytest.raises(InvariantError, match="it has lost acknowledged records"):
        answer(make_follower(), diverging=EpochEnd(0, 9))


def test_committed_records_are_cut_off_where_the_topic_can_live_with_it() -> None:
    follower = make_follower(may_lose=True)
    assert answer(follower, diverging=EpochEnd(0, 6)) == (TruncateLog(offset=6),)
    follower.handle(LogTruncated(log_start_offset=0, end_offset=6))
    assert follower.high_watermark == 6


def test_nothing_is_cut_off_before_the_start_of_the_log() -> None:
    follower = make_follower(start=13, high_watermark=13)
    assert answer(follower, diverging=EpochEnd(0, 11)) == (TruncateLog(offset=13),)


@pytest.mark.parametrize(
    "error",
    [
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_ID,
    ],
)
def test_leader_that_refuses_is_asked_again_later_and_nothing_is_cut(error: ErrorCode) -> None:
    follower = make_follower()
    assert answer(follower, error=error) == ()
    assert follower.fetch_position(NOW) is None
    assert follower.next_deadline() == NOW + 100
    position = follower.fetch_position(Millis(NOW + 100))
    assert position is not None
    follower.handle(FetchSent(position=position))
    assert follower.next_deadline() is None


def test_leader_that_does_not_answer_is_asked_again_later() -> None:
    follower = make_follower()
    asked = ask(follower)
    follower.handle(FetchFailed(asked=replace(asked, offset=3), now=NOW))
    assert follower.next_deadline() is None
    follower.handle(FetchFailed(asked=asked, now=NOW))
    assert follower.next_deadline() == NOW + 100


@pytest.mark.parametrize(
    "change",
    [{"current_leader_epoch": LeaderEpoch(3)}, {"offset": 12}, {"last_fetched_epoch": 0}],
    ids=["leader epoch", "offset", "own epoch"],
)
def test_answer_to_another_fetch_is_not_for_this_one(change: dict[str, Any]) -> None:
    follower = make_follower()
    position = follower.fetch_position(NOW)
    assert position is not None
    late = replace(position, **change)
    assert answer(follower, asked=late, diverging=EpochEnd(0, 11), high_watermark=14) == ()
    assert follower.high_watermark == 10
    assert follower.fetch_position(NOW) is None  # The answer to its own fetch is still to come.


def ask_offsets(follower: PartitionFollower, log_start: int, log_end: int) -> tuple[FollowerEffect, ...]:
    asked = follower.fetch_position(NOW)
    assert asked is not None
    assert answer(follower, error=ErrorCode.OFFSET_OUT_OF_RANGE) == (AskLeaderOffsets(),)
    return follower.handle(
        LeaderOffsetsReceived(asked=asked, log_start_offset=log_start, log_end_offset=log_end)
    )


def test_follower_behind_the_leaders_log_start_starts_afresh() -> None:
    follower = make_follower()
    assert ask_offsets(follower, 40, 50) == (StartAfresh(offset=40),)
    follower.handle(LogTruncated(log_start_offset=40, end_offset=40))
    position = follower.fetch_position(NOW)
    assert position == FetchFrom(
        offset=40, last_fetched_epoch=-1, current_leader_epoch=LeaderEpoch(4), log_start_offset=40
    )
    assert follower.high_watermark == 40


def test_follower_ahead_of_the_leaders_end_is_cut_there() -> None:
    assert ask_offsets(make_follower(), 0, 12) == (TruncateLog(offset=12),)
    with pytest.raises(InvariantError, match="lost acknowledged records"):
        ask_offsets(make_follower(), 0, 9)


def test_follower_that_is_in_range_after_all_goes_on() -> None:
    follower = make_follower()
    assert ask_offsets(follower, 0, 15) == ()
    assert follower.fetch_position(NOW) is not None


def test_offsets_for_another_fetch_or_not_asked_for_are_ignored() -> None:
    follower = make_follower()
    asked = follower.fetch_position(NOW)
    assert asked is not None
    event = LeaderOffsetsReceived(asked=asked, log_start_offset=40, log_end_offset=50)
    assert follower.handle(event) == ()
    answer(follower, error=ErrorCode.OFFSET_OUT_OF_RANGE)
    assert follower.handle(replace(event, asked=replace(asked, offset=3))) == ()


@pytest.mark.parametrize(
    "event",
    [
        RecordsAppended(end_offset=20),
        LogTruncated(log_start_offset=0, end_offset=5),
        LocalLogFlushed(end_offset=14),
        LocalLogFlushed(end_offset=16),
    ],
)
def test_what_cannot_have_happened_is_a_bug(
    event: RecordsAppended | LogTruncated | LocalLogFlushed,
) -> None:
    with pytest.raises(InvariantError):
        make_follower().handle(event)


def test_records_that_end_before_the_log_does_are_a_bug() -> None:
    follower = make_follower()
    answer(follower, records_end=14)
    with pytest.raises(InvariantError, match="got records up to 14"):
        follower.handle(RecordsAppended(end_offset=14))


def test_high_watermark_above_the_disk_is_a_bug() -> None:
    with pytest.raises(InvariantError, match="out of order"):
        make_follower(high_watermark=16)


def test_follower_knows_whom_it_follows() -> None:
    follower = make_follower()
    assert (follower.leader, follower.leader_epoch, follower.log_end_offset) == (1, 4, 15)
