"""Snapshots between nodes: taken when the log has grown, sent to who is behind, refused when damaged."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.broker.quorum.quorum_world import QuorumNode, QuorumWorld, features

from penstock.broker.quorum.state_file import StateFile
from penstock.raft.hard_state import HardState
from penstock.sim.runtime.disk import Appointment
from penstock.storage.memory_filesystem import MemoryFile

METADATA = "/data/__cluster_metadata-0"
SMALL = 1_000
"""Bytes between snapshots: a few changes."""


@pytest.fixture
def world() -> Iterator[QuorumWorld]:
    made = QuorumWorld()
    for node in made.nodes:
        node.options = replace(node.options, snapshot_bytes=SMALL)
    yield made
    made.world.close()


def snapshots(node: QuorumNode) -> list[str]:
    return [name for name in node.disk.list_directory(METADATA) if name.endswith(".checkpoint")]


def grow(world: QuorumWorld, count: int = 60) -> None:
    for number in range(count):
        world.submit(f"f{number}")


def test_snapshot_is_taken_when_the_log_has_grown_and_the_log_begins_later(world: QuorumWorld) -> None:
    leader = world.found()
    grow(world)
    world.until(lambda: leader.quorum.log.log_start_offset > 0)
    assert len(snapshots(leader)) == 2
    world.run(1.0)
    assert not [name for name in leader.disk.list_directory(METADATA) if name.endswith(".part")]
    ends = [int(name.split("-")[0]) for name in snapshots(leader)]
    assert leader.quorum.log.log_start_offset == ends[0]


def test_node_restarts_from_its_snapshot_and_the_log_behind_it(world: QuorumWorld) -> None:
    world.found()
    grow(world)
    world.until(lambda: all(node.quorum.log.log_start_offset > 0 for node in world.nodes))
    for node in world.nodes:
        node.kill(loses_power=True)
    for node in world.nodes:
        node.boot()
    world.until_led()
    world.until_agreed()
    assert [len(features(node)) for node in world.nodes] == [60] * 3
    world.submit("more")
    world.until_agreed()


def test_follower_that_is_too_far_behind_gets_a_snapshot(world: QuorumWorld) -> None:
    leader = world.found()
    behind = world.nodes[2]
    behind.kill()
    grow(world)
    world.until(lambda: leader.quorum.log.log_start_offset > 10)
    behind.boot()
    world.until_agreed()
    assert behind.quorum.log.log_start_offset > 10
    assert len(features(behind)) == 60
    world.submit("more")
    world.until_agreed()
    assert behind.quorum.voters == leader.quorum.voters


def test_follower_that_is_far_behind_and_has_seen_a_later_term_is_led_again(world: QuorumWorld) -> None:
    leader = world.found()
    behind = world.nodes[2]
    # It dies when it stands for election, before it has asked anybody.
    StateFile(behind.disk, METADATA).write(HardState(term=leader.quorum.term + 1))
    behind.kill()
    grow(world)
    world.until(lambda: leader.quorum.log.log_start_offset > 10)
    behind.boot()
    world.until_agreed()
    assert len(features(behind)) == 60


def test_newcomer_gets_a_snapshot_and_becomes_a_voter(world: QuorumWorld) -> None:
    for node in world.nodes[:1]:
        node.boot()
    leader = world.until_led()
    grow(world)
    world.until(lambda: leader.quorum.log.log_start_offset > 0)
    newcomer = world.nodes[1]
    newcomer.boot()
    world.until_agreed()
    world.done(leader.call(lambda: leader.quorum.add_voter(newcomer.voter)))
    world.until_agreed()
    assert [key.node_id for key in newcomer.quorum.voters.keys] == [1, 2]
    assert len(features(newcomer)) == 60


@pytest.mark.slow
def test_crash_anywhere_in_installing_a_snapshot_ends_well() -> None:
    """The power fails in front of every operation on the metadata log's files, from the start on."""
    deaths = 0
    for ordinal in range(36):
        world = QuorumWorld(seed=ordinal)
        for node in world.nodes:
            node.options = replace(node.options, snapshot_bytes=SMALL)
        deaths += crash_while_installing(world, ordinal)
        world.world.close()
    assert deaths > 25


def crash_while_installing(world: QuorumWorld, ordinal: int) -> bool:
    leader, behind = world.found(), world.nodes[2]
    behind.kill()
    grow(world, 40)
    world.until(lambda: leader.quorum.log.log_start_offset > 10)
    behind.disk.appointed.arrange(
        Appointment(operation="", path_part="cluster_metadata", ordinal=ordinal, on_stop=behind.die)
    )
    behind.boot()
    world.run(3.0)
    behind.disk.appointed.arrange(None)
    has_died = behind.process is None
    if has_died:
        behind.boot()
    world.until_agreed()
    assert len(features(behind)) == 40
    return has_died


def test_snapshot_that_arrives_damaged_is_fetched_again(world: QuorumWorld) -> None:
    leader = world.found()
    behind = world.nodes[2]
    behind.kill()
    grow(world)
    world.until(lambda: leader.quorum.log.log_start_offset > 10)
    behind.boot()
    open_file = behind.disk.open
    spoilt: list[str] = []

    def spoil(path: str, *, create: bool = False, exclusive: bool = False) -> MemoryFile:
        file = open_file(path, create=create, exclusive=exclusive)
        if path.endswith(".part") and not create and not spoilt:
            spoilt.append(path)
            file.write(100, [b"rotten"])
        return file

    behind.disk.open = spoil  # type: ignore[method-assign] # the disk is bad just once
    world.until_agreed()
    assert spoilt
    assert len(features(behind)) == 60
