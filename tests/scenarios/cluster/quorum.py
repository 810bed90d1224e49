"""The quorum that keeps the metadata: what its answers promise, and who knows enough to decide."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.broker.quorum.quorum_world import STEP_SECONDS, Call, QuorumNode, QuorumWorld, features
from tests.scenarios.cluster.story import about, story

STALL_SECONDS = 20.0
LOOKS = 400
"""At the world, while something is waited for that must not happen: longer than an election takes."""

SLOW_SECONDS = 0.05
"""What a job takes on a slow disk: several looks of a story at the world."""


@contextmanager
def quorum(count: int = 3) -> Iterator[QuorumWorld]:
    """So many voters, led by the first of them."""
    made = QuorumWorld(count=count)
    try:
        made.found(voters=count)
        yield made
    finally:
        made.world.close()


def stall_disk(node: QuorumNode) -> None:
    """Let nothing get to a node's disk for a while."""
    node.speed.stalled_until = node.world.world.now + STALL_SECONDS


def lose_all_power(world: QuorumWorld) -> None:
    for node in world.nodes:
        node.kill(loses_power=True)


def boot_on_slow_disks(world: QuorumWorld) -> None:
    for node in world.nodes:
        node.speed.seconds_min = node.speed.seconds_max = SLOW_SECONDS
        node.boot()


def is_promised(change: Call) -> bool:
    """Whether somebody was told that a change is made."""
    return change.is_done and change.error is None


def believes_to_lead(node: QuorumNode) -> bool:
    """Whether it was elected, whatever it has done since."""
    return node.is_up and node.quorum._node.leadership is not None


def has_everything_if_ready(node: QuorumNode) -> bool:
    """Whether a node takes its image for the cluster's; then it must be that."""
    is_ready = node.is_up and node.quorum.is_caught_up
    assert not is_ready or features(node) == {"a": 1}, f"{node.name} goes on without what was decided before"
    return is_ready


@about("metadata-unflushed", breaks="a change was answered, and lost")
@story
def sole_voter_loses_power_after_its_answer() -> None:
    """Of one voter, one disk is the majority; what is not on it does not count."""
    with quorum(1) as world:
        node = world.nodes[0]
        stall_disk(node)
        change = node.submit("a")
        world.run(1.0)
        is_answered = is_promised(change)
        node.kill(loses_power=True)
        node.speed.stalled_until = 0.0
        node.boot()
        world.until_led()
        assert features(node) == ({"a": 1} if is_answered else {}), "a change was answered, and lost"


@about("promises-before-disk", breaks="a change was answered that one disk has")
@story
def follower_answers_when_its_disk_has_the_entries() -> None:
    """Two of three voters are there, so both disks are needed for a majority."""
    with quorum() as world:
        leader, follower, absent = world.nodes
        absent.kill()
        stall_disk(follower)
        change = leader.submit("a")
        world.run(1.0)
        assert not is_promised(change), "a change was answered that one disk has"


@about("vote-reported-early", breaks="a vote that is on no disk has elected a leader")
@story
def voter_has_not_written_its_vote_down() -> None:
    """It might crash, forget that it voted, and vote for somebody else in the same term."""
    with quorum() as world:
        leader, candidate, voter = world.nodes
        leader.kill()
        for node in (candidate, voter):
            stall_disk(node)
        for _ in range(LOOKS):
            world.run(STEP_SECONDS)
            elected = believes_to_lead(candidate) or believes_to_lead(voter)
            assert not elected, "a vote that is on no disk has elected a leader"


@about("answered-uncommitted", breaks="a change was answered, and nobody has it")
@story
def leader_is_alone_with_its_decision() -> None:
    with quorum() as world:
        leader, *others = world.nodes
        world.network.block((leader.name, other.name) for other in others)
        change = leader.submit("a")
        world.run(1.0)
        assert not is_promised(change), "a change was answered, and nobody has it"


@about("applied-uncommitted", breaks="a leader acts on what only it has")
@story
def leader_knows_of_what_it_has_only_proposed() -> None:
    with quorum() as world:
        leader, *others = world.nodes
        world.network.block((leader.name, other.name) for other in others)
        leader.submit("a")
        world.run(0.3)
        assert features(leader) == {}, "a leader acts on what only it has"


@about("controller-too-soon", breaks="without what was decided before")
@about("any-commit-believed", breaks="without what was decided before")
@story
def everybody_starts_again() -> None:
    """The first to lead does not know yet what is committed, and begins with nothing."""
    with quorum() as world:
        world.submit("a")
        world.until_agreed()
        lose_all_power(world)
        boot_on_slow_disks(world)
        world.until(lambda: all([has_everything_if_ready(node) for node in world.nodes]))


STORIES = (
    sole_voter_loses_power_after_its_answer,
    follower_answers_when_its_disk_has_the_entries,
    voter_has_not_written_its_vote_down,
    leader_is_alone_with_its_decision,
    leader_knows_of_what_it_has_only_proposed,
    everybody_starts_again,
)
