"""One direction of a connection: the bytes that one kernel has taken and the other process has not read.

Bytes move when the link is open, the receiving host is up, and the receiver wants to read. A host that was
switched off answers nothing; the same host after its restart answers bytes of a connection it does not know
with a reset.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.sim.network.network import Network
    from penstock.sim.network.transport import SimulatedTransport


class Pipe:
    """Carries bytes from one transport to another, in order."""

    __slots__ = (
        "_buffer",
        "_has_end",
        "_held_until",
        "_is_moving",
        "_network",
        "is_blackhole",
        "receiver",
        "sender",
    )

    sender: "SimulatedTransport"
    receiver: "SimulatedTransport"

    def __init__(self, network: "Network") -> None:
        self._network = network
        self._buffer = bytearray()
        self._has_end = False
        self._is_moving = False
        self._held_until = 0.0
        #: Whether everything sent from now on vanishes without a word.
        self.is_blackhole = False

    @property
    def room_bytes(self) -> int:
        """How much more the sender's kernel takes."""
        return max(0, self._network.habits.window_bytes - len(self._buffer))

    @property
    def has_unread(self) -> bool:
        """Whether there are bytes that the receiver has not read."""
        return bool(self._buffer)

    def push(self, data: bytes | bytearray | memoryview) -> None:
        """Take bytes for which there is room."""
        self._buffer += data
        self.pump()

    def finish(self) -> None:
        """Nothing comes after what was pushed."""
        self._has_end = True
        self.pump()

    def discard(self) -> None:
        """Whatever is under way will not arrive."""
        self._buffer.clear()

    def hold(self, seconds: float) -> None:
        """Let nothing move for a while, whatever the link allows."""
        self._held_until = self._network.world.now + seconds
        self._network.world.outside(seconds, self.pump)

    def release(self) -> None:
        """Hold nothing back any more."""
        self._held_until = 0.0

    def refuse(self) -> None:
        """Answer what was sent with a reset, which may get lost on its way back."""
        self._buffer.clear()
        sender, network = self.sender, self._network
        if not sender.is_gone and network.is_reachable(self.receiver.host, sender.host):
            network.world.at(network.delay(self.receiver.host, sender.host), sender.loop, sender.reset)

    def receiver_died(self) -> None:
        """Whatever was about to be delivered is in nobody's hands."""
        self._is_moving = False
        self.pump()

    def pump(self) -> None:
        """Begin to move what can move."""
        if self._is_moving or self.is_blackhole or not (self._buffer or self._has_end):
            return
        if not self._network.is_reachable(self.sender.host, self.receiver.host) or not self._may_arrive():
            return
        if self._network.world.now < self._held_until:
            return
        self._is_moving = True
        delay = self._network.delay(self.sender.host, self.receiver.host)
        self._network.world.outside(delay, self._arrive)

    def _may_arrive(self) -> bool:
        """A receiver that has stopped reading leaves bytes where they are; one that is gone does not."""
        return self.receiver.is_gone or not self.receiver.is_read_paused

    def _arrive(self) -> None:
        """The first of the bytes have reached the other host; its process is told when it runs next."""
        self._is_moving = False
        if self.is_blackhole or not self._network.is_reachable(self.sender.host, self.receiver.host):
            return
        if self.receiver.is_gone:
            self._answer_for_the_gone()
            return
        self._is_moving = True
        self._network.world.soon(self.receiver.loop, self._deliver)

    def _deliver(self) -> None:
        """Runs in the receiving process."""
        self._is_moving = False
        receiver = self.receiver
        if receiver.is_gone or receiver.is_read_paused:
            self.pump()
            return
        if self._buffer:
            count = self._network.draw_arrival(len(self._buffer))
            data = self._buffer[:count]
            del self._buffer[:count]
            receiver.receive(data)
            self.sender.wake_writer()
        elif self._has_end:
            self._has_end = False
            receiver.receive_end()
        self.pump()

    def _answer_for_the_gone(self) -> None:
        """Nobody holds the other end: its host, if it is up, says so."""
        if self._buffer:
            self.refuse()
        self._has_end = False
