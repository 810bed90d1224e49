"""A quorum of three, as its users see it."""

import asyncio
from collections.abc import Iterator

import pytest
from tests.broker.quorum.quorum_world import SETTINGS, QuorumWorld, features, log_bytes

from penstock.metadata.image import ClusterImage
from penstock.metadata.records import FeatureLevelRecord
from penstock.metadata.result import Result
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError


@pytest.fixture
def world() -> Iterator[QuorumWorld]:
    made = QuorumWorld()
    yield made
    made.world.close()


def test_sole_voter_leads_long_before_an_election_timeout() -> None:
    world = QuorumWorld(count=1)
    world.nodes[0].boot()
    world.until(lambda: world.nodes[0].is_leader, seconds=0.2)
    world.submit("a")
    assert features(world.nodes[0]) == {"a": 1}


def test_three_nodes_agree_on_every_change(world: QuorumWorld) -> None:
    leader = world.found()
    assert [voter.node_id for voter in leader.quorum.voters.keys] == [1, 2, 3]
    for number in range(20):
        world.submit(f"f{number}")
    world.until_agreed()
    assert [len(features(node)) for node in world.nodes] == [20, 20, 20]
    assert len({log_bytes(node) for node in world.nodes}) == 1
    assert [node.quorum.leader_id for node in world.nodes] == [1, 1, 1]


def test_submit_to_a_follower_is_refused_and_changes_nothing(world: QuorumWorld) -> None:
    world.found()
    with pytest.raises(ApiError) as caught:
        world.done(world.nodes[1].submit("a"))
    assert caught.value.code is ErrorCode.NOT_CONTROLLER
    world.run(1.0)
    assert [features(node) for node in world.nodes] == [{}, {}, {}]


def test_leader_is_killed_another_goes_on_and_it_comes_back(world: QuorumWorld) -> None:
    first = world.found()
    world.submit("before")
    first.kill()
    second = world.until_led(but=first)
    world.done(second.submit("without"))
    first.boot()
    world.until_agreed()
    assert [features(node) for node in world.nodes] == [{"before": 1, "without": 1}] * 3
    assert second.quorum.term > 1


def test_leader_whose_process_dies_is_replaced_before_an_election_timeout(world: QuorumWorld) -> None:
    first = world.found()
    silent: list[int] = []
    world.submit("before")
    world.run(1.0)
    first.kill()
    for node in world.nodes[1:]:
        node.quorum.on_silence = silent.append
    world.run(SETTINGS.election_timeout_ms / 1000)
    assert any(node.is_leader for node in world.nodes[1:])
    assert set(silent) == {1}


def test_connections_that_break_cost_a_leader_nothing(world: QuorumWorld) -> None:
    leader = world.found()
    world.submit("before")
    for node in world.nodes[1:]:
        world.network.reset_connections(leader.name, node.name)
    world.run(2.0)
    assert leader.is_leader
    assert leader.quorum.term == 1


def test_all_lose_power_and_everything_that_was_answered_is_there(world: QuorumWorld) -> None:
    world.found()
    for number in range(10):
        world.submit(f"f{number}")
    for node in world.nodes:
        node.kill(loses_power=True)
    for node in world.nodes:
        node.boot()
    world.until_led()
    world.until_agreed()
    assert [len(features(node)) for node in world.nodes] == [10, 10, 10]


def test_change_of_a_leader_that_is_cut_off_is_undone_and_its_proposer_told(world: QuorumWorld) -> None:
    old = world.found()
    world.submit("kept")
    others = world.nodes[1:]
    world.network.block([(old.name, node.name) for node in others])
    world.network.block([(node.name, old.name) for node in others])
    lost = old.submit("lost")
    new = world.until_led(but=old)
    world.done(new.submit("new"))
    world.until(lambda: not old.is_leader)
    assert old.quorum.log.log_end_offset > 0
    world.network.heal()
    with pytest.raises(ApiError) as caught:
        world.done(lost)
    assert caught.value.code in (ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT)
    world.until_agreed()
    assert [features(node) for node in world.nodes] == [{"kept": 1, "new": 1}] * 3
    assert len({log_bytes(node) for node in world.nodes}) == 1


