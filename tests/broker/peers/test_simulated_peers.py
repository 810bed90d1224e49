"""Asking across a simulated network, where peers die, links break, and every moment can be chosen."""

import asyncio
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from tests.broker.peers.serving import NODE, Peer, heartbeat, number_in, vote

from penstock.broker.peers.address import Address
from penstock.broker.peers.lane import Lane
from penstock.broker.peers.line import CONNECT_SECONDS_MAX
from penstock.broker.peers.peer_error import PeerError
from penstock.broker.peers.peers import Peers
from penstock.model.limits import PEER_QUESTIONS_WAITING_MAX
from penstock.sim.network.link import NetworkHabits
from penstock.sim.network.network import Network
from penstock.sim.runtime.clock import SimulatedClock
from penstock.sim.runtime.loop import SimulatedLoop, new_loop
from penstock.sim.runtime.world import World
from penstock.wire.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from penstock.wire.schema import Struct

PORT = 9092
BOTH_WAYS = (("here", "there"), ("there", "here"))


class WatchedNetwork(Network):
    """Notes when somebody tries to connect, and may tell him late that he is connected."""

    def __init__(self, world: World) -> None:
        super().__init__(world, new_loop(world, "environment"), NetworkHabits())
        self.calls: list[float] = []
        self.lateness_seconds = 0.0

    async def connect(
        self, loop: SimulatedLoop, factory: Callable[[], asyncio.BaseProtocol], host: str, port: int
    ) -> tuple[asyncio.Transport, asyncio.BaseProtocol]:
        self.calls.append(self.world.now)
        made = await super().connect(loop, factory, host, port)
        await asyncio.sleep(self.lateness_seconds)
        return made


class Hosts:
    """A broker here, which asks, and a peer there."""

    def __init__(self, seed: int = 7, *, answers_at_once: bool = True) -> None:
        self.world = World(seed)
        self.network = WatchedNetwork(self.world)
        self.answers_at_once = answers_at_once
        self.here = new_loop(self.world, "here", network=self.network)
        self.peers = Peers(
            loop=self.here,
            clock=SimulatedClock(self.here),
            client_id="broker-1",
            address_of={NODE: Address("there", PORT)}.get,
        )
        self.boot()

    def boot(self) -> None:
        """Start the peer's process on its host."""
        self.network.host_came_back("there")
        self.there = new_loop(self.world, "there", network=self.network)
        self.peer = Peer(SimulatedClock(self.there), answers_at_once=self.answers_at_once)
        self.there.create_task(self.peer.listen("there", PORT))
        self.run(0.0)

    def kill(self) -> None:
        self.there.kill()
        self.network.process_died(self.there)

    def lose_power(self) -> None:
        self.there.kill()
        self.network.host_lost_power(self.there)

    def ask(self, number: int, *, seconds_max: float = 1.0, lane: Lane = Lane.CONTROL) -> "asyncio.Task[Any]":
        question: Struct = vote(number) if lane is Lane.QUORUM else heartbeat(number)
        return self.here.create_task(self.peers.ask(NODE, question, 0, seconds_max=seconds_max, lane=lane))

    def run(self, seconds: float) -> None:
        self.world.run_until(self.world.now + seconds)
        assert not self.world.accidents

    def end(self) -> None:
        """Hang up; nothing that was begun goes on."""
        self.peers.close()
        self.run(5.0)
        self.world.sweep()
        assert not self.world.accidents
        if not self.there.is_dead:
            assert self.peer.connection_count == 0
        self.world.close()


def error_of(asking: "asyncio.Task[Any]") -> PeerError:
    """Why there is no answer."""
    error = asking.exception()
    assert isinstance(error, PeerError)
    return error


def test_peer_killed_in_the_middle_of_its_answer_fails_the_question() -> None:
    hosts = Hosts(answers_at_once=False)
    asking = hosts.here.create_task(
        hosts.peers.ask(NODE, FetchRequest(), 12, seconds_max=60.0, lane=Lane.FETCH)
    )
    hosts.run(0.1)
    partition = PartitionData(partition_index=0, records=bytes(1_000_000))
    fetched = FetchResponse(responses=(FetchableTopicResponse(topic="t", partitions=(partition,)),))
    hosts.peer.asked[0].answer(fetched)
    hosts.run(0.003)
    assert not asking.done()
    hosts.kill()
    hosts.run(1.0)
    assert error_of(asking).was_sent
    hosts.answers_at_once = True
    hosts.boot()
    again = hosts.ask(2, lane=Lane.HEARTBEAT)
    hosts.run(1.0)
    assert number_in(again.result()) == 2
    hosts.end()


