"""Connections of the simulated network, and everything that can happen to them."""

import asyncio
from collections.abc import Callable

import pytest

from penstock.sim.network.link import NetworkHabits
from penstock.sim.network.network import Network
from penstock.sim.network.server import SimulatedServer
from penstock.sim.network.transport import SimulatedTransport
from penstock.sim.runtime.loop import SimulatedLoop, new_loop
from penstock.sim.runtime.world import World


class Recorder(asyncio.Protocol):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.received = bytearray()
        self.chunks: list[int] = []
        self.events: list[str] = []
        self.error: Exception | None = None
        self.transport: SimulatedTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, SimulatedTransport)
        self.transport = transport
        self.events.append("made")

    def data_received(self, data: bytes) -> None:
        self.received += data
        self.chunks.append(len(data))

    def eof_received(self) -> bool | None:
        self.events.append("eof")
        return None

    def pause_writing(self) -> None:
        self.events.append("pause")

    def resume_writing(self) -> None:
        self.events.append("resume")

    def connection_lost(self, exc: Exception | None) -> None:
        self.events.append("lost")
        self.error = exc

    @property
    def end(self) -> SimulatedTransport:
        assert self.transport is not None
        return self.transport


class Buffered(asyncio.BufferedProtocol):
    """Receives into a small buffer of its own."""

    def __init__(self) -> None:
        self.received = bytearray()
        self._buffer = bytearray(3)

    def get_buffer(self, sizehint: int) -> memoryview:
        return memoryview(self._buffer)

    def buffer_updated(self, nbytes: int) -> None:
        self.received += self._buffer[:nbytes]


class Two:
    """Two hosts, one of which serves, and a connection between them."""

    def __init__(self, factory: Callable[[], asyncio.BaseProtocol] = Recorder, **habits: float | int) -> None:
        self.world = World(7)
        self.network = Network(
            self.world,
            new_loop(self.world, "environment"),
            NetworkHabits(**habits),  # type: ignore[arg-type] # tests name one habit each
        )
        self.server_loop = self.new_loop("server")
        self.client_loop = self.new_loop("client")
        self.accepted: list[asyncio.BaseProtocol] = []
        self._factory = factory
        self.listen()
        self.client = self.connect()

    def new_loop(self, name: str) -> SimulatedLoop:
        return new_loop(self.world, name, network=self.network)

    def listen(self) -> None:
        def accept() -> asyncio.BaseProtocol:
            self.accepted.append(self._factory())
            return self.accepted[-1]

        listening = self.server_loop.create_task(self.server_loop.create_server(accept, "server", 9092))
        self.run(0.0)
        self.server: SimulatedServer = listening.result()

    def connect(self) -> Recorder:
        task = self.try_connect()
        self.run(1.0)
        _, protocol = task.result()
        assert isinstance(protocol, Recorder)
        return protocol

    def try_connect(self) -> "asyncio.Task[tuple[asyncio.Transport, asyncio.BaseProtocol]]":
        return self.client_loop.create_task(self.client_loop.create_connection(Recorder, "server", 9092))

    def run(self, seconds: float) -> None:
        self.world.run_until(self.world.now + seconds)
        assert not self.world.accidents

    @property
    def served(self) -> Recorder:
        protocol = self.accepted[-1]
        assert isinstance(protocol, Recorder)
        return protocol


def test_bytes_arrive_in_order_cut_at_any_border() -> None:
    two = Two(cuts=0.9)
    data = bytes(range(256)) * 4
    two.client.end.write(data)
    two.run(1.0)
    assert two.served.received == data
    assert len(two.served.chunks) > 1
    assert two.served.end.get_extra_info("peername")[0] == "client"
    assert two.served.end.get_extra_info("socket") is None


def test_protocol_with_a_buffer_of_its_own_gets_what_fits() -> None:
    two = Two(Buffered)
    two.client.end.writelines([b"hello ", b"world"])
    two.run(1.0)
    (served,) = two.accepted
    assert isinstance(served, Buffered)
    assert served.received == b"hello world"


def test_reader_that_pauses_makes_its_writer_pause() -> None:
    two = Two(window_bytes=100)
    two.served.end.pause_reading()
    two.client.end.set_write_buffer_limits(high=50, low=0)
    two.client.end.write(bytes(1000))
    two.run(1.0)
    assert two.client.events == ["made", "pause"]
    assert two.client.end.get_write_buffer_size() == 900
    two.served.end.resume_reading()
    two.run(5.0)
    assert two.client.events == ["made", "pause", "resume"]
    assert len(two.served.received) == 1000


def test_close_sends_everything_first() -> None:
    two = Two(window_bytes=10)
    two.client.end.write(bytes(100))
    two.client.end.close()
    two.client.end.write(b"too late")
    two.run(5.0)
    assert len(two.served.received) == 100
    assert two.served.events == ["made", "eof", "lost"]
    assert two.client.events[-1] == "lost"


def test_abort_drops_what_the_kernel_has_not_taken() -> None:
    two = Two(window_bytes=10)
    two.client.end.write(bytes(100))
    two.client.end.abort()
    two.run(5.0)
    assert len(two.served.received) <= 10
    assert "lost" in two.served.events


def test_half_closed_connection_still_carries_the_other_direction() -> None:
    two = Two()
    keep_open = two.served
    keep_open.eof_received = lambda: True  # type: ignore[method-assign] # this one wants to answer
    two.client.end.write_eof()
    two.run(1.0)
    two.served.end.write(b"answer")
    two.run(1.0)
    assert two.client.received == b"answer"


