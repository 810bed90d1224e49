"""Admin churn: topics that come, grow and go while everybody else works."""

from dataclasses import dataclass

from penstock.model.error_codes import ErrorCode
from penstock.sim.workloads.connection import Unanswered
from penstock.sim.workloads.history import Function, Operation
from penstock.sim.workloads.verdicts import end_unanswered, end_with_code
from penstock.sim.workloads.workload import Workload, WorkloadSurroundings
from penstock.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from penstock.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.wire.schema import Struct

CREATE_VERSION = 7
DELETE_VERSION = 6
GROW_VERSION = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AdministratorSettings:
    """What it does."""

    pause_seconds: float = 0.7
    partitions_max: int = 3
    topics_max: int = 4
    replication_factor: int = 1


class Administrator(Workload):
    """Makes topics of its own; nobody else uses them."""

    def __init__(self, around: WorkloadSurroundings, settings: AdministratorSettings) -> None:
        super().__init__(around)
        self._settings = settings
        self._count = 0
        #: Those that are known to exist, with their partitions.
        self._topics: dict[str, int] = {}

    async def run(self) -> None:
        """Create, grow and delete until it is over."""
        while not self.is_over:
            await self.pause(self._settings.pause_seconds)
            choice = self.draw.random()
            if not self._topics or (choice < 0.5 and len(self._topics) < self._settings.topics_max):
                await self._create()
            elif choice < 0.75:
                await self._grow(self.draw.choice(sorted(self._topics)))
            else:
                await self._delete(self.draw.choice(sorted(self._topics)))

    async def _create(self) -> None:
        self._count += 1
        name = f"{self.process.replace('#', '.')}.{self._count}"
        partitions = self.draw.randint(1, self._settings.partitions_max)
        topic = CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=self._settings.replication_factor,
        )
        operation = self.history.begin(self.process, Function.CREATE_TOPIC, name, offset=partitions)
        await self._ask(operation, CreateTopicsRequest(topics=(topic,)), CREATE_VERSION)
        if operation.is_ok:
            self._topics[name] = partitions

    async def _grow(self, name: str) -> None:
        partitions = self._topics[name] + 1
        operation = self.history.begin(self.process, Function.GROW_TOPIC, name, offset=partitions)
        topic = CreatePartitionsTopic(name=name, count=partitions, assignments=None)
        await self._ask(operation, CreatePartitionsRequest(topics=(topic,), timeout_ms=5000), GROW_VERSION)
        if operation.is_ok:
            self._topics[name] = partitions
        else:
            del self._topics[name]  # how many it has is not known any more

    async def _delete(self, name: str) -> None:
        operation = self.history.begin(self.process, Function.DELETE_TOPIC, name)
        request = DeleteTopicsRequest(topics=(DeleteTopicState(name=name),), timeout_ms=5000)
        await self._ask(operation, request, DELETE_VERSION)
        del self._topics[name]

    async def _ask(self, operation: Operation, request: Struct, version: int) -> None:
        try:
            answer = await self.client.ask_controller(request, version)
        except Unanswered as error:
            end_unanswered(self.history, operation, error)
            return
        (result,) = getattr(answer, "topics", None) or getattr(answer, "responses", None) or answer.results
        end_with_code(self.history, operation, result.error_code)
        if result.error_code == ErrorCode.NONE:
            self.on_progress()
