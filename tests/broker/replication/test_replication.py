"""Replication between brokers, from a producer's batch to its copies, and what becomes of both in trouble."""

from collections.abc import Iterator

import pytest
from tests.broker.replication.small_cluster import (
    TOPIC_ID,
    Node,
    SmallCluster,
    check_leads,
    no_error,
    values_in,
)

from penstock.broker.apis.produce import REFUSAL_SECONDS
from penstock.broker.peers.peer_error import PeerError
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import NodeId
from penstock.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)


@pytest.fixture
def cluster() -> Iterator[SmallCluster]:
    made = SmallCluster()
    yield made
    made.close()


def raw_log(node: Node) -> bytes:
    log = node.partition().log
    return log.read(log.log_start_offset, max_bytes=1 << 20, end_offset=log.flushed_offset).read_bytes()


def cut(cluster: SmallCluster, *ids: int) -> None:
    """Let nothing pass between these brokers and all others, clients excepted."""
    cluster.network.block(links(cluster, *ids))


def mend(cluster: SmallCluster, *ids: int) -> None:
    cluster.network.unblock(links(cluster, *ids))


def links(cluster: SmallCluster, *ids: int) -> list[tuple[str, str]]:
    others = [f"n{id}" for id in cluster.disks if id not in ids]
    return [pair for id in ids for other in others for pair in ((f"n{id}", other), (other, f"n{id}"))]


def isr(cluster: SmallCluster) -> tuple[int, ...]:
    return tuple(sorted(cluster.partition.isr))


def count_named(leader: Node) -> list[int]:
    """How many partitions each of broker 2's requests names from now on."""
    session = leader.replication.sessions._sessions[NodeId(2)]
    named: list[int] = []
    original = session.name

    def counted(replicas, positions):  # type: ignore[no-untyped-def] # stands in for the method
        positions = list(positions)
        named.append(len(positions))
        return original(replicas, positions)

    session.name = counted  # type: ignore[method-assign]
    return named


# Copying.


def test_batch_is_copied_to_every_follower_before_it_is_acknowledged(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2, 3))
    assert no_error(cluster.run(cluster.produce(1, b"a", b"b"))) == 0
    assert no_error(cluster.run(cluster.produce(1, b"c"))) == 2
    assert [node.values() for node in cluster.nodes.values()] == [[b"a", b"b", b"c"]] * 3
    assert len({raw_log(node) for node in cluster.nodes.values()}) == 1


def test_batches_of_all_epochs_are_copied_as_they_were_stamped(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    cluster.run(cluster.produce(1, b"first"))
    cluster.fence(1)
    cluster.settle()
    cluster.run(cluster.produce(2, b"second"))
    cluster.unfence(1)
    cluster.run_until(lambda: isr(cluster) == (1, 2))
    cluster.elect_preferred()
    cluster.settle()
    no_error(cluster.run(cluster.produce(1, b"third")))
    cluster.reassign(1, 2, 3)
    cluster.run_until(lambda: isr(cluster) == (1, 2, 3))
    assert len({raw_log(node) for node in cluster.nodes.values()}) == 1
    epochs = [node.partition().log.leader_epochs.starts for node in cluster.nodes.values()]
    assert [[start.epoch for start in starts] for starts in epochs] == [[0, 1, 2]] * 3


def test_high_watermark_reaches_followers_when_nothing_more_is_written(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2, 3))
    cluster.run(cluster.produce(1, b"a"))
    cluster.run_until(lambda: all(node.partition().high_watermark == 1 for node in cluster.nodes.values()))


def test_many_partitions_are_named_once_and_again_only_when_they_move(cluster: SmallCluster) -> None:
    cluster.make_topic(*[(1, 2)] * 50)
    cluster.pass_time(1.0)
    named = count_named(cluster.nodes[1])
    for index in (7, 31, 7):
        no_error(cluster.run(cluster.produce(1, b"x", index=index)))
    assert sum(named) <= 10
    assert cluster.nodes[2].values(7) == [b"x", b"x"]
    assert len(cluster.nodes[1].replication.sessions._sessions[NodeId(2)]) == 50


