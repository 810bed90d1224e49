"""What comes after a fault: its end in its time, unless everything was healed before."""

from collections.abc import Callable

from penstock.sim.cluster.faults import Outage
from penstock.sim.cluster.node import Node
from penstock.sim.network.network import Network


class FaultEnds:
    """Ends faults, until the healing of the world makes that unnecessary."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._is_healed = False

    def cancel_all(self) -> None:
        """Everything has been healed at once: no fault has a sequel any more."""
        self._is_healed = True

    def later(self, seconds: float, action: Callable[[], object]) -> None:
        """Do something after some time."""

        def act() -> None:
            if not self._is_healed:
                action()

        self._network.world.at(seconds, self._network.environment, act)

    def take_down(self, node: Node, outage: Outage, seconds: float) -> None:
        """A machine is gone for some time."""
        if outage is Outage.POWER:
            node.lose_power()
        else:
            node.kill()
        self.later(seconds, node.boot)
