"""What checkers may look at: what clients were told, and what the cluster holds when all is quiet again."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from penstock.records.batch import BatchHeader
from penstock.sim.workloads.history import Ending, Function, History, Operation
from penstock.sim.workloads.transaction import COMMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalLog:
    """One partition at the end, as clients read it."""

    log_start_offset: int
    high_watermark: int
    #: Offset and value of every record.
    records: tuple[tuple[int, str], ...]
    #: The same, as readers of committed records get it.
    committed: tuple[tuple[int, str], ...]
    headers: tuple[BatchHeader, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """Two topics of which one is to become the copy of the other."""

    source: str
    target: str
    partition_count: int
    #: Whether somebody was left to bring it to its end.
    is_finished: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Leadership:
    """Somebody took itself for the leader of a partition, rightly or not."""

    leader_epoch: int
    #: Empty in an epoch in which nobody led.
    node: str
    #: When it surely did no more, in seconds of the run.
    until: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything about one run."""

    history: History
    #: By partition.
    logs: Mapping[str, FinalLog]
    #: By group/partition; -1 for none.
    offsets: Mapping[str, int]
    #: How many partitions each topic has.
    topics: Mapping[str, int]
    copies: tuple[Copied, ...] = field(default_factory=tuple)
    #: By topic/setting.
    configs: Mapping[str, str | None] = field(default_factory=dict)
    #: Who holds each partition; nothing where others than clients have moved replicas.
    replicas: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    #: Who took itself for the leader of each partition.
    leaders: Mapping[str, Sequence[Leadership]] = field(default_factory=dict)
    #: Processes that read a topic until there was nothing new any more, with that topic and their isolation.
    finished: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    #: Groups of which a member did so.
    finished_groups: frozenset[str] = frozenset()

    def of_topic(self, topic: str) -> Iterator[tuple[str, FinalLog]]:
        """The partitions of a topic."""
        return ((name, log) for name, log in self.logs.items() if topic_of(name) == topic)

    def may_be_lost(self, send: Operation) -> bool:
        """Whether a batch that its leader alone acknowledged may be gone: another has led then or since."""
        if not send.is_weak:
            return False
        since = [each for each in self.leaders.get(send.key, ()) if each.until >= send.invoked_at]
        epochs = {each.leader_epoch for each in since}
        is_complete = not epochs or len(epochs) == max(epochs) - min(epochs) + 1
        return not is_complete or len({each.node for each in since if each.node}) > 1


Check = Callable[[Evidence], Iterator[str]]
"""Says what is wrong; nothing when the invariant holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionFate:
    """What is known about one transaction."""

    sends: tuple[Operation, ...]
    end: Operation | None

    @property
    def is_committed(self) -> bool:
        """Whether it surely is."""
        return self.end is not None and self.end.is_ok and self.end.value == (COMMIT,)

    @property
    def may_be_committed(self) -> bool:
        """Whether a commit was asked for and not refused."""
        return self.end is not None and self.end.value == (COMMIT,) and self.end.ending is not Ending.FAIL


def transactions(history: History) -> dict[str, TransactionFate]:
    """Every transaction that wrote something or was ended, by name."""
    sends: dict[str, list[Operation]] = {}
    ends: dict[str, Operation] = {}
    for operation in history:
        if operation.function is Function.SEND and operation.context:
            sends.setdefault(operation.context, []).append(operation)
        elif operation.function is Function.END:
            ends[operation.key] = operation
            sends.setdefault(operation.key, [])
    return {
        name: TransactionFate(sends=tuple(batches), end=ends.get(name)) for name, batches in sends.items()
    }


def topic_of(partition: str) -> str:
    """The topic in a partition's name."""
    return partition.rpartition("-")[0]
