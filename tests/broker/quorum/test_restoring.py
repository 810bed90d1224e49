"""What a start finds: hard state, snapshots and a log, in every state a crash can leave them in."""

from random import Random

import pytest
from tests.raft.node_driver import key

from penstock.broker.quorum.hard_state_format import decode_hard_state, encode_hard_state
from penstock.broker.quorum.metadata_log import METADATA_SPEC
from penstock.broker.quorum.restoring import RestoredDisk, Restoring
from penstock.broker.quorum.snapshot_format import SnapshotContent
from penstock.broker.quorum.state_file import StateFile
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import FeatureLevelRecord, encode_record
from penstock.model.errors import CorruptLogError, OperatingError, StorageError
from penstock.model.ids import Millis, NodeId
from penstock.raft.control_records import ControlBatches
from penstock.raft.entry import NO_SNAPSHOT, SnapshotId
from penstock.raft.hard_state import NEW_HARD_STATE, HardState
from penstock.raft.replica import NOBODY, Voter
from penstock.raft.voters import NO_VOTERS, voter_set
from penstock.records.batch import read_header, split_batches, stamp
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord
from penstock.storage.log import Log
from penstock.storage.log_directory import DirectoryOptions, LogDirectory
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.memory_machine import MachineStopped

METADATA = "/data/__cluster_metadata-0"
LOG = f"{METADATA}/{0:020d}.log"
FOUNDER = Voter(key=key(1))
THREE = voter_set(Voter(key=key(number)) for number in (1, 2, 3))


class Machine:
    """A disk, and starts on it."""

    directory: LogDirectory

    def __init__(self) -> None:
        self.disk = MemoryFileSystem(Random(1))

    def open(self) -> Log:
        draw = Random(self.disk.machine.incarnation)
        options = DirectoryOptions(node_id=NodeId(1), new_uuid=lambda: draw.randbytes(16))
        self.directory = LogDirectory.open(self.disk, "/data", options, now=Millis(0))
        load = self.directory.begin_create([METADATA_SPEC], tail_cache=None, now=Millis(0))
        load.run()
        (log,) = self.directory.finish_load(load)
        return log

    def start(self, founder: Voter | None = FOUNDER) -> RestoredDisk:
        log = self.open()
        return Restoring(self.disk, self.directory, log, founder=founder, key=key(1)).run()

    def restart(self, founder: Voter | None = FOUNDER) -> RestoredDisk:
        self.disk.power_loss()
        return self.start(founder)


def append(log: Log, name: str, *, epoch: int) -> None:
    value = encode_record(FeatureLevelRecord(name=name, feature_level=1))
    put(log, build_batch([NewRecord(value=value)]), epoch)


def put(log: Log, batch: bytearray, epoch: int) -> None:
    stamp(batch, log.log_end_offset, epoch)
    log.append_as_follower(batch, read_header(batch))
    log.flush()


def content(name: str = "s") -> SnapshotContent:
    image = ClusterImage().apply([FeatureLevelRecord(name=name, feature_level=1)])
    return SnapshotContent(voters=THREE, image=image)


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.mark.parametrize(
    "state",
    [
        NEW_HARD_STATE,
        HardState(term=9, voted_for=key(2), quarantined_below=70),
        HardState(term=2**31 - 1, voted_for=NOBODY),
    ],
)
def test_hard_state_comes_back_as_it_was(state: HardState) -> None:
    assert decode_hard_state(encode_hard_state(state)) == state


def test_hard_state_that_is_cut_short_is_no_hard_state() -> None:
    with pytest.raises(CorruptLogError):
        decode_hard_state(encode_hard_state(HardState(term=1))[:5])


def test_node_that_begins_a_quorum_is_its_only_voter_and_remembers_it(machine: Machine) -> None:
    for restored in (machine.start().restored, machine.restart(founder=None).restored):
        assert restored.voters.keys == (key(1),)
        assert (restored.snapshot_id, restored.log_end_offset) == (NO_SNAPSHOT, 0)


def test_node_that_joins_knows_no_voters(machine: Machine) -> None:
    for restored in (machine.start(None).restored, machine.restart(None).restored):
        assert restored.voters == NO_VOTERS


def test_founding_is_finished_wherever_it_was_interrupted() -> None:
    interrupted = 0
    for number in range(400):
        machine = Machine()
        machine.disk.stop_before(number)
        try:
            machine.start()
        except MachineStopped:
            interrupted += 1
        else:
            break
        assert machine.restart().restored.voters.keys == (key(1),)
    assert interrupted > 20


