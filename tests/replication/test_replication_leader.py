import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, InvariantError
from penstock.model.ids import LeaderEpoch, NodeId, Offset
from penstock.replication.leader import (
    FollowerFlushed,
    IsrChanged,
    LocalLogFlushed,
    MinInsyncReplicasChanged,
    PartitionLeader,
    PublishHighWatermark,
)

ONE, TWO, THREE = NodeId(1), NodeId(2), NodeId(3)


def make_leader(
    *, replicas: tuple[NodeId, ...] = (ONE,), isr: tuple[NodeId, ...] | None = None, minimum: int = 1
) -> PartitionLeader:
    return PartitionLeader(
        node_id=ONE,
        leader_epoch=LeaderEpoch(4),
        replicas=replicas,
        isr=replicas if isr is None else isr,
        min_insync_replicas=minimum,
        high_watermark=Offset(10),
    )


def test_leader_alone_commits_what_it_flushed() -> None:
    leader = make_leader()
    assert leader.handle(LocalLogFlushed(end_offset=15)) == (PublishHighWatermark(offset=Offset(15)),)
    assert leader.high_watermark == 15
    assert leader.leader_epoch == 4


def test_leader_flushing_nothing_new_says_nothing() -> None:
    leader = make_leader()
    assert leader.handle(LocalLogFlushed(end_offset=10)) == ()


def test_high_watermark_waits_for_the_slowest_in_sync_replica() -> None:
    leader = make_leader(replicas=(ONE, TWO, THREE))
    assert leader.handle(LocalLogFlushed(end_offset=20)) == ()
    assert leader.handle(FollowerFlushed(node_id=TWO, end_offset=18)) == ()
    assert leader.handle(FollowerFlushed(node_id=THREE, end_offset=13)) == (
        PublishHighWatermark(offset=Offset(13)),
    )


def test_replica_that_left_the_isr_holds_nobody_back() -> None:
    leader = make_leader(replicas=(ONE, TWO))
    leader.handle(LocalLogFlushed(end_offset=20))
    assert leader.handle(IsrChanged(isr=(ONE,))) == (PublishHighWatermark(offset=Offset(20)),)
    assert leader.isr == (ONE,)


def test_replica_outside_the_isr_may_go_back() -> None:
    leader = make_leader(replicas=(ONE, TWO), isr=(ONE,))
    leader.handle(LocalLogFlushed(end_offset=20))
    assert leader.handle(FollowerFlushed(node_id=TWO, end_offset=3)) == ()
    assert leader.high_watermark == 20


def test_replica_that_lags_behind_the_watermark_may_not_join_the_isr() -> None:
    leader = make_leader(replicas=(ONE, TWO), isr=(ONE,))
    leader.handle(LocalLogFlushed(end_offset=20))
    with pytest.raises(InvariantError, match="above what the in-sync set has"):
        leader.handle(IsrChanged(isr=(ONE, TWO)))


def test_flushed_offset_going_back_is_a_bug() -> None:
    with pytest.raises(InvariantError, match="had 10 on disk and now has 9"):
        make_leader().handle(LocalLogFlushed(end_offset=9))


def test_flush_of_a_stranger_is_a_bug() -> None:
    with pytest.raises(InvariantError, match="node 3 is not among"):
        make_leader().handle(FollowerFlushed(node_id=THREE, end_offset=11))


def test_leader_outside_its_isr_is_a_bug() -> None:
    with pytest.raises(InvariantError, match="not in its own"):
        make_leader(replicas=(ONE, TWO), isr=(TWO,))


def test_isr_beyond_the_replicas_is_a_bug() -> None:
    with pytest.raises(InvariantError, match="not among replicas"):
        make_leader(isr=(ONE, TWO))


def test_too_few_in_sync_replicas_refuse_before_and_after_append() -> None:
    leader = make_leader(replicas=(ONE, TWO), isr=(ONE,), minimum=2)
    with pytest.raises(ApiError) as before:
        leader.check_enough_replicas()
    with pytest.raises(ApiError) as after:
        leader.check_still_enough_replicas()
    assert before.value.code is ErrorCode.NOT_ENOUGH_REPLICAS
    assert after.value.code is ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    assert before.value.message == "1 replica(s) are in sync, min.insync.replicas asks for 2."


def test_minimum_counts_only_as_far_as_there_are_replicas() -> None:
    leader = make_leader(minimum=3)
    assert leader.min_insync_replicas == 1
    leader.check_enough_replicas()
    leader.check_still_enough_replicas()


def test_changed_minimum_counts_at_once() -> None:
    leader = make_leader(replicas=(ONE, TWO), isr=(ONE,))
    leader.check_enough_replicas()
    assert leader.handle(MinInsyncReplicasChanged(min_insync_replicas=2)) == ()
    with pytest.raises(ApiError):
        leader.check_enough_replicas()


@given(st.lists(st.tuples(st.sampled_from([ONE, TWO, THREE]), st.integers(0, 50)), max_size=40))
def test_high_watermark_never_moves_back_and_never_passes_a_member(steps: list[tuple[NodeId, int]]) -> None:
    leader = make_leader(replicas=(ONE, TWO, THREE))
    ends = dict.fromkeys((ONE, TWO, THREE), 10)
    for node_id, progress in steps:
        ends[node_id] += progress
        before = leader.high_watermark
        if node_id == ONE:
            effects = leader.handle(LocalLogFlushed(end_offset=ends[ONE]))
        else:
            effects = leader.handle(FollowerFlushed(node_id=node_id, end_offset=ends[node_id]))
        assert leader.high_watermark == min(ends.values())
        assert bool(effects) == (leader.high_watermark > before)
        leader.validate()
