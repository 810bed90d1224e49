"""One run: make the world, let the plan happen, heal, demand progress, read everything, ask the checkers."""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from traceback import format_exception

from penstock.sim.checkers import CHECKS, new_watchers
from penstock.sim.checkers.evidence import Copied, Evidence
from penstock.sim.checkers.leaderships import Leaderships
from penstock.sim.cluster.client_process import ClientProcess
from penstock.sim.cluster.faults import Decommission, Fault, WipeDisk
from penstock.sim.cluster.final_reading import FinalReading
from penstock.sim.cluster.injection import Injection
from penstock.sim.cluster.log_watch import watched_log
from penstock.sim.cluster.node import PORT, Node
from penstock.sim.cluster.operator import Operator
from penstock.sim.cluster.outcome import Outcome
from penstock.sim.cluster.plan import ClusterPlan
from penstock.sim.cluster.setting_up import set_up
from penstock.sim.cluster.sight import Sight
from penstock.sim.cluster.upheavals import Upheavals
from penstock.sim.cluster.wholeness import lacking_in
from penstock.sim.network.link import NetworkHabits
from penstock.sim.network.network import Network
from penstock.sim.runtime.loop import new_loop
from penstock.sim.runtime.workers import DiskSpeed
from penstock.sim.runtime.world import World
from penstock.sim.workloads.client import Client
from penstock.sim.workloads.copier import CopierSettings
from penstock.sim.workloads.group_member import MemberSettings
from penstock.sim.workloads.history import Function, History
from penstock.sim.workloads.kinds import is_source
from penstock.sim.workloads.membership import GroupSettings
from penstock.sim.workloads.reader import ReaderSettings

LOOK_SECONDS = 0.1
SETUP_SECONDS_MAX = 20.0
STEPS_WANTED = 2
"""How much progress each client must make in a healed cluster."""

DRAIN_SECONDS = 4.0
"""How long readers, members and copiers have to catch up once nobody writes any more."""

END_SECONDS_MAX = 20.0
WHOLE_SECONDS_MAX = 20.0
FINAL_SECONDS_MAX = 30.0
OPERATOR = "operator"

PROGRESS = "a healed cluster makes progress"
UNEXPECTED = "nothing unexpected happens"


class BrokenPromise(Exception):
    """The run has shown what must never happen, and ends here."""

    def __init__(self, rule: str, what: str) -> None:
        super().__init__(f"{rule}: {what}")
        self.rule = rule
        self.what = what