def test_request_after_records_waits_for_their_flush(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    cluster.pass_time(1.0)
    named = count_named(cluster.nodes[1])
    for _ in range(3):
        no_error(cluster.run(cluster.produce(1, b"x")))
    assert named == [1, 1, 1]


# Acknowledging.


def test_acks_all_waits_for_followers_and_acks_one_does_not(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2, 3))
    cut(cluster, 3)
    late = cluster.run(cluster.produce(1, b"a", timeout_ms=200))
    assert late.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert no_error(cluster.run(cluster.produce(1, b"b", acks=1))) == 1
    assert cluster.nodes[1].partition().high_watermark == 0
    mend(cluster, 3)
    no_error(cluster.run(cluster.produce(1, b"c")))
    assert cluster.nodes[3].values() == [b"a", b"b", b"c"]


def test_consumer_sees_nothing_above_the_high_watermark(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2, 3))
    no_error(cluster.run(cluster.produce(1, b"safe")))
    cut(cluster, 2, 3)
    cluster.run(cluster.produce(1, b"unsafe", acks=1))
    found = cluster.run(cluster.fetch(1))
    assert values_in(found) == [b"safe"]
    assert found.high_watermark == 1


def test_duplicate_with_acks_all_waits_until_the_first_is_committed(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    cut(cluster, 2)
    cluster.nodes[1].can_reach_controller = False
    first = cluster.run(cluster.produce(1, b"once", timeout_ms=200, producer_id=5))
    again = cluster.run(cluster.produce(1, b"once", timeout_ms=200, producer_id=5))
    assert first.error_code == again.error_code == ErrorCode.REQUEST_TIMED_OUT
    mend(cluster, 2)
    cluster.nodes[1].can_reach_controller = True
    assert no_error(cluster.run(cluster.produce(1, b"once", timeout_ms=20_000, producer_id=5))) == 0
    assert cluster.nodes[2].values() == [b"once"]


# The in-sync set.


def test_silent_follower_leaves_the_in_sync_set_and_comes_back(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2, 3))
    cut(cluster, 3)
    answer = cluster.run(cluster.produce(1, b"a", timeout_ms=20_000))
    assert no_error(answer) == 0
    assert isr(cluster) == (1, 2)
    mend(cluster, 3)
    cluster.run_until(lambda: isr(cluster) == (1, 2, 3))
    assert cluster.nodes[3].values() == [b"a"]


def test_idle_followers_stay_in_sync(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2, 3))
    cluster.run(cluster.produce(1, b"a"))
    cluster.pass_time(10.0)
    cluster.run(cluster.produce(1, b"b"))
    cluster.pass_time(2.0)
    assert isr(cluster) == (1, 2, 3)
    assert cluster.partition.partition_epoch == 0


def test_leader_of_a_minority_refuses_acks_all(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2, 3), min_insync_replicas="2")
    cut(cluster, 1)
    starved = cluster.client_loop.create_task(cluster.produce(1, b"a", timeout_ms=20_000))
    cluster.run_until(lambda: isr(cluster) == (1,))
    cluster.run_until(starved.done)
    assert starved.result().error_code == ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    refused = cluster.run(cluster.produce(1, b"b"))
    assert refused.error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    assert cluster.nodes[1].partition().high_watermark == 0
    mend(cluster, 1)
    cluster.run_until(lambda: len(isr(cluster)) == 3)
    no_error(cluster.run(cluster.produce(1, b"c")))


def test_what_follows_a_refused_batch_is_no_gap_when_the_moment_has_passed(cluster: SmallCluster) -> None:
    def send(sequence: int) -> ErrorCode:
        produced = cluster.produce(1, b"%d" % sequence, producer_id=7, sequence=sequence)
        return ErrorCode(cluster.run(produced).error_code)

    cluster.make_topic((1, 2, 3), min_insync_replicas="2")
    cut(cluster, 1)
    starved = cluster.client_loop.create_task(cluster.produce(1, b"0", producer_id=7, timeout_ms=20_000))
    cluster.run_until(lambda: isr(cluster) == (1,))
    cluster.run_until(starved.done)
    assert send(1) == ErrorCode.NOT_ENOUGH_REPLICAS
    mend(cluster, 1)
    cluster.run_until(lambda: len(isr(cluster)) == 3)
    leader = cluster.nodes[1]
    assert leader.partition().refused is not None
    leader.partition().refused = (ErrorCode.NOT_ENOUGH_REPLICAS, leader.clock.monotonic())
    assert send(2) == ErrorCode.NOT_ENOUGH_REPLICAS
    cluster.pass_time(REFUSAL_SECONDS * 2)
    assert send(2) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert [send(1), send(2)] == [ErrorCode.NONE, ErrorCode.NONE]
    assert leader.values() == [b"0", b"1", b"2"]