def test_killed_process_closes_its_connections_for_others_to_see() -> None:
    two = Two()
    two.server_loop.kill()
    two.network.process_died(two.server_loop)
    two.run(1.0)
    assert two.client.events == ["made", "eof", "lost"]
    refused = two.try_connect()
    two.run(1.0)
    assert isinstance(refused.exception(), ConnectionRefusedError)


def test_killed_process_that_had_not_read_everything_resets() -> None:
    two = Two()
    two.served.end.pause_reading()
    two.client.end.write(b"unread")
    two.run(1.0)
    two.server_loop.kill()
    two.network.process_died(two.server_loop)
    two.run(1.0)
    assert isinstance(two.client.error, ConnectionResetError)


def test_host_without_power_says_nothing_until_it_is_back() -> None:
    two = Two()
    two.server_loop.kill()
    two.network.host_lost_power(two.server_loop)
    two.client.end.write(b"anybody?")
    two.run(60.0)
    assert two.client.events == ["made"]
    two.network.host_came_back("server")
    two.run(1.0)
    assert isinstance(two.client.error, ConnectionResetError)


def test_connecting_to_a_dark_host_fails_only_after_a_long_time() -> None:
    two = Two()
    two.server_loop.kill()
    two.network.host_lost_power(two.server_loop)
    task = two.try_connect()
    two.run(10.0)
    assert not task.done()
    two.run(60.0)
    assert isinstance(task.exception(), TimeoutError)


def test_cut_holds_bytes_back_until_it_heals() -> None:
    two = Two()
    pairs = (("client", "server"),)
    two.network.block(pairs)
    two.client.end.write(b"late")
    two.served.end.write(b"in time")
    two.run(5.0)
    assert two.served.received == b""
    assert two.client.received == b"in time"
    two.network.unblock(pairs)
    two.run(1.0)
    assert two.served.received == b"late"


def test_two_cuts_of_one_link_must_both_heal() -> None:
    two = Two()
    pairs = (("client", "server"),)
    two.network.block(pairs)
    two.network.block(pairs)
    two.client.end.write(b"late")
    two.network.unblock(pairs)
    two.run(1.0)
    assert two.served.received == b""
    two.network.heal()
    two.run(1.0)
    assert two.served.received == b"late"


def test_slow_link_delays_everything() -> None:
    two = Two()
    two.network.slow_down((("client", "server"),), 2.0)
    two.client.end.write(b"slow")
    two.run(1.0)
    assert two.served.received == b""
    two.run(2.0)
    assert two.served.received == b"slow"


def test_lost_segments_are_sent_again() -> None:
    two = Two(loss=0.5)
    for _ in range(20):
        two.client.end.write(b"x")
        two.run(0.5)
    assert two.served.received == b"x" * 20


def test_reset_is_seen_by_both_ends() -> None:
    two = Two()
    two.network.reset_connections("client", "server")
    two.run(1.0)
    assert isinstance(two.client.error, ConnectionResetError)
    assert isinstance(two.served.error, ConnectionResetError)


def test_forgotten_connection_carries_nothing_and_nobody_is_told() -> None:
    two = Two()
    two.network.forget_connections("server", "client")
    two.client.end.write(b"lost")
    two.run(60.0)
    two.network.heal()
    two.run(60.0)
    assert two.served.received == b""
    assert two.client.events == ["made"]
    again = two.connect()
    again.end.write(b"new")
    two.run(1.0)
    assert two.served.received == b"new"


def test_held_connection_delivers_late_what_a_new_one_overtakes() -> None:
    two = Two()
    first = two.served
    two.network.hold_connections("client", "server", 3.0)
    two.client.end.write(b"old")
    two.client.end.abort()
    again = two.connect()
    again.end.write(b"new")
    two.run(0.5)
    assert two.served.received == b"new"
    assert first.received == b""
    two.run(3.0)
    assert first.received == b"old"


def test_paused_server_accepts_in_its_kernel_and_serves_when_it_goes_on() -> None:
    two = Two()
    two.server_loop.pause()
    waiting = two.connect()
    waiting.end.write(b"hello")
    two.run(1.0)
    assert len(two.accepted) == 1
    two.server_loop.resume()
    two.run(1.0)
    assert two.served.received == b"hello"


def test_port_is_taken_once_and_free_after_closing() -> None:
    two = Two()
    again = two.server_loop.create_task(two.server_loop.create_server(Recorder, "server", 9092))
    two.run(0.1)
    assert isinstance(again.exception(), OSError)
    two.server.close()
    assert not list(two.server.sockets)
    two.listen()
    assert two.server.sockets[0].getsockname() == ("server", 9092)


def test_server_that_does_not_serve_yet_refuses() -> None:
    two = Two()
    listening = two.server_loop.create_task(
        two.server_loop.create_server(Recorder, "server", 0, start_serving=False)
    )
    two.run(0.1)
    server = listening.result()
    assert server.port > 0
    assert not server.is_serving()
    starting = two.server_loop.create_task(server.start_serving())
    two.run(0.1)
    assert starting.done()
    assert server.is_serving()


@pytest.mark.parametrize("how", ["close", "abort"])
def test_reader_is_told_once_that_its_connection_is_gone(how: str) -> None:
    two = Two()
    getattr(two.client.end, how)()
    getattr(two.client.end, how)()
    two.run(1.0)
    assert two.client.events.count("lost") == 1
    assert two.client.end.is_closing()
    assert not two.client.end.is_reading()
