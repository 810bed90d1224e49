"""What the disk does to a quorum: it is full, it is damaged, it stops in the middle of something."""

from collections.abc import Iterator

import pytest
from tests.broker.quorum.quorum_world import PORT, QuorumNode, QuorumWorld, features, log_bytes

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.raft.replica import Endpoint
from penstock.raft.transition import Role
from penstock.records.batch import split_batches
from penstock.sim.runtime.disk import Appointment
from penstock.storage.memory_filesystem import CAPACITY_BYTES_DEFAULT

METADATA = "/data/__cluster_metadata-0"
LOG = f"{METADATA}/{0:020d}.log"


@pytest.fixture
def world() -> Iterator[QuorumWorld]:
    made = QuorumWorld()
    yield made
    made.world.close()


@pytest.fixture
def alone() -> Iterator[QuorumWorld]:
    made = QuorumWorld(count=1)
    made.nodes[0].boot()
    made.until_led()
    yield made
    made.world.close()


def fill(node: QuorumNode) -> None:
    node.disk.capacity_bytes = node.disk.used_bytes


def empty(node: QuorumNode) -> None:
    node.disk.capacity_bytes = CAPACITY_BYTES_DEFAULT


def damage_log(node: QuorumNode) -> None:
    """Change a byte in the middle of the log of a node that is down, and look at nothing else."""
    node.disk.crash()
    file = node.disk.open(LOG)
    position = file.size() // 2
    (byte,) = file.read(position, 1)
    file.write(position, [bytes([byte ^ 0xFF])])
    file.flush()
    file.close()


def test_change_that_finds_no_room_is_refused_and_made_when_there_is_room(alone: QuorumWorld) -> None:
    node = alone.nodes[0]
    alone.submit("before")
    fill(node)
    with pytest.raises(ApiError) as caught:
        alone.done(node.submit("big", 1))
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    with pytest.raises(ApiError) as again:
        alone.done(node.submit("refused at once"), seconds=0.5)
    assert again.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert features(node) == {"before": 1}
    empty(node)
    alone.until(lambda: "big" in features(node))
    alone.submit("after")
    node.kill(loses_power=True)
    node.boot()
    alone.until_led()
    assert features(node) == {"before": 1, "big": 1, "after": 1}


def test_room_that_is_found_in_time_goes_unnoticed(alone: QuorumWorld) -> None:
    """As when the reserve of the data directory is given up."""
    node = alone.nodes[0]
    node.speed.seconds_min = node.speed.seconds_max = 0.05
    fill(node)
    call = node.submit("a")
    alone.until(lambda: node.quorum.log.needs_rewind)
    empty(node)
    assert alone.done(call) == 1


def test_leader_without_room_lets_another_lead_and_gets_everything_later(world: QuorumWorld) -> None:
    leader = world.found()
    fill(leader)
    world.done(leader.submit("a"))
    another = world.until_led(but=leader)
    world.done(another.submit("b"))
    world.run(3.0)
    assert features(leader) == {"a": 1}, "there is no room for more"
    empty(leader)
    world.until_agreed()
    assert len({log_bytes(node) for node in world.nodes}) == 1


def test_follower_without_room_acknowledges_nothing_and_catches_up(world: QuorumWorld) -> None:
    world.found()
    follower = world.nodes[2]
    fill(follower)
    for number in range(5):
        world.submit(f"f{number}")
    world.run(2.0)
    flushed = follower.quorum.log.flushed_offset
    assert flushed < world.nodes[0].quorum.log.flushed_offset
    empty(follower)
    world.until_agreed()
    assert len(features(follower)) == 5
    assert len({log_bytes(node) for node in world.nodes}) == 1


def test_sole_voter_with_a_damaged_log_does_not_start(alone: QuorumWorld) -> None:
    node = alone.nodes[0]
    for number in range(5):
        alone.submit(f"f{number}")
    node.kill()
    damage_log(node)
    before = node.disk.read_file(LOG)
    node.boot()
    alone.until(lambda: bool(node.failures))
    assert "The metadata log is damaged" in node.failures[0]
    node.disk.crash()
    assert node.disk.read_file(LOG) == before


def test_voter_with_a_damaged_log_has_no_vote_until_it_has_everything_again(world: QuorumWorld) -> None:
    world.found()
    for number in range(5):
        world.submit(f"f{number}")
    world.until_agreed()
    hurt = world.nodes[2]
    end_offset = hurt.quorum.log.log_end_offset
    for node in world.nodes:
        node.kill()
    damage_log(hurt)
    hurt.boot()
    world.until(lambda: hurt.is_up)
    raft = hurt.quorum._node
    assert raft.hard_state.quarantined_below == end_offset
    world.run(5.0)
    assert raft.role in (Role.FOLLOWER, Role.OBSERVER)
    hurt.kill(loses_power=True)
    hurt.boot()
    world.until(lambda: hurt.is_up)
    assert hurt.quorum._node.hard_state.quarantined_below == end_offset, "a second crash must not forget"
    world.nodes[0].boot()
    world.run(3.0)
    assert not world.nodes[0].is_leader, "with one vote of three"
    world.nodes[1].boot()
    world.until_led()
    world.until_agreed()
    world.until(lambda: hurt.quorum._node.hard_state.quarantined_below == 0)
    assert len(features(hurt)) == 5