def test_proposal_is_repeated_until_the_controller_answers(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    cluster.nodes[1].can_reach_controller = False
    cut(cluster, 2)
    cluster.pass_time(5.0)
    assert isr(cluster) == (1, 2)
    cluster.nodes[1].can_reach_controller = True
    cluster.run_until(lambda: isr(cluster) == (1,))
    assert len(cluster.nodes[1].asked_controller) == 1


def test_proposals_of_many_partitions_go_together(cluster: SmallCluster) -> None:
    cluster.make_topic(*[(1, 2)] * 20)
    cut(cluster, 2)
    cluster.run_until(lambda: isr(cluster) == (1,))
    cluster.settle()
    (request,) = cluster.nodes[1].asked_controller
    assert len(request.topics[0].partitions) == 20


def test_minimum_that_is_raised_holds_for_the_next_batch(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2), (1,))
    cluster.kill(2)
    cluster.fence(2)
    cluster.settle()
    no_error(cluster.run(cluster.produce(1, b"a")))
    cluster.configure("min.insync.replicas", "2")
    cluster.settle()
    assert cluster.run(cluster.produce(1, b"b")).error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    no_error(cluster.run(cluster.produce(1, b"b", index=1)))
    no_error(cluster.run(cluster.produce(1, b"b", acks=1)))


# Changes of leaders.


def test_former_leader_drops_what_its_successor_never_had(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2, 3))
    no_error(cluster.run(cluster.produce(1, b"kept")))
    cut(cluster, 1)
    no_error(cluster.run(cluster.produce(1, b"lost", acks=1)))
    cluster.nodes[1].hears_metadata = False
    cluster.fence(1)
    cluster.run_until(lambda: cluster.nodes[2].partition().is_leader)
    no_error(cluster.run(cluster.produce(2, b"new", timeout_ms=20_000)))
    cluster.nodes[1].hears_metadata = True
    mend(cluster, 1)
    cluster.unfence(1)
    cluster.run_until(lambda: isr(cluster) == (1, 2, 3))
    assert [node.values() for node in cluster.nodes.values()] == [[b"kept", b"new"]] * 3
    assert len({raw_log(node) for node in cluster.nodes.values()}) == 1


def test_divergent_log_cut_once_stays_cut_after_a_crash(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    no_error(cluster.run(cluster.produce(1, b"kept")))
    cut(cluster, 1)
    cluster.run(cluster.produce(1, b"lost", b"too", acks=1))
    cluster.kill(1)
    cluster.fence(1)
    cluster.run_until(lambda: cluster.nodes[2].partition().is_leader)
    no_error(cluster.run(cluster.produce(2, b"new")))
    mend(cluster, 1)
    cluster.restart(1)
    cluster.run_until(lambda: isr(cluster) == (1, 2))
    cluster.kill(1, loses_power=True)
    restarted = cluster.restart(1)
    cluster.run_until(lambda: restarted.values() == [b"kept", b"new"])
    assert not restarted.partition().log.is_offline


def test_waiting_producers_learn_that_the_leader_resigned(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2, 3))
    cut(cluster, 2, 3)
    waiting = cluster.client_loop.create_task(cluster.produce(1, b"a", timeout_ms=20_000))
    cluster.pass_time(0.05)
    cluster.fence(1)
    cluster.run_until(waiting.done)
    assert waiting.result().error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_leader_out_of_touch_goes_on_while_everybody_copies_from_it(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2, 3))
    replication = cluster.nodes[1].replication
    no_error(cluster.run(cluster.produce(1, b"a")))
    replication.lost_touch(replication.now() / 1000 - 0.5)
    no_error(cluster.run(cluster.produce(1, b"b")))