def test_change_whose_fate_nobody_learns_times_out(world: QuorumWorld) -> None:
    old = world.found()
    world.network.block([(old.name, node.name) for node in world.nodes[1:]])
    world.network.block([(node.name, old.name) for node in world.nodes[1:]])
    end_offset = old.quorum.log.log_end_offset
    lost = old.submit("lost")
    world.until(lambda: old.quorum.log.log_end_offset > end_offset)
    next_one = old.submit("next")
    with pytest.raises(ApiError) as refused:
        world.done(next_one, seconds=3.0)
    assert refused.value.code is ErrorCode.NOT_CONTROLLER
    with pytest.raises(ApiError) as caught:
        world.done(lost)
    assert caught.value.code is ErrorCode.REQUEST_TIMED_OUT


def test_change_of_a_deposed_leader_that_its_successor_commits_is_done(world: QuorumWorld) -> None:
    """The followers have the entry; only their answers are lost."""
    old = world.found()
    world.network.block([(node.name, old.name) for node in world.nodes[1:]])
    call = old.submit("carried on")
    world.until_led(but=old)
    world.network.heal()
    assert world.done(call) == 1
    world.until_agreed()
    assert features(old) == {"carried on": 1}


def test_decision_is_made_on_an_image_that_has_all_before_it(world: QuorumWorld) -> None:
    leader = world.found()
    calls = [leader.call(lambda: leader.quorum.submit_at(count_up)) for _ in range(20)]
    for call in calls:
        world.done(call)
    assert features(leader) == {"count": 20}
    offsets = sorted(call.result for call in calls)
    assert offsets == list(range(offsets[0], offsets[0] + 20))


def count_up(image: ClusterImage, offset: int) -> Result[int]:
    """A decision that would be wrong on any image but the newest."""
    level = image.features.get("count", 0) + 1
    return Result(records=(FeatureLevelRecord(name="count", feature_level=level),), response=offset)


def test_cancelled_submit_does_not_let_the_next_decide_on_an_old_image(world: QuorumWorld) -> None:
    leader = world.found()
    process = leader.process
    assert process is not None
    tasks: list[asyncio.Task[int]] = []
    end_offset = leader.quorum.log.log_end_offset
    for node in world.nodes:
        node.speed.seconds_min = node.speed.seconds_max = 0.1
    world.world.at(
        0.0,
        process.loop,
        lambda: tasks.append(process.tasks.start(leader.quorum.submit_at(count_up), name="cancelled")),
    )
    world.until(lambda: leader.quorum.log.log_end_offset > end_offset)
    assert leader.quorum.applied_offset == end_offset
    second = leader.call(lambda: leader.quorum.submit_at(count_up))
    world.world.at(0.0, process.loop, lambda: tasks[0].cancel())
    world.done(second)
    assert features(leader) == {"count": 2}


def test_observer_follows_and_a_voter_is_removed(world: QuorumWorld) -> None:
    leader = world.found(voters=2)
    world.submit("a")
    world.until_agreed()
    assert features(world.nodes[2]) == {"a": 1}
    assert world.nodes[2].quorum.leader_id == 1
    world.done(leader.call(lambda: leader.quorum.remove_voter(world.nodes[1].quorum.key)))
    assert [key.node_id for key in leader.quorum.voters.keys] == [1]
    world.nodes[1].kill()
    world.submit("b")
    world.until_agreed()
    assert features(world.nodes[2]) == {"a": 1, "b": 1}


def test_voter_that_exists_is_not_added_and_one_that_does_not_is_not_removed(world: QuorumWorld) -> None:
    leader = world.found(voters=2)
    with pytest.raises(ApiError) as twice:
        world.done(leader.call(lambda: leader.quorum.add_voter(world.nodes[1].voter)))
    assert twice.value.code is ErrorCode.DUPLICATE_VOTER
    with pytest.raises(ApiError) as nobody:
        world.done(leader.call(lambda: leader.quorum.remove_voter(world.nodes[2].quorum.key)))
    assert nobody.value.code is ErrorCode.VOTER_NOT_FOUND
    with pytest.raises(ApiError) as elsewhere:
        world.done(world.nodes[1].call(lambda: world.nodes[1].quorum.remove_voter(world.nodes[0].quorum.key)))
    assert elsewhere.value.code is ErrorCode.NOT_CONTROLLER


def test_leadership_is_handed_over_without_an_election_timeout(world: QuorumWorld) -> None:
    first = world.found()
    began = world.world.now
    assert world.done(first.call(first.quorum.transfer_leadership)) is True
    second = world.until_led(but=first)
    assert world.world.now - began < SETTINGS.election_timeout_ms / 1000
    world.done(second.submit("a"))
    world.until_agreed()