def test_cut_link_lets_questions_run_out_of_time_and_heals() -> None:
    hosts = Hosts()
    first = hosts.ask(1)
    hosts.run(0.1)
    assert number_in(first.result()) == 1
    hosts.network.block(BOTH_WAYS)
    overdue = hosts.ask(2)
    hosts.run(1.1)
    assert error_of(overdue).was_sent
    unconnected = hosts.ask(3)
    hosts.run(1.1)
    assert not error_of(unconnected).was_sent
    hosts.network.heal()
    hosts.run(CONNECT_SECONDS_MAX)
    healed = hosts.ask(4)
    hosts.run(1.0)
    assert number_in(healed.result()) == 4
    hosts.end()


def test_slow_link_is_waited_for_as_long_as_the_question_allows() -> None:
    hosts = Hosts()
    hosts.network.slow_down(BOTH_WAYS, 0.4)
    patient = hosts.ask(1, seconds_max=2.0)
    hosts.run(3.0)
    assert number_in(patient.result()) == 1
    overdue = hosts.ask(2, seconds_max=0.5)
    hosts.run(0.6)
    assert error_of(overdue).was_sent
    hosts.network.heal()
    following = hosts.ask(3)
    hosts.run(2.0)
    assert number_in(following.result()) == 3
    hosts.end()


def test_dark_peer_is_called_once_for_all_who_ask() -> None:
    hosts = Hosts()
    hosts.lose_power()
    asking = [hosts.ask(number, seconds_max=10.0) for number in range(100)]
    hosts.run(CONNECT_SECONDS_MAX - 0.1)
    assert len(hosts.network.calls) == 1
    hosts.run(0.2)
    for each in asking:
        assert str(error_of(each)) == "there:9092 cannot be reached: no connection within 1.5 s"
        assert not error_of(each).was_sent
    hosts.end()


def test_dead_peer_is_called_less_and_less_often() -> None:
    hosts = Hosts()
    hosts.kill()
    for number in range(1000):
        asking = hosts.ask(number)
        hosts.run(0.01)
        assert str(error_of(asking)) == "there:9092 cannot be reached: connection refused"
        assert not error_of(asking).was_sent
    calls = hosts.network.calls
    pauses = [after - before for before, after in pairwise(calls)]
    expected = [0.05, 0.1, 0.2, 0.4, 0.8] + [1.0] * (len(pauses) - 5)
    assert len(pauses) > 8
    assert pauses == pytest.approx(expected, abs=0.021)
    hosts.boot()
    hosts.run(1.0)
    answered = hosts.ask(1)
    hosts.run(0.1)
    assert number_in(answered.result()) == 1
    hosts.kill()
    hosts.run(0.1)
    calls.clear()
    refused = [hosts.ask(1), hosts.ask(2)]
    hosts.run(0.06)
    refused.append(hosts.ask(3))
    hosts.run(0.01)
    assert not any(error_of(each).was_sent for each in refused)
    assert len(calls) == 2
    hosts.end()


def test_connection_lost_before_it_could_be_used_is_a_failure() -> None:
    hosts = Hosts()
    hosts.network.lateness_seconds = 0.1
    asking = hosts.ask(1)
    hosts.run(0.05)
    hosts.network.reset_connections("here", "there")
    hosts.run(0.1)
    assert str(error_of(asking)).startswith("there:9092 broke the connection: ")
    assert not error_of(asking).was_sent
    following = hosts.ask(2)
    hosts.run(0.2)
    assert number_in(following.result()) == 2
    hosts.end()


def test_connection_made_while_hanging_up_is_closed() -> None:
    hosts = Hosts()
    hosts.network.lateness_seconds = 0.1
    asking = hosts.ask(1)
    hosts.run(0.05)
    assert hosts.peer.connection_count == 1
    hosts.peers.close()
    hosts.run(0.1)
    assert not error_of(asking).was_sent
    assert hosts.peer.connection_count == 0
    hosts.end()


def test_connection_made_for_nobody_is_used_by_the_next_who_asks() -> None:
    hosts = Hosts()
    hosts.network.lateness_seconds = 0.1
    impatient = hosts.ask(1, seconds_max=0.05)
    hosts.run(1.0)
    assert not error_of(impatient).was_sent
    asking = hosts.ask(2, seconds_max=0.05)
    hosts.run(1.0)
    assert number_in(asking.result()) == 2
    assert hosts.peer.numbers == [2]
    assert len(hosts.network.calls) == 1
    hosts.end()


