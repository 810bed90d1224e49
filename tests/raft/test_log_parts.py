"""The smaller parts of a node: durability, the view of the log, voters over time, progress, settings."""

import pytest
from tests.raft.node_driver import ListedLog, entry, key, voters

from penstock.model.errors import CorruptLogError, InvariantError, UsageError
from penstock.model.ids import Millis
from penstock.raft.durability import Durability
from penstock.raft.entry import NO_SNAPSHOT, Entry, EntryKind, SnapshotId
from penstock.raft.log_view import LogView
from penstock.raft.progress import Mode, OutgoingSnapshot, Progress
from penstock.raft.reads import Reads
from penstock.raft.replica import NOBODY
from penstock.raft.restored import Restored
from penstock.raft.settings import RaftSettings
from penstock.raft.terms import Terms
from penstock.raft.transition import Role, check_transition
from penstock.raft.voter_history import VoterHistory


def view(*entries: Entry, recent_bytes_max: int = 1000, durable_end: int = 0) -> LogView:
    log = LogView(
        terms=Terms(),
        voters=VoterHistory(voters(1, 2, 3), 0),
        snapshot_id=NO_SNAPSHOT,
        reader=ListedLog(entries),
        recent_bytes_max=recent_bytes_max,
    )
    for each in entries:
        log.append(each, durable_end=durable_end)
    return log


def test_durable_end_moves_with_the_orders_that_are_reported() -> None:
    disk = Durability(0)
    first, second = disk.order(2), disk.order(5)
    disk.settle(first)
    assert (disk.end_offset, disk.settled) == (2, 1)
    disk.settle(second)
    assert (disk.end_offset, disk.settled) == (5, 2)


def test_durable_end_is_not_raised_by_a_report_about_what_was_cut_off() -> None:
    disk = Durability(0)
    first = disk.order(5)
    disk.truncate(3)
    second = disk.order(6)
    disk.settle(first)
    assert disk.end_offset == 3
    disk.settle(second)
    assert disk.end_offset == 6


def test_report_of_an_order_that_was_never_given_is_a_bug() -> None:
    with pytest.raises(InvariantError, match="order 1 is reported"):
        Durability(0).settle(1)


def test_snapshot_makes_earlier_reports_mean_no_more_than_itself() -> None:
    disk = Durability(0)
    number = disk.order(9)
    disk.restart_at(4)
    disk.settle(number)
    assert disk.end_offset == 4


def test_view_keeps_what_is_not_durable_and_reads_the_rest() -> None:
    log = view(*(entry(offset, 1, b"12345") for offset in range(6)), recent_bytes_max=10, durable_end=3)
    assert log._recent[0].offset == 3
    assert [each.offset for each in log.read(0, bytes_max=100, entries_max=10)] == [0, 1, 2]
    assert [each.offset for each in log.read(4, bytes_max=100, entries_max=1)] == [4]
    assert log.read(6, bytes_max=100, entries_max=10) == ()


def test_view_finds_nothing_where_old_entries_have_rotted_below_the_snapshot_only() -> None:
    log = view(*(entry(offset, 1, b"12345") for offset in range(6)), recent_bytes_max=10, durable_end=3)
    log.snapshot_taken(SnapshotId(2, 1), 0)
    reader = log._reader
    assert isinstance(reader, ListedLog)
    reader.rotten.add(2)
    assert log.read(1, bytes_max=100, entries_max=10) == ()
    assert [each.offset for each in log.read(3, bytes_max=100, entries_max=2)] == [3, 4]
    with pytest.raises(CorruptLogError):
        log.read(2, bytes_max=100, entries_max=10)


def test_view_refuses_an_entry_that_leaves_a_gap() -> None:
    with pytest.raises(InvariantError, match="cannot stand"):
        view(entry(1, 1))


def test_view_refuses_a_snapshot_of_another_log() -> None:
    with pytest.raises(InvariantError, match="not of this log"):
        view(entry(0, 1)).snapshot_taken(SnapshotId(1, 2), 1)


def test_view_misses_a_snapshot_that_is_gone() -> None:
    class Empty(ListedLog):
        def read_snapshot(self, snapshot_id: SnapshotId, position: int, bytes_max: int) -> None:
            return None

    log = LogView(
        terms=Terms(),
        voters=VoterHistory(voters(1), 0),
        snapshot_id=NO_SNAPSHOT,
        reader=Empty(),
        recent_bytes_max=0,
    )
    with pytest.raises(InvariantError, match="is gone"):
        log.read_snapshot(NO_SNAPSHOT, 0, 10)


def test_voters_are_known_at_every_offset() -> None:
    history = VoterHistory(voters(1), 0)
    history.append(entry(3, 1, kind=EntryKind.VOTERS, voters=voters(1, 2)))
    history.append(entry(7, 1, kind=EntryKind.VOTERS, voters=voters(1, 2, 3)))
    assert [len(history.at(offset)) for offset in (0, 3, 4, 7, 8)] == [1, 1, 2, 2, 3]
    assert [len(each) for each in history.since(4)] == [2, 3]
    history.drop_before(5)
    assert len(history.at(0)) == 2
    history.truncate(7)
    assert (history.latest, history.latest_end_offset) == (voters(1, 2), 4)


def test_progress_streams_after_the_first_agreement() -> None:
    progress = Progress(key(2), next_offset=9, now=Millis(0))
    progress.accepted(4)
    assert (progress.mode, progress.next_offset, progress.match_offset) == (Mode.STREAMING, 4, 4)
    progress.sent(1, 6, commit_offset=0, now=Millis(1))
    progress.sent(2, 6, commit_offset=0, now=Millis(1))
    assert (progress.next_offset, list(progress.in_flight)) == (6, [6])
    progress.accepted(6)
    assert not progress.in_flight


def test_progress_never_goes_back() -> None:
    progress = Progress(key(2), next_offset=9, now=Millis(0))
    progress.accepted(4)
    progress.accepted(2)
    assert progress.match_offset == 4
    progress.probe_from(1, first_sequence=5)
    assert (progress.match_offset, progress.next_offset) == (4, 1)
    assert progress.is_fresh_refusal(5)
    assert not progress.is_fresh_refusal(4)
    progress.send_snapshot(OutgoingSnapshot(SnapshotId(3, 1), voters(1)))
    assert not progress.is_fresh_refusal(9)


def test_reads_are_confirmed_in_order_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.raft.reads.RAFT_READS_WAITING_MAX", 2)
    reads = Reads()
    reads.add(1, offset=5, sequence=10)
    was_full = reads.is_full
    reads.add(2, offset=6, sequence=12)
    assert (was_full, reads.is_full) == (False, True)
    assert [ready.token for ready in reads.confirm(11)] == [1]
    assert (reads.tokens(), reads.newest_sequence) == ([2], 12)


def test_a_log_that_does_not_reach_its_snapshot_must_be_emptied_first() -> None:
    with pytest.raises(InvariantError, match="does not reach"):
        Restored(snapshot_id=SnapshotId(5, 1), log_end_offset=3)


def test_settings_leave_room_for_two_heartbeats() -> None:
    with pytest.raises(UsageError, match="too seldom"):
        RaftSettings(election_timeout_ms=100, heartbeat_interval_ms=60)


def test_a_follower_cannot_become_leader_without_an_election() -> None:
    with pytest.raises(InvariantError, match="follower cannot become a leader"):
        check_transition(Role.FOLLOWER, Role.LEADER)


def test_replicas_are_told_apart_by_their_disks() -> None:
    assert str(key(3)) == "3(AQEB)"
    assert key(3) != key(3, disk=2)
    assert NOBODY.node_id == -1
