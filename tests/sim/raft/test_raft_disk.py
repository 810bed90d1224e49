"""A simulated node's disk keeps what was flushed, and of the rest what a real one might."""

from random import Random

from tests.raft.node_driver import entry, key, voters

from penstock.raft.entry import SnapshotId
from penstock.raft.hard_state import HardState
from penstock.raft.output import Output
from penstock.sim.raft.disk import NodeDisk, Snapshot
from penstock.sim.raft.network import Network


def output(number: int, term: int, *offsets: int, truncate_to: int | None = None) -> Output:
    return Output(
        number=number,
        persist=HardState(term=term),
        append=tuple(entry(offset, term) for offset in offsets),
        truncate_to=truncate_to,
    )


def test_flushed_orders_survive_a_crash() -> None:
    disk = NodeDisk(voters(1))
    disk.order(output(1, 1, 0, 1))
    disk.flushed(1)
    disk.crash(Random(1))
    restored = disk.restore()
    assert (restored.hard_state.term, restored.log_end_offset, restored.term_starts) == (1, 2, ((1, 0),))


def test_unflushed_orders_survive_in_part_in_each_file_for_itself() -> None:
    outcomes = set()
    for seed in range(200):
        disk = NodeDisk(voters(1))
        disk.order(output(1, 1, 0, 1))
        disk.order(output(2, 2, 1, truncate_to=1))
        disk.crash(Random(seed))
        outcomes.add((disk.files.hard_state.term, tuple(each.term for each in disk.files.entries)))
    assert {(0, ()), (2, ()), (0, (1, 2)), (2, (1, 2)), (1, (1, 1)), (0, (1,))} <= outcomes


def test_log_behind_its_snapshot_is_emptied_at_the_start() -> None:
    disk = NodeDisk(voters(1))
    disk.order(output(1, 1, 0, 1))
    disk.flushed(1)
    snapshot_id = SnapshotId(5, 2)
    disk.replace_snapshot(Snapshot(snapshot_id=snapshot_id, voters=voters(1, 2), content=b"x"))
    restored = disk.restore()
    assert (restored.log_start_offset, restored.log_end_offset, restored.base_term) == (5, 5, 2)
    assert restored.voters == voters(1, 2)


def test_log_keeps_what_lies_behind_its_snapshot() -> None:
    disk = NodeDisk(voters(1))
    disk.order(output(1, 1, 0, 1, 2))
    disk.flushed(1)
    disk.replace_snapshot(Snapshot(snapshot_id=SnapshotId(2, 1), voters=voters(1), content=b"0123456789"))
    disk.drop_log_before(2)
    assert [each.offset for each in disk.read(2, end_offset=3, bytes_max=100)] == [2]
    piece = disk.read_snapshot(SnapshotId(2, 1), 4, 3)
    assert piece is not None
    assert (piece.data, piece.size_bytes) == (b"456", 10)
    assert disk.read_snapshot(SnapshotId(1, 1), 0, 3) is None


def test_cut_way_lets_nothing_through_until_every_cut_is_mended() -> None:
    network = Network(Random(1), delay_ms_max=5, loss=0.0, duplication=0.0)
    network.cut([(1, 2)])
    network.cut([(1, 2)])
    network.mend([(1, 2)])
    assert network.delays(1, 2) == []
    assert len(network.delays(2, 1)) == 1
    network.mend([(1, 2)])
    assert len(network.delays(1, 2)) == 1


def test_network_loses_and_doubles_as_told() -> None:
    assert Network(Random(1), delay_ms_max=5, loss=1.0, duplication=0.0).delays(1, 2) == []
    assert len(Network(Random(1), delay_ms_max=5, loss=0.0, duplication=1.0).delays(1, 2)) == 2
    healed = Network(Random(1), delay_ms_max=5, loss=1.0, duplication=1.0)
    healed.heal()
    assert len(healed.delays(1, 2)) == 1


def test_keys_differ_by_disk() -> None:
    assert key(1) != key(1, disk=2)
