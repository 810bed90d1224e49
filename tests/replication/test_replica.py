from collections.abc import Mapping

from tests.replication.epochs import history

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import LeaderEpoch, Millis, NodeId, Offset
from penstock.replication.assignment import Assignment
from penstock.replication.leader_events import FollowerFetched, LocalLogFlushed, PublishHighWatermark
from penstock.replication.replica import (
    BeginLeaderEpoch,
    Follow,
    LogFacts,
    MetadataChanged,
    PartitionReplica,
    RejectWaiters,
    ReplicaEffect,
    StopFollowing,
)

ONE, TWO, THREE = NodeId(1), NodeId(2), NodeId(3)
EPOCHS: Mapping[NodeId, int] = {ONE: 11, TWO: 12, THREE: 13}
NOT_LEADER = RejectWaiters(error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER)


def make_replica(high_watermark: int = 10) -> PartitionReplica:
    return PartitionReplica(node_id=ONE, history=history((0, 0)), high_watermark=Offset(high_watermark))


def tell(
    replica: PartitionReplica,
    leader: int,
    leader_epoch: int,
    *,
    partition_epoch: int | None = None,
    replicas: tuple[NodeId, ...] = (ONE, TWO, THREE),
    isr: tuple[NodeId, ...] | None = None,
    end: int = 15,
    flushed: int | None = None,
) -> tuple[ReplicaEffect, ...]:
    assignment = Assignment(
        leader=NodeId(leader),
        leader_epoch=LeaderEpoch(leader_epoch),
        partition_epoch=leader_epoch if partition_epoch is None else partition_epoch,
        replicas=replicas,
        isr=replicas if isr is None else isr,
    )
    log = LogFacts(log_start_offset=0, log_end_offset=end, flushed_offset=end if flushed is None else flushed)
    return replica.handle(
        MetadataChanged(assignment=assignment, broker_epochs=EPOCHS, log=log, now=Millis(0))
    )


def begins(epoch: int, offset: int) -> BeginLeaderEpoch:
    return BeginLeaderEpoch(leader_epoch=LeaderEpoch(epoch), start_offset=Offset(offset))


def follows(leader: int, epoch: int) -> Follow:
    return Follow(leader=NodeId(leader), leader_epoch=LeaderEpoch(epoch))


def test_elected_replica_begins_its_epoch_where_its_log_ends() -> None:
    replica = make_replica()
    assert tell(replica, 1, 4, end=15, flushed=12) == (begins(4, 15),)
    assert replica.leader is not None
    assert replica.follower is None
    assert (replica.leader.epoch_start_offset, replica.high_watermark) == (15, 10)


def test_other_replica_follows() -> None:
    replica = make_replica()
    assert tell(replica, 2, 4) == (follows(2, 4),)
    assert replica.follower is not None
    assert (replica.follower.leader, replica.high_watermark) == (TWO, 10)


def test_deposed_leader_answers_all_who_wait_and_keeps_its_high_watermark() -> None:
    replica = make_replica()
    tell(replica, 1, 4, isr=(ONE,))
    assert replica.leader is not None
    replica.leader.handle(LocalLogFlushed(end_offset=15))
    assert tell(replica, 2, 5) == (NOT_LEADER, follows(2, 5))
    assert replica.high_watermark == 15


def test_follower_that_is_elected_stops_following() -> None:
    replica = make_replica()
    tell(replica, 2, 4)
    assert tell(replica, 1, 5) == (StopFollowing(), begins(5, 15))


def test_follower_of_a_new_leader_begins_anew() -> None:
    replica = make_replica()
    tell(replica, 2, 4)
    first = replica.follower
    assert tell(replica, 3, 5) == (StopFollowing(), follows(3, 5))
    assert replica.follower is not first


def test_leader_elected_again_forgets_its_followers_but_not_who_waits() -> None:
    replica = make_replica()
    tell(replica, 1, 4)
    assert replica.leader is not None
    replica.leader.handle(
        FollowerFetched(node_id=TWO, broker_epoch=12, fetch_offset=15, log_end_offset=15, now=Millis(0))
    )
    assert tell(replica, 1, 5) == (begins(5, 15),)
    progress = replica.leader.follower(TWO)
    assert progress is not None
    assert progress.end_offset == -1


def test_partition_without_a_leader_is_neither_led_nor_followed() -> None:
    replica = make_replica()
    tell(replica, 1, 4)
    assert tell(replica, -1, 5, isr=()) == (NOT_LEADER,)
    assert (replica.leader, replica.follower) == (None, None)
    assert tell(replica, 2, 6) == (follows(2, 6),)


def test_replica_that_is_none_any_more_stops() -> None:
    replica = make_replica()
    tell(replica, 2, 4)
    assert tell(replica, 2, 4, partition_epoch=5, replicas=(TWO, THREE)) == (StopFollowing(),)
    assert replica.follower is None
    assert tell(replica, 2, 4, partition_epoch=6) == (follows(2, 4),)


def test_leader_takes_a_new_set_within_its_epoch() -> None:
    replica = make_replica()
    tell(replica, 1, 4, isr=(ONE, TWO))
    effects = tell(replica, 1, 4, partition_epoch=5, isr=(ONE,))
    assert effects == (PublishHighWatermark(offset=Offset(15)),)


def test_follower_does_not_care_about_sets() -> None:
    replica = make_replica()
    tell(replica, 2, 4)
    same = replica.follower
    assert tell(replica, 2, 4, partition_epoch=5, isr=(TWO,)) == ()
    assert replica.follower is same


def test_older_word_of_the_metadata_log_changes_nothing() -> None:
    replica = make_replica()
    tell(replica, 2, 5)
    assert tell(replica, 1, 4) == ()
    assert replica.assignment is not None
    assert replica.assignment.leader == TWO


def test_checkpointed_high_watermark_above_the_disk_is_lowered_at_start() -> None:
    replica = make_replica(high_watermark=30)
    tell(replica, 2, 4, end=15)
    assert replica.high_watermark == 15