def test_voter_with_a_damaged_log_that_has_moved_is_found_by_its_leader(world: QuorumWorld) -> None:
    world.found()
    for number in range(5):
        world.submit(f"f{number}")
    world.until_agreed()
    hurt = world.nodes[2]
    end_offset = hurt.quorum.log.log_end_offset
    hurt.kill()
    hurt.disk.crash()
    rot(hurt, end_offset - 3)  # behind the entry that made it a voter
    world.submit("meanwhile")
    hurt.name = "elsewhere"
    hurt.boot(endpoints=(Endpoint(name="PLAINTEXT", host="elsewhere", port=PORT),))
    world.until(lambda: hurt.is_up)
    assert hurt.quorum._node.hard_state.quarantined_below == end_offset
    assert hurt.quorum._node.role is Role.FOLLOWER
    world.until_agreed()
    world.until(lambda: hurt.quorum._node.hard_state.quarantined_below == 0)
    assert len(features(hurt)) == 6


def rot(node: QuorumNode, offset: int) -> None:
    """Change a bit of one entry, under a node that runs or before it starts."""
    batches = split_batches(node.disk.read_file(LOG))
    (position,) = (position for position, header in batches if header.base_offset == offset)
    node.disk.flip_bit(LOG, position + 70)


def lagging(world: QuorumWorld, **options: int) -> tuple[QuorumNode, QuorumNode, int]:
    """A leader that must read what it has forgotten for a follower that was away; and one such offset."""
    world.found()
    world.submit("a")
    world.until_agreed()
    behind = world.nodes[2]
    behind.kill()
    offset = world.leader.quorum.log.log_end_offset
    for number in range(20):
        world.submit(f"f{number}")
    for node in world.nodes[:2]:
        node.kill()
        node.boot(**options)
    return world.until_led(), behind, offset + 2


def test_leader_that_cannot_read_an_old_entry_ends_and_gets_it_back_from_another(world: QuorumWorld) -> None:
    leader, behind, offset = lagging(world)
    rot(leader, offset)
    behind.boot()
    world.until(lambda: bool(leader.failures))
    (failure,) = leader.failures
    assert failure.startswith("The metadata log cannot be read behind offset 4")
    world.until_led(but=leader)
    leader.boot()
    world.until(lambda: leader.is_up)
    assert leader.quorum._node.hard_state.quarantined_below > offset
    world.until_agreed()
    world.until(lambda: leader.quorum._node.hard_state.quarantined_below == 0)
    assert len(features(leader)) == len(features(behind)) == 21
    assert len({log_bytes(node) for node in world.nodes}) == 1


def test_leader_sends_a_snapshot_where_an_old_entry_has_rotted(world: QuorumWorld) -> None:
    leader, behind, offset = lagging(world, snapshot_bytes=800)
    log = leader.quorum._node.log
    world.until(lambda: log.snapshot_id.end_offset > offset)
    assert log.start_offset == 0
    rot(leader, offset)
    behind.boot()
    world.until_agreed()
    assert not leader.failures
    assert len(features(behind)) == 21


@pytest.mark.parametrize("ordinal", range(0, 24, 2))
def test_crash_while_a_vote_is_written_forgets_nothing_that_was_said(ordinal: int) -> None:
    """The power fails around every operation of the file that keeps votes, until a leader is there."""
    world = QuorumWorld(seed=ordinal)
    first = world.found()
    world.submit("a")
    voter = world.nodes[1]
    voter.disk.appointed.arrange(
        Appointment(operation="", path_part="quorum-state", ordinal=ordinal % 12, on_stop=voter.die)
    )
    first.kill(loses_power=True)
    world.run(4.0)
    for node in (first, voter):
        if node.process is None:
            node.boot()
    world.until_led()
    world.submit("b")
    world.until_agreed()
    assert features(world.nodes[2]) == {"a": 1, "b": 1}
    world.world.close()


def test_founding_that_is_interrupted_anywhere_is_done_by_the_next_start() -> None:
    deaths = 0
    for ordinal in range(0, 80, 3):
        world = QuorumWorld(seed=ordinal, count=1)
        node = world.nodes[0]
        node.disk.appointed.arrange(
            Appointment(operation="", path_part="", ordinal=ordinal, on_stop=node.die)
        )
        node.boot()
        world.run(1.0)
        node.disk.appointed.arrange(None)
        if node.process is None:
            deaths += 1
            node.boot()
        world.until_led()
        world.submit("a")
        assert [key.node_id for key in node.quorum.voters.keys] == [1]
        world.world.close()
    assert deaths > 10
