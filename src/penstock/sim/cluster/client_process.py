"""A machine with a client on it, which can be killed, paused and started again like any other."""

from collections.abc import Callable, Sequence

from penstock.sim.cluster.plan import WorkloadPlan
from penstock.sim.network.network import Network
from penstock.sim.runtime.loop import SimulatedLoop, new_loop
from penstock.sim.runtime.world import World
from penstock.sim.workloads.client import Address, Client
from penstock.sim.workloads.history import History
from penstock.sim.workloads.kinds import make_workload
from penstock.sim.workloads.workload import WorkloadSurroundings


class ClientProcess:
    """One workload, in as many incarnations as the plan has it."""

    def __init__(
        self,
        world: World,
        network: Network,
        plan: WorkloadPlan,
        *,
        history: History,
        bootstrap: Sequence[Address],
        timeout_seconds: float,
    ) -> None:
        self.plan = plan
        self.boots = 0
        #: How often it has achieved something, over all incarnations.
        self.progress = 0
        #: Whether the workload is to come to its end.
        self.is_over = False
        self.has_ended = False
        #: Whether it is gone for good, and nobody waits for it.
        self.is_dismissed = False
        #: Told about everything that happens to it.
        self.on_change: Callable[[str], None] = lambda what: None
        self._world = world
        self._network = network
        self._history = history
        self._bootstrap = tuple(bootstrap)
        self._timeout_seconds = timeout_seconds
        self._loop: SimulatedLoop | None = None

    @property
    def name(self) -> str:
        """Its host name."""
        return self.plan.name

    @property
    def process(self) -> str:
        """The present incarnation, as histories name it."""
        return f"{self.name}#{self.boots}"

    def boot(self) -> None:
        """Begin, or begin anew, with nothing but the settings."""
        if self._loop is not None or self.is_dismissed:
            return
        self.boots += 1
        self.has_ended = False
        self._loop = new_loop(self._world, self.name, network=self._network)
        process = self.process
        client = Client(self._loop, process, self._bootstrap, timeout_seconds=self._timeout_seconds)
        around = WorkloadSurroundings(
            client=client,
            history=self._history,
            draw=self._world.stream(process),
            process=process,
            on_progress=self._progressed,
            is_over=lambda: self.is_over,
        )
        self._loop.create_task(self._live(around), name=process)

    def kill(self) -> None:
        """End the process without a word."""
        if self._loop is not None:
            self.on_change("is killed")
            self._loop.kill()
            self._network.process_died(self._loop)
            self._loop = None

    def dismiss(self) -> None:
        """End the process for good."""
        self.kill()
        self.is_dismissed = self.has_ended = True

    def pause(self) -> None:
        """Stop the process as SIGSTOP does."""
        if self._loop is not None:
            self.on_change("is paused")
            self._loop.pause()

    def resume(self) -> None:
        """Let a paused process go on."""
        if self._loop is not None and self._loop.is_paused:
            self.on_change("goes on")
            self._loop.resume()

    async def _live(self, around: WorkloadSurroundings) -> None:
        await make_workload(around, self.plan.settings).run()
        around.client.disconnect()
        self.has_ended = True

    def _progressed(self) -> None:
        self.progress += 1