def test_log_from_before_there_was_a_quorum_is_taken_over(machine: Machine) -> None:
    log = machine.open()
    append(log, "old", epoch=1)
    restored = machine.restart().restored
    assert restored.voters.keys == (key(1),)
    assert (restored.log_end_offset, restored.term_starts) == (1, ((1, 0),))


def test_log_of_a_quorum_whose_voters_are_unknown_founds_no_other(machine: Machine) -> None:
    log = machine.open()
    put(log, bytearray(ControlBatches().leader_change(key(2), THREE)), 1)
    with pytest.raises(StorageError, match="who its voters are"):
        machine.restart()
    assert machine.restart(founder=None).restored.log_end_offset == 1


def test_terms_and_voters_behind_the_snapshot_are_found(machine: Machine) -> None:
    restored = machine.start()
    append(restored.log, "a", epoch=1)
    append(restored.log, "b", epoch=1)
    put(restored.log, bytearray(ControlBatches().voters(THREE)), 3)
    append(restored.log, "c", epoch=4)
    again = machine.restart().restored
    assert again.term_starts == ((1, 0), (3, 2), (4, 3))
    assert [(entry.offset, entry.voters) for entry in again.voter_entries] == [(2, THREE)]
    assert (again.log_start_offset, again.base_term, again.log_end_offset) == (0, 0, 4)


def test_log_that_begins_inside_of_a_term_is_begun_behind_its_first_entry(machine: Machine) -> None:
    restored = machine.start()
    for name in "abcd":
        append(restored.log, name, epoch=2)
    restored.snapshots.write(SnapshotId(3, 2), content())
    restored.log.advance_log_start(1)
    again = Restoring(machine.disk, machine.directory, restored.log, founder=None, key=key(1)).run().restored
    assert (again.log_start_offset, again.base_term) == (2, 2)
    assert again.term_starts == ((2, 2),)
    assert again.snapshot_id == SnapshotId(3, 2)


@pytest.mark.parametrize(
    ("snapshot_id", "kept_end"),
    [(SnapshotId(9, 1), 9), (SnapshotId(2, 5), 2), (SnapshotId(2, 1), 3)],
    ids=["log ends before it", "log disagrees with it", "log has it"],
)
def test_snapshot_that_the_log_does_not_reach_takes_its_place(
    machine: Machine, snapshot_id: SnapshotId, kept_end: int
) -> None:
    restored = machine.start()
    for name in "abc":
        append(restored.log, name, epoch=1)
    restored.snapshots.write(snapshot_id, content())
    for _ in range(2):
        again = machine.restart()
        assert again.restored.snapshot_id == snapshot_id
        assert again.restored.log_end_offset == again.log.log_end_offset == kept_end
        assert again.restored.voters == THREE
        assert again.image.features == {"s": 1}
        assert not again.log.is_offline


def test_unreadable_snapshot_gives_way_to_the_one_before(machine: Machine) -> None:
    restored = machine.start()
    for name in "abcd":
        append(restored.log, name, epoch=1)
    restored.snapshots.write(SnapshotId(2, 1), content("older"))
    restored.snapshots.write(SnapshotId(4, 1), content("newer"))
    spoil(machine, SnapshotId(4, 1))
    again = machine.restart()
    assert again.restored.snapshot_id == SnapshotId(2, 1)
    assert again.image.features == {"older": 1}
    assert again.snapshots.ids == (SnapshotId(2, 1),)


def test_node_without_any_readable_snapshot_does_not_start(machine: Machine) -> None:
    machine.start()
    spoil(machine, NO_SNAPSHOT)
    with pytest.raises(StorageError, match="No snapshot"):
        machine.restart()


def test_state_of_which_no_copy_is_readable_keeps_the_node_from_starting(machine: Machine) -> None:
    machine.start()
    StateFile(machine.disk, METADATA).write(HardState(term=3))
    for suffix in ".a", ".b":
        overwrite(machine, f"{METADATA}/quorum-state{suffix}")
    with pytest.raises(OperatingError):
        machine.restart()