def test_sole_voter_has_nobody_to_hand_over_to() -> None:
    world = QuorumWorld(count=1)
    node = world.nodes[0]
    node.boot()
    world.until_led()
    assert world.done(node.call(node.quorum.transfer_leadership)) is False
    assert node.is_leader


def test_node_that_comes_back_knows_when_it_has_caught_up(world: QuorumWorld) -> None:
    world.found()
    behind = world.nodes[2]
    behind.kill()
    for number in range(30):
        world.submit(f"f{number}")
    behind.boot()
    world.until(lambda: behind.is_up)
    caught_up = behind.call(lambda: behind.quorum.wait_caught_up(seconds_max=10.0))
    assert world.done(caught_up) is True
    assert len(features(behind)) == 30


def test_image_is_waited_for_and_the_wait_has_an_end(world: QuorumWorld) -> None:
    leader = world.found()
    end = leader.quorum.applied_offset
    waiting = world.nodes[2].call(lambda: world.nodes[2].quorum.wait_applied(end + 1, seconds_max=5.0))
    in_vain = world.nodes[2].call(lambda: world.nodes[2].quorum.wait_applied(end + 9, seconds_max=0.5))
    world.submit("a")
    assert world.done(waiting) is True
    assert world.done(in_vain) is False


def test_facts_tell_how_far_everybody_is(world: QuorumWorld) -> None:
    leader = world.found(voters=2)
    world.submit("a")
    world.run(1.0)
    facts = leader.quorum.facts()
    assert (facts.leader_id, facts.high_watermark) == (1, leader.quorum.applied_offset)
    assert [member.node_id for member in facts.voters] == [1, 2]
    assert [member.node_id for member in facts.observers] == [3]
    ends = {member.log_end_offset for member in (*facts.voters, *facts.observers)}
    assert ends == {leader.quorum.applied_offset}
    assert all(member.last_caught_up_ms > 0 for member in (*facts.voters, *facts.observers))
    elsewhere = world.nodes[1].quorum.facts()
    assert next(member.log_end_offset for member in elsewhere.voters) == -1


def test_facts_tell_until_when_a_node_that_lags_had_everything(world: QuorumWorld) -> None:
    leader = world.found()
    world.submit("a")
    world.run(1.0)
    before = leader.quorum.facts().voters[2]
    world.nodes[2].kill()
    world.run(5.0)
    world.submit("b")
    facts = leader.quorum.facts()
    after = facts.voters[2]
    assert after.log_end_offset == before.log_end_offset < facts.high_watermark
    assert before.last_caught_up_ms <= after.last_caught_up_ms < before.last_caught_up_ms + 1_000
    assert facts.voters[0].last_caught_up_ms > after.last_caught_up_ms + 4_000


def test_facts_of_a_leader_whose_disk_is_slow_show_nobody_ahead_of_it(world: QuorumWorld) -> None:
    leader = world.found()
    leader.speed.seconds_min = leader.speed.seconds_max = 0.1
    leader.submit("a")
    offset = leader.quorum.facts().high_watermark
    world.until(lambda: leader.quorum.facts().high_watermark > offset)
    facts = leader.quorum.facts()
    assert facts.voters[0].log_end_offset >= facts.high_watermark
    assert facts.voters[0].log_end_offset >= max(each.log_end_offset for each in facts.voters)


def test_restarted_node_on_another_host_name_is_found_by_its_leader(world: QuorumWorld) -> None:
    """Nobody knows where it is now, until it says so itself."""
    world.found()
    moved = world.nodes[2]
    moved.kill()
    world.submit("meanwhile")
    moved.name = "elsewhere"
    moved.boot(endpoints=())
    world.until_agreed()
    assert features(moved) == {"meanwhile": 1}


def test_stopped_node_refuses_and_restarts_as_it_was(world: QuorumWorld) -> None:
    leader = world.found()
    world.submit("a")
    world.done(leader.call(leader.quorum.stop))
    with pytest.raises(ApiError) as caught:
        world.done(leader.submit("b"))
    assert caught.value.code is ErrorCode.NOT_CONTROLLER
    leader.kill()
    leader.boot()
    world.until_led()
    world.until_agreed()
    assert [features(node) for node in world.nodes] == [{"a": 1}] * 3