def test_leader_out_of_touch_that_nobody_copies_from_hangs_up_on_producers(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2, 3))
    replication = cluster.nodes[1].replication
    no_error(cluster.run(cluster.produce(1, b"a")))
    cut(cluster, 3)
    waiting = cluster.client_loop.create_task(cluster.produce(1, b"b", timeout_ms=20_000))
    cluster.pass_time(0.6)
    replication.lost_touch(replication.now() / 1000 - 0.5)
    cluster.run_until(waiting.done)
    assert isinstance(waiting.exception(), PeerError)
    with pytest.raises(PeerError, match="closed the connection"):
        cluster.run(cluster.produce(1, b"c"))
    mend(cluster, 3)
    replication.came_back()
    cluster.pass_time(1.0)  # for which a client rests that was hung up on
    no_error(cluster.run(cluster.produce(1, b"d")))
    assert cluster.nodes[1].values() == [b"a", b"b", b"d"]


def test_waiting_consumers_learn_that_the_leader_resigned(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    waiting = cluster.client_loop.create_task(cluster.fetch(1, max_wait_ms=20_000, version=10))
    cluster.pass_time(0.05)
    cluster.fence(1)
    cluster.run_until(waiting.done, seconds_max=1.0)
    assert waiting.result().error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_new_leader_says_where_the_log_ends_when_it_knows(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2, 3))
    no_error(cluster.run(cluster.produce(1, b"a")))
    cut(cluster, 3)
    cluster.kill(1)
    cluster.fence(1)
    cluster.run_until(lambda: cluster.nodes[2].partition().is_leader)
    machine = cluster.nodes[2].partition().leader
    machine._high_watermark = 0  # type: ignore[assignment] # it has not heard of what was committed
    assert cluster.run(cluster.latest_offset(2)).error_code == ErrorCode.OFFSET_NOT_AVAILABLE
    assert cluster.run(cluster.latest_offset(2, version=4)).error_code == ErrorCode.LEADER_NOT_AVAILABLE
    mend(cluster, 3)
    cluster.run_until(lambda: cluster.nodes[2].partition().leader.is_high_watermark_current)
    assert cluster.run(cluster.latest_offset(2)).offset == 1