def test_vote_is_there_after_a_crash_anywhere_in_its_writing_or_was_never_given(machine: Machine) -> None:
    outcomes = set()
    for number in range(100):
        machine = Machine()
        machine.start()
        StateFile(machine.disk, METADATA).write(HardState(term=1, voted_for=key(1)))
        file = StateFile(machine.disk, METADATA)
        file.read()
        machine.disk.stop_before(machine.disk.operation_count + number)
        try:
            file.write(HardState(term=2, voted_for=key(2)))
        except MachineStopped:
            is_written = False
        else:
            is_written = True
        found = machine.restart().restored.hard_state
        outcomes.add(found.term)
        assert found in (HardState(term=1, voted_for=key(1)), HardState(term=2, voted_for=key(2)))
        if is_written:
            assert found.term == 2
            break
    assert outcomes == {1, 2}


def with_a_log_of_three_voters() -> Machine:
    """A machine that stopped in good order."""
    machine = Machine()
    machine.start().snapshots.write(NO_SNAPSHOT, SnapshotContent(voters=THREE, image=ClusterImage()))
    log = machine.restart(founder=None).log
    for number in range(20):
        append(log, f"f{number:02d}", epoch=1)
    stop(machine, log)
    return machine


def stop(machine: Machine, log: Log) -> None:
    log.close()
    machine.directory.close(Millis(0))


def rot(machine: Machine, number: int, byte: int = 70) -> None:
    """Turn a bit over in one of the log's batches, and look at nothing else."""
    position = [position for position, _ in split_batches(machine.disk.read_file(LOG))][number]
    machine.disk.flip_bit(LOG, position + byte)


@pytest.mark.parametrize("byte", [3, 10, 16, 40, 70], ids=["offset", "length", "magic", "header", "records"])
def test_rot_that_only_reading_finds_costs_a_voter_its_vote_until_it_has_everything_again(byte: int) -> None:
    machine = with_a_log_of_three_voters()
    rot(machine, 7, byte)
    again = machine.start(founder=None)
    assert again.restored.hard_state.quarantined_below == 20
    assert again.restored.log_end_offset == again.log.log_end_offset == 7
    assert machine.disk.exists(f"{LOG}.damaged")
    for _ in range(2):
        append(again.log, "more", epoch=1)
    stop(machine, again.log)
    after = machine.start(founder=None)
    assert after.restored.hard_state.quarantined_below == 20
    assert (after.restored.log_end_offset, after.log.refusal) == (9, None)


def test_rot_below_damage_that_opening_finds_is_cut_off_with_it() -> None:
    machine = with_a_log_of_three_voters()
    log = machine.open()
    machine.directory.begin_checkpoint(Millis(0)).run()
    append(log, "later", epoch=1)
    append(log, "last", epoch=1)
    machine.directory.record_flushed(log, 0)
    machine.directory.seal.flush()
    rot(machine, 20)
    rot(machine, 7)
    again = machine.restart(founder=None)
    assert again.restored.hard_state.quarantined_below == 22
    assert again.restored.log_end_offset == 7


def test_rot_keeps_a_sole_voter_from_starting_and_nothing_is_changed(machine: Machine) -> None:
    log = machine.start().log
    for number in range(20):
        append(log, f"f{number:02d}", epoch=1)
    stop(machine, log)
    rot(machine, 7)
    before = machine.disk.read_file(LOG)
    for _ in range(2):
        with pytest.raises(StorageError, match=r"The metadata log is damaged .* restore .* from a backup"):
            machine.start(founder=None)
        machine.disk.power_loss()
    assert machine.disk.read_file(LOG) == before


def test_crash_while_rot_is_cut_off_forgets_no_quarantine() -> None:
    interrupted = 0
    for number in range(200):
        machine = with_a_log_of_three_voters()
        rot(machine, 7)
        machine.disk.stop_before(machine.disk.operation_count + number)
        try:
            machine.start(founder=None)
        except MachineStopped:
            interrupted += 1
        else:
            break
        again = machine.restart(founder=None)
        assert again.restored.hard_state.quarantined_below == 20
        assert again.restored.log_end_offset == 7
    assert interrupted > 10


def spoil(machine: Machine, snapshot_id: SnapshotId) -> None:
    overwrite(machine, f"{METADATA}/{snapshot_id.end_offset:020d}-{snapshot_id.term:010d}.checkpoint")


def overwrite(machine: Machine, path: str) -> None:
    file = machine.disk.open(path)
    file.write(30, [b"rotten"])
    file.flush()
    file.close()
