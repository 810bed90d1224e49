"""Fetch sessions: one test per sentence of KIP-227 that a client can notice."""

from itertools import count

import pytest

from penstock.broker.fetch_sessions import FetchPlan, FetchPosition, FetchSessions, PartitionKey
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError

Positions = list[tuple[PartitionKey, FetchPosition]]


def key(partition: int) -> PartitionKey:
    return PartitionKey("orders", b"", partition)


def at(offset: int) -> FetchPosition:
    return FetchPosition(offset, 1000, -1, -1, -1)


def positions(**offsets: int) -> Positions:
    return [(key(int(name[1:])), at(offset)) for name, offset in offsets.items()]


class Subject(FetchSessions):
    """Sessions with ids 1, 2, 3 ..."""

    def __init__(self, slots: int = 10, **limits: int) -> None:
        ids = count(1)
        super().__init__(slots, lambda: next(ids), **limits)

    def ask(
        self,
        session_id: int,
        epoch: int,
        wanted: Positions,
        *,
        forget: tuple[int, ...] = (),
        ids: bool = False,
        now: int = 0,
    ) -> FetchPlan:
        return self.plan(
            session_id=session_id,
            epoch=epoch,
            positions=wanted,
            forgotten=map(key, forget),
            uses_topic_ids=ids,
            now_ms=now,
        )


def news(
    plan: FetchPlan, partition: int, *, high_watermark: int, records: bool = False, error: bool = False
) -> bool:
    return plan.is_news(
        key(partition), high_watermark=high_watermark, log_start_offset=0, has_records=records, is_error=error
    )


def test_session_epoch_minus_one_opens_none() -> None:
    sessions = Subject()
    plan = sessions.ask(0, -1, positions(p0=0))
    assert (plan.session_id, len(sessions), plan.is_incremental) == (0, 0, False)


def test_session_epoch_zero_opens_one_and_answers_everything() -> None:
    plan = Subject().ask(0, 0, positions(p0=0, p1=5))
    assert plan.session_id == 1
    assert plan.positions == positions(p0=0, p1=5)
    assert news(plan, 0, high_watermark=0)


def test_session_incremental_fetches_all_but_tells_only_news() -> None:
    sessions = Subject()
    first = sessions.ask(0, 0, positions(p0=0, p1=5))
    news(first, 0, high_watermark=3)
    news(first, 1, high_watermark=9)
    plan = sessions.ask(1, 1, positions(p1=9))
    assert plan.positions == positions(p0=0, p1=9)
    assert not news(plan, 0, high_watermark=3)
    assert news(plan, 1, high_watermark=10)
    assert not news(plan, 1, high_watermark=10)
    assert news(plan, 1, high_watermark=10, records=True)


def test_session_error_and_recovery_from_it_are_both_news() -> None:
    sessions = Subject()
    first = sessions.ask(0, 0, positions(p0=0))
    news(first, 0, high_watermark=3)
    plan = sessions.ask(1, 1, [])
    assert news(plan, 0, high_watermark=-1, error=True)
    assert news(plan, 0, high_watermark=3)


def test_session_forgotten_partition_is_not_fetched_again() -> None:
    sessions = Subject()
    sessions.ask(0, 0, positions(p0=0, p1=0))
    assert sessions.ask(1, 1, [], forget=(0,)).positions == positions(p1=0)


def test_session_forgetting_everything_closes_it() -> None:
    sessions = Subject()
    sessions.ask(0, 0, positions(p0=0))
    assert sessions.ask(1, 1, [], forget=(0,)).session_id == 0
    assert len(sessions) == 0


