"""Snapshots and their transfer: section 7 of the paper."""

from dataclasses import replace

import pytest
from tests.raft.node_driver import SNAPSHOT_CONTENT, Driver, entry, key, sent, terms_of, voters

from penstock.model.errors import CorruptLogError, InvariantError
from penstock.raft.entry import SnapshotId
from penstock.raft.events import SnapshotInstalled, SnapshotTaken, SnapshotUnreadable
from penstock.raft.hard_state import HardState
from penstock.raft.messages import AppendEntries, InstallSnapshot, SnapshotResponse
from penstock.raft.output import InstallOrder, Output, WritePiece
from penstock.raft.settings import RaftSettings
from penstock.raft.transition import Role
from penstock.raft.voters import NO_VOTERS

SNAPSHOT = SnapshotId(4, 2)
SMALL_PIECES = RaftSettings(election_timeout_ms=1000, heartbeat_interval_ms=100, snapshot_chunk_bytes=10)


def piece(
    position: int, end: int, *, snapshot_id: SnapshotId = SNAPSHOT, sequence: int = 1
) -> InstallSnapshot:
    return InstallSnapshot(
        sender=key(2),
        target=key(1),
        term=2,
        sequence=sequence,
        snapshot_id=snapshot_id,
        voters=voters(1, 2, 3),
        position=position,
        size_bytes=len(SNAPSHOT_CONTENT),
        data=SNAPSHOT_CONTENT[position:end],
    )


def response(output: Output) -> SnapshotResponse:
    (answer,) = sent(output, SnapshotResponse)
    assert isinstance(answer, SnapshotResponse)
    return answer


def leader_with_snapshot() -> Driver:
    driver = Driver(terms=[1, 1], settings=SMALL_PIECES)
    driver.lead_and_commit()
    driver.handle(SnapshotTaken(snapshot_id=SnapshotId(3, 2), log_start_offset=3))
    return driver


def test_a_snapshot_of_entries_that_are_not_committed_is_a_bug() -> None:
    driver = Driver(terms=[1, 1])
    with pytest.raises(InvariantError, match="more than is committed"):
        driver.handle(SnapshotTaken(snapshot_id=SnapshotId(2, 1), log_start_offset=2))


def test_a_snapshot_takes_the_place_of_entries_and_leaves_those_that_are_kept() -> None:
    driver = Driver(terms=[1, 1, 1])
    driver.receive(driver.append_entries(commit_offset=3))
    driver.handle(SnapshotTaken(snapshot_id=SnapshotId(3, 1), log_start_offset=1))
    assert (driver.node.log.start_offset, driver.node.log.snapshot_id) == (1, SnapshotId(3, 1))
    assert terms_of(driver) == [1, 1]


def test_a_leader_sends_a_snapshot_to_followers_that_lag_behind_its_log() -> None:
    driver = leader_with_snapshot()
    output = driver.receive(driver.refused(3, 0, 0))
    (request,) = sent(output, InstallSnapshot)
    assert isinstance(request, InstallSnapshot)
    assert (request.target, request.snapshot_id, request.position) == (key(3), SnapshotId(3, 2), 0)
    assert request.data == SNAPSHOT_CONTENT[:10]
    assert request.voters == voters(1, 2, 3)


def test_pieces_follow_each_other_and_then_entries() -> None:
    driver = leader_with_snapshot()
    driver.propose(b"later")
    output = driver.receive(driver.refused(3, 0, 0))
    data = b""
    for _ in range(5):
        (request,) = sent(output, InstallSnapshot)
        assert isinstance(request, InstallSnapshot)
        data += request.data
        answer = SnapshotResponse(
            sender=key(3),
            target=key(1),
            term=2,
            sequence=request.sequence,
            snapshot_id=request.snapshot_id,
            position=request.position + len(request.data),
            is_installed=request.is_last,
        )
        output = driver.receive(answer)
        if request.is_last:
            break
    assert data == SNAPSHOT_CONTENT
    (append,) = [each for each in sent(output, AppendEntries) if each.target == key(3)]
    assert (append.offset, len(append.entries)) == (3, 1)


