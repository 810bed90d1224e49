"""What clients asked for and what they were told, in the order they asked.

An operation ends *ok* (it happened), *fail* (it did not, and never will) or *info* (nobody can say). One that
has not ended when the run is over is info too. Values are unique, so that each can be followed everywhere.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum


class Function(StrEnum):
    """What an operation does, and what its fields mean."""

    SEND = "send"
    """``key`` partition, ``value`` the batch's values, ``offset`` of the first, ``context`` transaction."""
    POLL = "poll"
    """``key`` partition, ``value`` pairs of offset and value, ``offset`` asked for, ``context`` isolation."""
    END = "end"
    """``key`` transaction, ``value`` commit or abort."""
    COMMIT_OFFSET = "commit-offset"
    """``key`` group/partition, ``offset``, ``context`` transaction if it belongs to one."""
    FETCH_OFFSET = "fetch-offset"
    """``key`` group/partition, ``offset`` or -1."""
    OWN = "own"
    """``key`` group/generation, ``value`` partitions; a member learned what it owns."""
    CREATE_TOPIC = "create-topic"
    """``key`` topic, ``offset`` partitions."""
    DELETE_TOPIC = "delete-topic"
    """``key`` topic."""
    GROW_TOPIC = "grow-topic"
    """``key`` topic, ``offset`` partitions."""
    REASSIGN = "reassign"
    """``key`` partition, ``value`` replicas."""
    ELECT = "elect"
    """``key`` partition; its preferred replica is to lead."""
    SET_CONFIG = "set-config"
    """``key`` topic/setting, ``value`` what it is set to."""


class Ending(StrEnum):
    """How an operation ended."""

    OK = "ok"
    FAIL = "fail"
    INFO = "info"


UNCOMMITTED = "uncommitted"
COMMITTED = "committed"

Value = tuple[object, ...]


@dataclass(slots=True, kw_only=True)
class Operation:
    """One operation of one client."""

    number: int
    process: str
    function: Function
    key: str
    value: Value
    offset: int
    context: str
    invoked_at: float
    #: Of a send that its leader alone acknowledges (acks=1): it may be lost when another comes to lead.
    is_weak: bool = False
    ending: Ending = Ending.INFO
    completed_at: float | None = None
    error: str = ""

    def __str__(self) -> str:
        until = "..." if self.completed_at is None else f"{self.completed_at:.6f}"
        what = f"{self.function} {self.key} {self.value} @{self.offset}"
        about = " ".join(filter(None, (self.context, "acks=1" if self.is_weak else "", self.error)))
        return f"{self.number} {self.process} {self.ending} {what} [{self.invoked_at:.6f}, {until}] {about}"

    @property
    def is_ok(self) -> bool:
        """Whether it happened."""
        return self.ending is Ending.OK


class History:
    """All operations of one run."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.operations: list[Operation] = []

    def __iter__(self) -> Iterator[Operation]:
        return iter(self.operations)

    def begin(
        self,
        process: str,
        function: Function,
        key: str,
        *,
        value: Value = (),
        offset: int = -1,
        context: str = "",
        is_weak: bool = False,
    ) -> Operation:
        """A client asks."""
        operation = Operation(
            number=len(self.operations),
            process=process,
            function=function,
            key=key,
            value=value,
            offset=offset,
            context=context,
            invoked_at=self._now(),
            is_weak=is_weak,
        )
        self.operations.append(operation)
        return operation

    def end(self, operation: Operation, ending: Ending, error: str = "") -> None:
        """A client was told, or has given up waiting."""
        operation.ending = ending
        operation.error = error
        operation.completed_at = self._now()

    def of(self, function: Function) -> Iterator[Operation]:
        """Those of one kind, in the order they were asked."""
        return (operation for operation in self.operations if operation.function is function)