@pytest.mark.parametrize(
    ("session_id", "epoch", "ids", "code"),
    [
        (7, 1, False, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (1, 2, False, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (1, 1, True, ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR),
    ],
)
def test_session_that_does_not_fit_is_refused(
    session_id: int, epoch: int, ids: bool, code: ErrorCode
) -> None:
    sessions = Subject()
    sessions.ask(0, 0, positions(p0=0))
    with pytest.raises(ApiError) as refusal:
        sessions.ask(session_id, epoch, [], ids=ids)
    assert refusal.value.code == code


def test_session_closed_by_final_epoch_is_gone() -> None:
    sessions = Subject()
    sessions.ask(0, 0, positions(p0=0))
    assert sessions.ask(1, -1, positions(p0=0)).session_id == 0
    assert len(sessions) == 0


def test_session_epoch_wraps_to_one() -> None:
    sessions = Subject()
    session = sessions.ask(0, 0, positions(p0=0)).session
    assert session is not None
    session.next_epoch = 2**31 - 1
    sessions.ask(1, 2**31 - 1, [])
    assert sessions.ask(1, 1, []).session_id == 1


def test_session_full_cache_answers_none_until_the_oldest_is_old_enough() -> None:
    sessions = Subject(slots=1)
    sessions.ask(0, 0, positions(p0=0), now=0)
    assert sessions.ask(0, 0, positions(p0=0), now=119_999).session_id == 0
    assert sessions.ask(0, 0, positions(p0=0), now=120_000).session_id == 2
    assert len(sessions) == 1


def test_session_partition_that_got_records_goes_to_the_end() -> None:
    sessions = Subject()
    plan = sessions.ask(0, 0, positions(p0=0, p1=0))
    plan.served([key(0)])
    assert [each.partition for each, _ in sessions.ask(1, 1, []).positions] == [1, 0]


def refused_growth(sessions: Subject, session_id: int, epoch: int, wanted: Positions) -> ErrorCode:
    with pytest.raises(ApiError) as refusal:
        sessions.ask(session_id, epoch, wanted)
    return refusal.value.code


def test_session_of_too_many_partitions_is_not_opened_and_all_are_answered() -> None:
    sessions = Subject(session_partitions_max=2)
    plan = sessions.ask(0, 0, positions(p0=0, p1=0, p2=0))
    assert (plan.session_id, plan.is_incremental, len(sessions)) == (0, False, 0)
    assert plan.positions == positions(p0=0, p1=0, p2=0)
    assert sessions.ask(0, 0, positions(p0=0, p1=0)).session_id != 0


def test_session_that_grows_beyond_the_limit_is_dropped() -> None:
    sessions = Subject(session_partitions_max=2)
    sessions.ask(0, 0, positions(p0=0, p1=0))
    assert sessions.ask(1, 1, positions(p1=3, p2=0), forget=(0,)).positions == positions(p1=3, p2=0)
    assert refused_growth(sessions, 1, 2, positions(p3=0)) == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert len(sessions) == 0


def test_session_request_by_request_never_holds_more_than_the_limits_of_a_broker() -> None:
    sessions = Subject()
    names = [(PartitionKey(f"t{index}", b"", 0), at(0)) for index in range(100_001)]
    sessions.ask(0, 0, names[:50_000])
    assert len(sessions.ask(1, 1, names[50_000:100_000]).positions) == 100_000
    assert refused_growth(sessions, 1, 2, names[100_000:]) == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_sessions_of_too_many_partitions_together_are_neither_opened_nor_extended() -> None:
    sessions = Subject(partitions_max=4)
    sessions.ask(0, 0, positions(p0=0, p1=0))
    sessions.ask(0, 0, positions(p0=0))
    assert sessions.ask(0, 0, positions(p0=0, p1=0)).session_id == 0
    assert refused_growth(sessions, 2, 1, positions(p1=0, p2=0)) == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert sessions.ask(1, 1, []).positions == positions(p0=0, p1=0)


@pytest.mark.parametrize("leave", ["close", "forget", "renew"])
def test_session_that_gives_partitions_up_makes_room_for_others(leave: str) -> None:
    sessions = Subject(partitions_max=2)
    sessions.ask(0, 0, positions(p0=0, p1=0))
    if leave == "close":
        sessions.ask(1, -1, [])
    elif leave == "forget":
        sessions.ask(1, 1, [], forget=(0, 1))
    else:
        sessions.ask(1, 0, [])
    assert sessions.ask(0, 0, positions(p0=0, p1=0)).session_id == 2


def test_session_unused_for_long_makes_room_for_the_partitions_of_others() -> None:
    sessions = Subject(partitions_max=3)
    sessions.ask(0, 0, positions(p0=0))
    sessions.ask(0, 0, positions(p0=0, p1=0), now=10)
    assert sessions.ask(2, 1, positions(p2=0), now=120_000).positions == positions(p0=0, p1=0, p2=0)
    assert len(sessions) == 1
    assert sessions.ask(0, 0, positions(p0=0), now=239_999).session_id == 0
    assert sessions.ask(0, 0, positions(p0=0), now=240_000).session_id != 0