def test_questions_whose_time_is_over_make_room_for_others_to_wait() -> None:
    hosts = Hosts(answers_at_once=False)
    sent = hosts.ask(0, lane=Lane.HEARTBEAT, seconds_max=60.0)
    hosts.run(0.1)
    for _ in range(2):
        waiting = [hosts.ask(1, lane=Lane.HEARTBEAT) for _ in range(PEER_QUESTIONS_WAITING_MAX)]
        hosts.run(1.1)
        assert all("did not answer" in str(error_of(each)) for each in waiting)
    hosts.peer.asked[0].answer()
    hosts.run(0.1)
    assert number_in(sent.result()) == 0
    hosts.end()


def test_peer_without_power_is_found_again_after_its_restart() -> None:
    hosts = Hosts()
    hosts.ask(1)
    hosts.run(0.1)
    hosts.lose_power()
    overdue = hosts.ask(2)
    hosts.run(1.1)
    assert error_of(overdue).was_sent
    hosts.boot()
    asking = hosts.ask(3)
    hosts.run(1.0)
    assert number_in(asking.result()) == 3
    hosts.end()


def test_another_connection_that_fails_does_not_harm_those_that_work() -> None:
    hosts = Hosts(answers_at_once=False)
    first = hosts.ask(1, seconds_max=30.0)
    hosts.run(0.1)
    hosts.network.block(BOTH_WAYS)
    second = hosts.ask(2, seconds_max=30.0)
    hosts.run(2.5)
    assert not first.done()
    assert not second.done()
    hosts.network.heal()
    hosts.peer.asked[0].answer()
    hosts.run(0.5)
    assert number_in(first.result()) == 1
    hosts.peer.asked[1].answer()
    hosts.run(0.5)
    assert number_in(second.result()) == 2
    hosts.end()


def test_last_connection_lost_while_resting_refuses_whoever_waits() -> None:
    hosts = Hosts(answers_at_once=False)
    sent = hosts.ask(1, seconds_max=30.0, lane=Lane.CONTROL)
    hosts.run(0.1)
    hosts.peer.asked[0].answer()
    hosts.run(0.1)
    assert sent.done()
    sent = hosts.ask(2, seconds_max=30.0)
    hosts.run(0.01)
    hosts.network._servers.clear()  # Nobody listens any more, while the old connections live.
    waiting = hosts.ask(3, seconds_max=30.0)
    hosts.run(0.01)
    assert not waiting.done()
    hosts.peer.asked[1].hang_up()
    hosts.run(0.01)
    assert error_of(sent).was_sent
    assert not error_of(waiting).was_sent
    hosts.end()


@pytest.mark.parametrize("lane", Lane)
@pytest.mark.parametrize("seed", range(12))
def test_whatever_happens_answers_belong_to_their_questions_and_nothing_is_left(
    seed: int, lane: Lane
) -> None:
    hosts = Hosts(seed)
    draw = hosts.world.stream("test")
    asking: dict[int, asyncio.Task[Any]] = {}
    for number in range(400):
        asking[number] = hosts.ask(number, lane=lane, seconds_max=draw.choice((0.001, 0.01, 0.3)))
        chance = draw.random()
        if chance < 0.1:
            asking[draw.choice(list(asking))].cancel()
        elif chance < 0.14:
            hosts.network.reset_connections("here", "there")
        elif chance < 0.15:
            hosts.kill()
            hosts.boot()
        elif chance < 0.16:
            hosts.network.forget_connections("here", "there")
        if draw.random() < 0.7:
            hosts.run(draw.choice((0.0, 0.0003, 0.001, 0.01)))
    hosts.run(10.0)
    answered = [number for number, each in asking.items() if not each.cancelled() and not each.exception()]
    assert len(answered) > 50
    assert all(number_in(asking[number].result()) == number for number in answered)
    for number in set(asking) - set(answered):
        assert asking[number].cancelled() or error_of(asking[number])
    last = hosts.ask(1000, lane=lane, seconds_max=3.0)
    hosts.run(3.0)
    assert number_in(last.result()) == 1000
    hosts.peers.close()
    hosts.run(1.0)
    assert not [task for task in hosts.here._tasks if not task.done()]
    hosts.world.sweep()
    assert not hosts.world.accidents
    hosts.world.close()