def test_a_piece_that_is_not_answered_is_sent_again() -> None:
    driver = leader_with_snapshot()
    driver.receive(driver.refused(3, 0, 0))
    output = driver.wait(100)
    assert [each.position for each in sent(output, InstallSnapshot)] == [0]


def leader_with_rot(rotten: int) -> Driver:
    """It keeps all of its log, has a snapshot of four entries, and node 3 may have the first one."""
    driver = Driver(terms=[1] * 6)
    driver.lead()
    driver.persist()
    driver.receive(driver.accepted(2))
    driver.handle(SnapshotTaken(snapshot_id=SnapshotId(4, 1), log_start_offset=0))
    driver.disk.rotten.add(rotten)
    driver.receive(driver.refused(3, 1, 1))
    return driver


def installed(request: InstallSnapshot) -> SnapshotResponse:
    return SnapshotResponse(
        sender=request.target,
        target=request.sender,
        term=request.term,
        sequence=request.sequence,
        snapshot_id=request.snapshot_id,
        position=request.size_bytes,
        is_installed=True,
    )


def test_a_leader_sends_a_snapshot_in_the_place_of_entries_that_have_rotted() -> None:
    driver = leader_with_rot(2)
    (request,) = sent(driver.receive(driver.accepted(3, 1)), InstallSnapshot)
    assert (request.target, request.snapshot_id, request.position) == (key(3), SnapshotId(4, 1), 0)
    (append,) = sent(driver.receive(installed(request)), AppendEntries)
    assert (append.target, append.offset) == (key(3), 4)
    assert [each.offset for each in append.entries] == [4, 5]


def test_entries_that_have_rotted_behind_the_snapshot_end_it_all() -> None:
    driver = leader_with_rot(4)
    (request,) = sent(driver.receive(driver.accepted(3, 1)), InstallSnapshot)
    with pytest.raises(CorruptLogError):
        driver.receive(installed(request))


def with_newer_snapshot() -> Driver:
    """Node 3 has the first piece of a snapshot when the leader takes another."""
    driver = leader_with_snapshot()
    (request,) = sent(driver.receive(driver.refused(3, 0, 0)), InstallSnapshot)
    driver.receive(
        SnapshotResponse(
            sender=key(3),
            target=key(1),
            term=2,
            sequence=request.sequence,
            snapshot_id=request.snapshot_id,
            position=10,
        )
    )
    driver.propose(b"a")
    driver.persist()
    driver.receive(driver.accepted(2))
    driver.handle(SnapshotTaken(snapshot_id=SnapshotId(4, 2), log_start_offset=4))
    return driver


def test_a_snapshot_that_was_begun_is_finished_though_there_is_a_newer_one() -> None:
    (request,) = sent(with_newer_snapshot().wait(100), InstallSnapshot)
    assert (request.snapshot_id, request.position) == (SnapshotId(3, 2), 10)
    assert request.voters == voters(1, 2, 3)


def test_if_it_is_gone_the_newer_snapshot_is_sent_from_the_beginning() -> None:
    driver = with_newer_snapshot()
    driver.disk.lost_snapshots.add(SnapshotId(3, 2))
    (request,) = sent(driver.wait(100), InstallSnapshot)
    assert (request.snapshot_id, request.position) == (SnapshotId(4, 2), 0)


def test_a_follower_writes_pieces_in_order_and_asks_for_the_next() -> None:
    driver = Driver(terms=[1])
    output = driver.receive(piece(0, 10))
    assert output.snapshot_orders == (
        WritePiece(snapshot_id=SNAPSHOT, position=0, data=SNAPSHOT_CONTENT[:10]),
    )
    assert (response(output).position, response(output).is_installed) == (10, False)


