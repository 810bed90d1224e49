"""Admin churn: topics come, grow and go, partitions move and change leaders, while everybody else works."""

from dataclasses import dataclass

from penstock.metadata.resources import ResourceType
from penstock.model.error_codes import ErrorCode
from penstock.sim.workloads.admin_requests import (
    ALTER_CONFIGS_VERSION,
    CREATE_VERSION,
    DELETE_VERSION,
    ELECT_VERSION,
    GROW_VERSION,
    REASSIGN_VERSION,
    alter_configs_request,
    create_request,
    delete_request,
    elect_request,
    grow_request,
    outcome_code,
    reassign_request,
)
from penstock.sim.workloads.connection import Unanswered
from penstock.sim.workloads.history import Ending, Function, Operation
from penstock.sim.workloads.verdicts import end_unanswered, ending_of
from penstock.sim.workloads.workload import Workload, WorkloadSurroundings
from penstock.wire.schema import Struct

MIN_IN_SYNC = "min.insync.replicas"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedTopic:
    """A topic of others that an administrator may move about, but not change otherwise."""

    name: str
    partition_count: int
    replication_factor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AdministratorSettings:
    """What it does."""

    pause_seconds: float = 0.7
    partitions_max: int = 3
    topics_max: int = 4
    replication_factor: int = 1
    shared: tuple[SharedTopic, ...] = ()
    #: How often it turns to those, rather than to topics of its own.
    shared_share: float = 0.0
    #: What it may set the minimum of replicas in sync to, on those.
    minimums: tuple[int, ...] = ()


class Administrator(Workload):
    """Makes topics of its own, which nobody else uses; moves and elects in those of others too."""

    def __init__(self, around: WorkloadSurroundings, settings: AdministratorSettings) -> None:
        super().__init__(around)
        self._settings = settings
        self._count = 0
        #: Those that are known to exist, with their partitions.
        self._topics: dict[str, int] = {}

    async def run(self) -> None:
        """One change after the other until it is over."""
        settings = self._settings
        while not self.is_over:
            await self.pause(settings.pause_seconds)
            if settings.shared and self.draw.random() < settings.shared_share:
                await self._disturb(self.draw.choice(settings.shared))
                continue
            choice = self.draw.random()
            if not self._topics or (choice < 0.5 and len(self._topics) < settings.topics_max):
                await self._create()
            elif choice < 0.75:
                await self._grow(self.draw.choice(sorted(self._topics)))
            else:
                await self._delete(self.draw.choice(sorted(self._topics)))

    async def _create(self) -> None:
        self._count += 1
        name = f"{self.process.replace('#', '.')}.{self._count}"
        partitions = self.draw.randint(1, self._settings.partitions_max)
        operation = self.history.begin(self.process, Function.CREATE_TOPIC, name, offset=partitions)
        request = create_request(name, partitions, self._settings.replication_factor)
        await self._ask(operation, request, CREATE_VERSION)
        if operation.is_ok:
            self._topics[name] = partitions

    async def _grow(self, name: str) -> None:
        partitions = self._topics[name] + 1
        operation = self.history.begin(self.process, Function.GROW_TOPIC, name, offset=partitions)
        await self._ask(operation, grow_request(name, partitions), GROW_VERSION)
        if operation.is_ok:
            self._topics[name] = partitions
        else:
            del self._topics[name]  # how many it has is not known any more

    async def _delete(self, name: str) -> None:
        operation = self.history.begin(self.process, Function.DELETE_TOPIC, name)
        await self._ask(operation, delete_request(name), DELETE_VERSION)
        del self._topics[name]

    async def _disturb(self, topic: SharedTopic) -> None:
        partition = self.draw.randrange(topic.partition_count)
        choice = self.draw.random()
        if choice < 0.5:
            await self._reassign(topic, partition)
        elif choice < 0.8 or not self._settings.minimums:
            await self._elect(topic.name, partition)
        else:
            await self._set_minimum(topic.name)

    async def _reassign(self, topic: SharedTopic, partition: int) -> None:
        try:
            await self.client.refresh()
        except Unanswered:
            return
        known = self.client.node_ids
        if len(known) < topic.replication_factor:
            return
        replicas = tuple(self.draw.sample(known, topic.replication_factor))
        operation = self.history.begin(
            self.process, Function.REASSIGN, f"{topic.name}-{partition}", value=replicas
        )
        await self._ask(operation, reassign_request(topic.name, partition, replicas), REASSIGN_VERSION)

    async def _elect(self, topic: str, partition: int) -> None:
        operation = self.history.begin(self.process, Function.ELECT, f"{topic}-{partition}")
        await self._ask(operation, elect_request(topic, partition), ELECT_VERSION)

    async def _set_minimum(self, topic: str) -> None:
        minimum = str(self.draw.choice(self._settings.minimums))
        operation = self.history.begin(
            self.process, Function.SET_CONFIG, f"{topic}/{MIN_IN_SYNC}", value=(minimum,)
        )
        request = alter_configs_request(ResourceType.TOPIC, topic, {MIN_IN_SYNC: minimum})
        await self._ask(operation, request, ALTER_CONFIGS_VERSION)

    async def _ask(self, operation: Operation, request: Struct, version: int) -> None:
        try:
            answer = await self.client.ask_controller(request, version)
        except Unanswered as error:
            end_unanswered(self.history, operation, error)
            return
        code = outcome_code(answer)
        ending = Ending.FAIL if ErrorCode(code) in _REFUSALS else ending_of(code)
        self.history.end(operation, ending, "" if code == ErrorCode.NONE else ErrorCode(code).name)
        if code == ErrorCode.NONE or ErrorCode(code) in _REFUSALS:
            self.on_progress()


_REFUSALS = frozenset(
    {
        ErrorCode.ELECTION_NOT_NEEDED,
        ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
        ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        ErrorCode.INVALID_REPLICATION_FACTOR,
    }
)
"""Good answers to somebody who asks without looking who is there."""