class Cluster:
    """Machines, clients and faults of one plan."""

    def __init__(self, plan: ClusterPlan) -> None:
        self.plan = plan
        self.world = World(plan.seed)
        #: What happened, line by line.
        self.story: list[str] = []
        self.history = History(lambda: self.world.now)
        environment = plan.environment
        self._environment = new_loop(self.world, "environment")
        self._network = Network(
            self.world,
            self._environment,
            NetworkHabits(
                seconds_max=environment.link_seconds_max,
                loss=environment.link_loss,
                cuts=environment.stream_cuts,
                window_bytes=environment.window_bytes,
            ),
        )
        self._nodes = {
            settings.name: Node(
                self.world,
                self._network,
                settings,
                speed=DiskSpeed(seconds_max=environment.disk_seconds_max),
            )
            for settings in plan.nodes
        }
        self._bootstrap = [(node.name, PORT) for node in plan.nodes if node.is_early]
        self._clients = {
            each.name: ClientProcess(
                self.world,
                self._network,
                each,
                history=self.history,
                bootstrap=self._bootstrap,
                timeout_seconds=environment.client_timeout_seconds,
            )
            for each in plan.workloads
        }
        self._sight = Sight(self.world, self._nodes)
        self._operator = Operator(self._network, OPERATOR, self._bootstrap)
        self._injection = Injection(
            self._network,
            self._nodes,
            self._clients,
            Upheavals(self._network, self._nodes, self._sight, self._operator, self._clients),
        )
        self._watchers = new_watchers()
        self._leaderships = Leaderships(LOOK_SECONDS)
        self._faults_done = 0
        self._broken: BrokenPromise | None = None
        for node in self._nodes.values():
            node.on_change = partial(self._tell_of, node.name)
        for client in self._clients.values():
            client.on_change = partial(self._tell_of, client.name)

    def run(self) -> Outcome:
        """Do everything; how it ended."""
        with watched_log(self.world):
            try:
                self._run()
            except BrokenPromise as broken:
                self._break(broken)
            except Exception as error:
                # Of a checker or of the simulator itself: the seed that shows it is wanted all the same.
                self._tell("".join(format_exception(error)))
                self._break(BrokenPromise(UNEXPECTED, repr(error)))
            outcome = self._outcome()
            self.world.close()
        return outcome

    def _break(self, broken: BrokenPromise) -> None:
        self._broken = broken
        self._tell(str(broken))

    def _run(self) -> None:
        self._set_up()
        self._suffer()
        self._heal()
        self._demand_progress()
        self._demand_wholeness()
        final = self._read_everything()
        evidence = Evidence(
            history=self.history,
            logs=final.logs,
            offsets=final.offsets,
            topics=final.topics,
            configs=final.configs,
            replicas={} if self._is_moved_by_others() else final.replicas,
            copies=tuple(self._copies()),
            leaders=self._leaderships.of_partitions(),
            finished=dict(self._finished_readers()),
            finished_groups=frozenset(self._finished_groups()),
        )
        for rule, check in CHECKS.items():
            for what in check(evidence):
                raise BrokenPromise(rule, what)

    # The phases.

    def _set_up(self) -> None:
        for node in self._nodes.values():
            node.boot()
        operator = self._operator
        task = operator.loop.create_task(set_up(operator.client, self.plan), name="set up")
        self._run_while(lambda: not task.done(), SETUP_SECONDS_MAX, lambda: "set everything up")
        operator.client.disconnect()
        self._environment.create_task(self._watch(), name="watch")

    def _suffer(self) -> None:
        """The first phase: everybody works, and everything may happen."""
        for client in self._clients.values():
            client.boot()
        for fault in self.plan.faults:
            self.world.at(fault.at, self._environment, self._inject, fault)
        self._advance(self.plan.fault_seconds)

    def _heal(self) -> None:
        absent = self.plan.absent
        if absent is not None:
            self._nodes[absent].is_wanted = False
            self._nodes[absent].lose_power()
        self._injection.heal()
        self._tell("everything is healed" + ("" if absent is None else f" but {absent}"))

    def _demand_progress(self) -> None:
        """The second phase: nothing bad happens any more, so everybody must get somewhere, and to an end."""
        before = {client: client.progress for client in self._clients.values() if not client.is_dismissed}

        def stuck() -> list[str]:
            return [
                client.name
                for client, progress in before.items()
                if client.progress < progress + STEPS_WANTED
            ]

        self._run_while(lambda: bool(stuck()), self.plan.settle_seconds, lambda: f"get {stuck()[0]} going")
        self._end([client for client in self._clients.values() if is_source(client.plan.settings)])
        self._advance(DRAIN_SECONDS)
        self._end(list(self._clients.values()))

    def _demand_wholeness(self) -> None:
        """Once nobody asks for anything, every broker is there, and every replica is in sync."""
        if self.plan.absent is not None:
            self._nodes[self.plan.absent].switch_on()

        def lacking() -> str | None:
            if self._operator.duties:
                return self._operator.duties[0]
            return lacking_in(self._sight.look(), [node for node in self._nodes.values() if node.is_wanted])

        self._run_while(
            lambda: lacking() is not None, WHOLE_SECONDS_MAX, lambda: f"become whole: {lacking()}"
        )

    def _end(self, clients: list[ClientProcess]) -> None:
        for client in clients:
            client.is_over = True
        self._run_while(
            lambda: not all(client.has_ended for client in clients),
            END_SECONDS_MAX,
            lambda: f"end {' '.join(client.name for client in clients if not client.has_ended)}",
        )

    def _read_everything(self) -> FinalReading:
        operator = new_loop(self.world, f"final-{OPERATOR}", network=self._network)
        reading = FinalReading(Client(operator, operator.name, self._bootstrap, timeout_seconds=5.0))
        topics = [topic.name for topic in self.plan.topics]
        operator.create_task(reading.read(topics, self._groups()), name="final reading")
        try:
            self._run_while(lambda: not reading.is_complete, FINAL_SECONDS_MAX, lambda: "read everything")
        except BrokenPromise as broken:
            raise BrokenPromise(broken.rule, f"{broken.what}: no end of {reading.waits_for}") from broken
        return reading

    # Time.

    def _advance(self, seconds: float) -> None:
        self.world.run_until(self.world.now + seconds)
        self.world.sweep()
        if self._broken is not None:
            raise self._broken
        if self.world.accidents:
            raise BrokenPromise(UNEXPECTED, self.world.accidents[0])

    def _run_while(self, condition: Callable[[], bool], seconds: float, what: Callable[[], str]) -> None:
        deadline = self.world.now + seconds
        while condition():
            if self.world.now >= deadline:
                raise BrokenPromise(PROGRESS, f"it takes longer than {seconds:.0f} s to {what()}")
            self._advance(0.25)

    # Watching.

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            look = self._sight.look()
            self._leaderships.look(look)
            for watcher in self._watchers:
                for what in watcher.look(look):
                    self._broken = self._broken or BrokenPromise(watcher.rule, what)
                    self.world.is_over = True

    def _inject(self, fault: Fault) -> None:
        self._faults_done += 1
        self._tell(f"FAULT {fault.kind}")
        self._injection.inject(fault.kind)

    def _tell_of(self, name: str, what: str) -> None:
        self._tell(f"{name} {what}")

    def _tell(self, what: str) -> None:
        self.world.note(what)
        self.story.append(f"{self.world.now:9.4f} {what}")

    # What the plan means for the checkers.

    def _is_moved_by_others(self) -> bool:
        """Whether the controller moves replicas by itself, since brokers go."""
        return any(isinstance(fault.kind, Decommission | WipeDisk) for fault in self.plan.faults)

    def _groups(self) -> list[GroupSettings]:
        groups = {}
        for each in self.plan.workloads:
            if isinstance(each.settings, MemberSettings | CopierSettings):
                groups[each.settings.group.group] = each.settings.group
        return list(groups.values())

    def _finished_readers(self) -> Iterator[tuple[str, tuple[str, str]]]:
        for client in self._clients.values():
            settings = client.plan.settings
            if isinstance(settings, ReaderSettings) and not client.is_dismissed:
                yield client.process, (settings.topic, settings.isolation)

    def _finished_groups(self) -> Iterator[str]:
        for client in self._clients.values():
            settings = client.plan.settings
            if isinstance(settings, MemberSettings) and not client.is_dismissed:
                yield settings.group.group

    def _copies(self) -> Iterator[Copied]:
        seen: dict[str, Copied] = {}
        for each in self.plan.workloads:
            if isinstance(each.settings, CopierSettings):
                group = each.settings.group
                before = seen.get(each.settings.target)
                is_alive = not self._clients[each.name].is_dismissed
                seen[each.settings.target] = Copied(
                    source=group.topic,
                    target=each.settings.target,
                    partition_count=group.partition_count,
                    is_finished=is_alive or (before is not None and before.is_finished),
                )
        yield from seen.values()

    def _outcome(self) -> Outcome:
        for operation in self.history:
            self.world.note(str(operation))
        broken = self._broken
        return Outcome(
            seed=self.plan.seed,
            rule=None if broken is None else broken.rule,
            what="" if broken is None else broken.what,
            simulated_seconds=self.world.now,
            steps=self.world.steps,
            operations=len(self.history.operations),
            acknowledged=sum(len(send.value) for send in self.history.of(Function.SEND) if send.is_ok),
            faults=self._faults_done,
            digest=self.world.digest,
        )