def test_a_leader_of_an_old_term_learns_that_from_the_answer_to_its_snapshot() -> None:
    follower = Driver(hard_state=HardState(term=5))
    answer = response(follower.receive(piece(0, 10)))
    assert (answer.term, answer.is_installed) == (5, False)
    leader = leader_with_snapshot()
    leader.receive(replace(answer, sender=key(2), target=key(1)))
    assert (leader.role(), leader.node.term) == (Role.FOLLOWER, 5)


def test_a_piece_out_of_order_is_not_taken() -> None:
    driver = Driver(terms=[1])
    driver.receive(piece(0, 10))
    output = driver.receive(piece(20, 23))
    assert not output.snapshot_orders
    assert response(output).position == 10


def test_a_repeated_piece_is_not_taken_twice() -> None:
    driver = Driver(terms=[1])
    driver.receive(piece(0, 10))
    driver.receive(piece(10, 20))
    output = driver.receive(piece(10, 20))
    assert not output.snapshot_orders
    assert response(output).position == 20


def test_the_last_piece_orders_the_snapshot_to_be_installed_and_the_log_to_go() -> None:
    driver = Driver(terms=[1])
    driver.receive(piece(0, 10))
    output = driver.receive(piece(10, 23))
    assert output.snapshot_orders[-1] == InstallOrder(
        snapshot_id=SNAPSHOT, voters=voters(1, 2, 3), keeps_log=False
    )
    assert not sent(output, SnapshotResponse)


def test_no_entries_are_taken_while_a_snapshot_is_being_installed() -> None:
    driver = Driver(terms=[1])
    driver.receive(piece(0, 23))
    output = driver.receive(driver.append_entries(entry(1, 2), term=2))
    assert (output.append, output.send_after_persist) == ((), ())
    assert not driver.receive(piece(0, 10)).snapshot_orders


def test_an_installed_snapshot_is_the_log() -> None:
    driver = Driver(voters=NO_VOTERS, terms=[1, 1, 1, 1, 1, 1])
    driver.receive(piece(0, 23))
    output = driver.handle(SnapshotInstalled(snapshot_id=SNAPSHOT))
    node = driver.node
    assert (node.log.start_offset, node.log.end_offset, node.log.last_term) == (4, 4, 2)
    assert (output.commit_offset, node.durable_end_offset) == (4, 4)
    assert node.voters == voters(1, 2, 3)
    assert response(output).is_installed


def test_if_the_log_has_the_snapshots_last_entry_what_follows_it_is_retained() -> None:
    driver = Driver(terms=[1, 1, 2, 2, 2, 2])
    output = driver.receive(piece(0, 23))
    order = output.snapshot_orders[-1]
    assert isinstance(order, InstallOrder)
    assert order.keeps_log
    driver.handle(SnapshotInstalled(snapshot_id=SNAPSHOT))
    assert (driver.node.log.start_offset, driver.node.log.end_offset) == (4, 6)


def test_a_snapshot_of_what_is_committed_already_is_not_installed() -> None:
    driver = Driver(terms=[1, 1, 2, 2, 2])
    driver.receive(driver.append_entries(commit_offset=5))
    output = driver.receive(piece(0, 23))
    assert not output.snapshot_orders
    assert response(output).is_installed


def test_an_unreadable_snapshot_is_fetched_again() -> None:
    driver = Driver(terms=[1])
    driver.receive(piece(0, 23))
    output = driver.handle(SnapshotUnreadable(snapshot_id=SNAPSHOT))
    assert (response(output).position, response(output).is_installed) == (0, False)
    assert driver.receive(piece(0, 10)).snapshot_orders


def test_a_report_about_another_snapshot_is_a_bug() -> None:
    with pytest.raises(InvariantError, match="not being installed"):
        Driver().handle(SnapshotInstalled(snapshot_id=SNAPSHOT))


def test_logs_that_part_below_the_start_of_the_leaders_are_mended_by_a_snapshot() -> None:
    driver = Driver(snapshot_id=SnapshotId(5, 4), terms=[4], settings=SMALL_PIECES)
    driver.lead()
    output = driver.receive(driver.refused(3, 5, 2))
    assert [each.target for each in sent(output, InstallSnapshot)] == [key(3)]