def test_high_watermark_survives_a_restart_of_everybody(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    no_error(cluster.run(cluster.produce(1, b"a")))
    cluster.run_until(lambda: cluster.nodes[2].partition().high_watermark == 1)
    cluster.nodes[2].loop.create_task(cluster.nodes[2].checkpoint())
    cluster.pass_time(0.1)
    for id in (1, 2):
        cluster.kill(id, loses_power=True)
    cluster.register(1)
    cluster.register(2)
    follower = cluster.boot(2)
    assert follower.partition().high_watermark == 1
    leader = cluster.boot(1)
    assert leader.partition().high_watermark < 2
    cluster.run_until(lambda: leader.partition().high_watermark == 1)


# Moving.


def test_reassigned_replica_is_filled_and_the_former_one_is_deleted(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    for number in range(20):
        no_error(cluster.run(cluster.produce(1, b"%d" % number)))
    cluster.reassign(1, 3)
    cluster.run_until(lambda: cluster.partition.replicas == (1, 3))
    cluster.settle()
    assert cluster.nodes[3].values() == cluster.nodes[1].values()
    assert len(cluster.nodes[2].replicas) == 0
    assert not cluster.nodes[2].log_directory.logs
    refused = cluster.run(cluster.produce(2, b"x"))
    assert refused.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_producer_waiting_for_a_leader_that_is_moved_away_is_told_to_go_elsewhere(
    cluster: SmallCluster,
) -> None:
    cluster.make_topic((1, 2))
    cut(cluster, 1)
    waiting = cluster.client_loop.create_task(cluster.produce(1, b"a", timeout_ms=20_000))
    cluster.pass_time(0.05)
    cluster.fence(1)
    cluster.reassign(2, 3)
    cluster.run_until(waiting.done)
    assert waiting.result().error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    cluster.run_until(lambda: cluster.partition.replicas == (2, 3))
    cluster.settle()
    assert len(cluster.nodes[1].replicas) == 0
    refused = cluster.run(cluster.produce(1, b"a"))
    assert refused.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert refused.current_leader.leader_id == 2


def test_deleted_topic_is_copied_no_more(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    cluster.run(cluster.produce(1, b"a"))
    cluster.delete_topic()
    cluster.settle()
    cluster.make_topic((2, 1), topic_id=type(TOPIC_ID)(b"n" * 16))
    no_error(cluster.run(cluster.produce(2, b"b")))
    assert cluster.nodes[1].values() == [b"b"]


# Beginnings.


async def delete_records(cluster: SmallCluster, offset: int, timeout_ms: int) -> DeleteRecordsPartitionResult:
    partition = DeleteRecordsPartition(partition_index=0, offset=offset)
    request = DeleteRecordsRequest(
        topics=(DeleteRecordsTopic(name="orders", partitions=(partition,)),), timeout_ms=timeout_ms
    )
    response = await cluster.client.ask(NodeId(1), request, 2, seconds_max=20)
    result: DeleteRecordsPartitionResult = response.topics[0].partitions[0]
    return result


def test_deleting_records_waits_for_every_live_replica(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2, 3))
    cluster.run(cluster.produce(1, b"a", b"b"))
    cluster.run(cluster.produce(1, b"c"))
    done = cluster.run(delete_records(cluster, 2, 5_000))
    assert (done.error_code, done.low_watermark) == (0, 2)
    assert [node.partition().log.log_start_offset for node in cluster.nodes.values()] == [2, 2, 2]
    cut(cluster, 3)
    late = cluster.run(delete_records(cluster, 3, 200))
    assert late.error_code == ErrorCode.REQUEST_TIMED_OUT
    cluster.fence(3)
    done = cluster.run(delete_records(cluster, 3, 5_000))
    assert (done.error_code, done.low_watermark) == (0, 3)


def test_follower_too_far_behind_begins_anew(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    no_error(cluster.run(cluster.produce(1, b"a")))
    cluster.kill(2)
    cluster.fence(2)
    cluster.settle()
    for value in (b"b", b"c", b"d"):
        no_error(cluster.run(cluster.produce(1, value)))
    assert cluster.run(delete_records(cluster, 3, 5_000)).low_watermark == 3
    follower = cluster.restart(2)
    cluster.run_until(lambda: isr(cluster) == (1, 2))
    assert follower.values() == [b"d"]
    assert follower.partition().log.log_start_offset == 3
    no_error(cluster.run(cluster.produce(1, b"e")))
    cluster.kill(2, loses_power=True)
    again = cluster.restart(2)
    cluster.run_until(lambda: again.values() == [b"d", b"e"])


def test_follower_begins_anew_inside_of_a_batch(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    cluster.kill(2)
    cluster.fence(2)
    cluster.settle()
    no_error(cluster.run(cluster.produce(1, b"a", b"b", b"c")))
    assert cluster.run(delete_records(cluster, 2, 5_000)).low_watermark == 2
    follower = cluster.restart(2)
    cluster.run_until(lambda: isr(cluster) == (1, 2))
    assert follower.values() == [b"c"]
    assert follower.partition().log.log_start_offset == 2
    assert len({raw_log(node) for node in cluster.nodes.values() if node.node_id < 3}) == 1


# Damage.


def test_damaged_log_of_a_follower_is_repaired_and_filled_again(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    for value in (b"a", b"b", b"c"):
        no_error(cluster.run(cluster.produce(1, value)))
    cluster.kill(2)
    path = "/data/orders-0/00000000000000000000.log"
    file = cluster.disks[NodeId(2)].open(path)
    size = file.size()
    file.write(size // 2, [b"rot"])
    file.flush()
    follower = cluster.restart(2)
    assert follower.partitions.lost == [(TOPIC_ID, 0)]
    cluster.run_until(lambda: follower.values() == [b"a", b"b", b"c"])
    assert not follower.partition().log.is_offline


# Disks that fail for a while.


def diverge(cluster: SmallCluster) -> None:
    """Let broker 1 have a record that its successor, broker 2, never had."""
    cluster.make_topic((1, 2, 3))
    no_error(cluster.run(cluster.produce(1, b"kept")))
    cut(cluster, 1)
    no_error(cluster.run(cluster.produce(1, b"lost", acks=1)))
    cluster.nodes[1].hears_metadata = False
    cluster.fence(1)
    cluster.run_until(lambda: cluster.nodes[2].partition().is_leader)
    no_error(cluster.run(cluster.produce(2, b"new", timeout_ms=20_000)))
    cluster.nodes[1].hears_metadata = True
    mend(cluster, 1)


@pytest.mark.parametrize(
    "failing",
    [
        "truncate:path=orders-0:error=ENOSPC",
        "truncate:path=orders-0:error=EIO",
        "write:path=recovery-point:error=EIO",
    ],
    ids=["no room", "broken file", "broken checkpoint"],
)
def test_cut_that_fails_is_tried_again(
    cluster: SmallCluster, caplog: pytest.LogCaptureFixture, failing: str
) -> None:
    diverge(cluster)
    cluster.nodes[1].strike(f"{failing}:count=3")
    cluster.unfence(1)
    changes = cluster.nodes[1].replication.log_changes
    cluster.run_until(lambda: bool(changes.failing))
    cluster.run_until(lambda: isr(cluster) == (1, 2, 3))
    assert not changes.failing
    assert [node.values() for node in cluster.nodes.values()] == [[b"kept", b"new"]] * 3
    told = [record for record in caplog.records if record.message.startswith("log cannot be changed yet")]
    assert len(told) == 1
    no_error(cluster.run(cluster.produce(2, b"more")))
    cluster.kill(1, loses_power=True)
    again = cluster.restart(1)
    cluster.run_until(lambda: again.values() == [b"kept", b"new", b"more"])


def test_new_beginning_that_fails_is_tried_again(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    cluster.kill(2)
    cluster.fence(2)
    cluster.settle()
    for value in (b"b", b"c", b"d"):
        no_error(cluster.run(cluster.produce(1, value)))
    assert cluster.run(delete_records(cluster, 2, 5_000)).low_watermark == 2
    cluster.failpoints[2] = "open:error=EMFILE:path=.restart:count=3"
    follower = cluster.restart(2)
    cluster.run_until(lambda: isr(cluster) == (1, 2))
    assert follower.values() == [b"d"]


def test_repair_that_fails_is_tried_again(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    for value in (b"a", b"b", b"c"):
        no_error(cluster.run(cluster.produce(1, value)))
    cluster.kill(2)
    file = cluster.disks[NodeId(2)].open("/data/orders-0/00000000000000000000.log")
    file.write(file.size() // 2, [b"rot"])
    file.flush()
    cluster.failpoints[2] = "write:error=EIO:path=.damaged:count=3"
    follower = cluster.restart(2)
    cluster.run_until(lambda: follower.values() == [b"a", b"b", b"c"])
    assert not follower.partition().log.is_offline


def test_topic_is_deleted_though_its_log_cannot_be_cut(cluster: SmallCluster) -> None:
    diverge(cluster)
    cluster.nodes[1].strike("truncate:error=EIO:path=orders-0")
    cluster.unfence(1)
    cluster.run_until(lambda: cluster.nodes[1].partition().log.is_busy)
    cluster.delete_topic()
    cluster.run_until(lambda: not cluster.disks[NodeId(1)].exists("/data/orders-0"))
    assert len(cluster.nodes[1].replicas) == 0
    cluster.nodes[1].strike("")
    cluster.make_topic((1, 2), topic_id=type(TOPIC_ID)(b"n" * 16))
    cluster.run_until(lambda: check_leads(cluster.nodes[1]))
    no_error(cluster.run(cluster.produce(1, b"b")))
    assert cluster.nodes[1].values() == cluster.nodes[2].values() == [b"b"]


def test_broker_whose_log_cannot_be_cut_stops_and_the_next_start_comes_to_the_same_point(
    cluster: SmallCluster,
) -> None:
    diverge(cluster)
    node = cluster.nodes[1]
    node.strike("truncate:error=EIO:path=orders-0")
    cluster.unfence(1)
    cluster.run_until(lambda: node.partition().log.is_busy)
    stopping = node.loop.create_task(node.stop())
    cluster.run_until(stopping.done)
    stopping.result()
    cluster.kill(1)
    again = cluster.restart(1)
    cluster.run_until(lambda: isr(cluster) == (1, 2, 3))
    assert again.values() == [b"kept", b"new"]


# Topics that accept loss.


def test_follower_drops_what_its_leader_lost_where_the_topic_accepts_loss(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2), flush_messages="1000")
    no_error(cluster.run(cluster.produce(1, b"a", b"b")))
    cluster.run_until(lambda: cluster.nodes[2].partition().high_watermark == 2)
    cluster.nodes[2].loop.create_task(cluster.nodes[2].checkpoint())
    cluster.pass_time(0.1)
    for id, loses_power in ((2, False), (1, True)):
        cluster.kill(id, loses_power=loses_power)
        cluster.fence(id)
    leader, follower = cluster.restart(1), cluster.restart(2)
    cluster.run_until(lambda: isr(cluster) == (1, 2))
    assert follower.partition().failure is None
    no_error(cluster.run(cluster.produce(1, b"c", timeout_ms=20_000)))
    assert leader.values() == follower.values() == [b"c"]


def test_follower_that_knows_of_more_than_its_leader_stops_and_others_go_on(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2), (1, 2))
    no_error(cluster.run(cluster.produce(1, b"a")))
    cluster.run_until(lambda: cluster.nodes[2].partition().high_watermark == 1)
    lose_everything(cluster, 1)
    leader = cluster.restart(1)
    assert leader.values() == []
    cluster.run_until(lambda: cluster.nodes[2].partition().failure is not None)
    assert cluster.nodes[2].values() == [b"a"]
    no_error(cluster.run(cluster.produce(1, b"b", index=1, timeout_ms=20_000)))
    assert cluster.nodes[2].values(1) == [b"b"]
    refused = cluster.run(cluster.fetch(2))
    assert refused.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    cluster.run_until(lambda: isr(cluster) == (1,))


def test_stopped_follower_goes_on_when_losing_is_allowed(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    no_error(cluster.run(cluster.produce(1, b"a")))
    cluster.run_until(lambda: cluster.nodes[2].partition().high_watermark == 1)
    lose_everything(cluster, 1)
    cluster.restart(1)
    cluster.run_until(lambda: cluster.nodes[2].partition().failure is not None)
    cluster.configure("unclean.leader.election.enable", "true")
    cluster.run_until(lambda: cluster.nodes[2].values() == [])
    no_error(cluster.run(cluster.produce(1, b"b", timeout_ms=20_000)))
    assert cluster.nodes[2].values() == [b"b"]


def lose_everything(cluster: SmallCluster, id: int) -> None:
    """Let a broker forget its partitions, without a word to anybody."""
    cluster.kill(id)
    disk = cluster.disks[NodeId(id)]
    for index in range(len(cluster.image.topics["orders"].partitions)):
        directory = f"/data/orders-{index}"
        for name in disk.list_directory(directory):
            disk.unlink(f"{directory}/{name}")
    for name in disk.list_directory("/data"):
        if "checkpoint" in name or name == "durable-offsets":
            disk.unlink(f"/data/{name}")


# Connections.


def test_leader_that_comes_back_is_fetched_from_again(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    no_error(cluster.run(cluster.produce(1, b"a")))
    cluster.kill(1)
    cluster.pass_time(2.0)
    cluster.restart(1)
    no_error(cluster.run(cluster.produce(1, b"b", timeout_ms=20_000)))
    assert cluster.nodes[2].values() == [b"a", b"b"]


def test_broken_connection_costs_nothing_but_time(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    for number in range(10):
        cluster.network.reset_connections("n1", "n2")
        no_error(cluster.run(cluster.produce(1, b"%d" % number, timeout_ms=20_000)))
    assert cluster.nodes[2].values() == [b"%d" % number for number in range(10)]


def test_follower_leaves_the_last_of_its_disk_alone(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    room = cluster.nodes[2].log_directory.room
    room.is_low = True
    no_error(cluster.run(cluster.produce(1, b"a", timeout_ms=20_000)))
    cluster.run(cluster.produce(1, b"b", acks=1))
    cluster.pass_time(1.0)
    assert isr(cluster) == (1,)
    assert cluster.nodes[2].partition().log.log_end_offset < 2
    room.is_low = False
    cluster.run_until(lambda: isr(cluster) == (1, 2))
    assert cluster.nodes[2].values() == [b"a", b"b"]


def test_full_disk_of_a_follower_stops_it_until_there_is_room(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    no_error(cluster.run(cluster.produce(1, b"a")))
    disk = cluster.disks[NodeId(2)]
    capacity = disk.capacity_bytes
    disk.capacity_bytes -= disk.free_bytes
    no_error(cluster.run(cluster.produce(1, b"b" * 5_000, timeout_ms=20_000)))
    assert isr(cluster) == (1,)
    disk.capacity_bytes = capacity
    node = cluster.nodes[2]
    log = node.partition().log
    job = log.begin_rewind()
    assert job is not None
    job.run()
    log.finish_rewind(job)
    cluster.run_until(lambda: isr(cluster) == (1, 2))
    assert node.values() == [b"a", b"b" * 5_000]
