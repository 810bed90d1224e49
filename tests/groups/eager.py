"""A client of the classic protocol that gives up everything before it joins, and assigns if it leads."""

from dataclasses import dataclass, field

from tests.groups.actors import Actor, protocols
from tests.groups.shell import FixedTopics, Shell

from penstock.groups.consumer_protocol import (
    ConsumerProtocolAssignment,
    ProtocolTopicPartitions,
    read_assignment,
    read_subscription,
    write_assignment,
)
from penstock.groups.partitions import TopicIdPartition
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.join_group import JoinGroupResponse
from penstock.wire.messages.sync_group import SyncGroupResponse

FATAL = {ErrorCode.FENCED_INSTANCE_ID, ErrorCode.INCONSISTENT_GROUP_PROTOCOL}


@dataclass
class Eager:
    """Drives an actor; ``act`` does the next thing it would do."""

    shell: Shell
    name: str
    instance: str | None = None
    topics: tuple[str, ...] = ("orders",)
    owned: set[TopicIdPartition] = field(default_factory=set)
    #: The topics as it knew them when it joined; clients join again when they change.
    seen: FixedTopics | None = None
    is_waiting: bool = False
    is_member: bool = False
    failed_with: int = 0

    def __post_init__(self) -> None:
        self.actor = Actor(
            self.shell, self.name, instance=self.instance, protocols=protocols("range", topics=self.topics)
        )

    @property
    def member_id(self) -> str:
        return self.actor.member_id

    def act(self) -> None:
        """Read the answer, if there is one, and go on."""
        if self.failed_with:
            return
        if not self.is_waiting:
            is_done = self.is_member and self.seen == self.shell.topics
            self._heartbeat() if is_done else self._join()
        elif self.actor.is_answered:
            self.is_waiting = False
            self._read(self.shell.answers[self.actor.token])

    def leave(self) -> None:
        """Go for good."""
        self.actor.leave()
        self.owned.clear()

    def hang_up(self) -> None:
        """The coordinator is gone, and with it what it was to answer."""
        self.is_waiting = False

    def _join(self) -> None:
        self.owned.clear()
        self.is_member = False
        self.is_waiting = True
        self.seen = self.shell.topics
        self.actor.send_join()

    def _heartbeat(self) -> None:
        self._mind(self.actor.heartbeat())

    def _read(self, response: object) -> None:
        if isinstance(response, JoinGroupResponse):
            self._read_join(response)
        elif isinstance(response, SyncGroupResponse):
            self._mind(response.error_code)
            if response.error_code == ErrorCode.NONE:
                self.is_member = True
                self.owned = self._partitions(response.assignment)

    def _read_join(self, response: JoinGroupResponse) -> None:
        self.actor.joined()
        if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.actor.member_id = response.member_id
            self._join()
        elif response.error_code == ErrorCode.NONE:
            self.is_waiting = True
            self.actor.sync(self._assignments(response))
        else:
            self._mind(response.error_code)

    def _mind(self, code: int) -> None:
        if code in FATAL:
            self.failed_with = code
        elif code == ErrorCode.UNKNOWN_MEMBER_ID:
            self.actor.member_id = ""
        if code != ErrorCode.NONE:
            self.is_member = False
            self.owned.clear()

    def _assignments(self, response: JoinGroupResponse) -> dict[str, bytes]:
        """Each topic round and round among those who want it."""
        wanted = {}
        for member in response.members:
            subscription = read_subscription(member.metadata)
            assert subscription is not None
            wanted[member.member_id] = subscription.topics
        parts: dict[str, list[ProtocolTopicPartitions]] = {member_id: [] for member_id in wanted}
        for name in sorted(self.shell.topics.names()):
            readers = sorted(member_id for member_id, topics in wanted.items() if name in topics)
            for number in range(self.shell.topics.partition_count(name) if readers else 0):
                part = ProtocolTopicPartitions(topic=name, partitions=(number,))
                parts[readers[number % len(readers)]].append(part)
        return {
            member_id: write_assignment(ConsumerProtocolAssignment(assigned_partitions=tuple(part)))
            for member_id, part in parts.items()
        }

    def _partitions(self, assignment: bytes) -> set[TopicIdPartition]:
        decoded = read_assignment(assignment)
        assert decoded is not None
        return {
            TopicIdPartition(self.shell.topics.id_of(of.topic), number)
            for of in decoded.assigned_partitions
            for number in of.partitions
            if self.shell.topics.has_partition(of.topic, number)
        }
