"""Tells stories of a group: reads commands, plays them against a shard, and writes down what everybody sees.

A story is a text of blocks, separated by empty lines. A block of lines that begin with ``#`` is prose. Any
other is some commands, a line ``----``, and what follows from them:

    join ann
    wait 3s
    ----
    ann <- MEMBER_ID_REQUIRED, id ann-1

Clients are named by whoever speaks of them first, and remember the id and generation they have learned.
What follows is told in the order it happens: what is written to the log, what clients are answered, how the
group's state changes.

Commands:

    join NAME [instance=I] [version=9] [protocols=range,sticky] [topics=orders,payments] [session=10s]
         [rebalance=60s]
    restart NAME                the client forgets its id and generation
    sync NAME [OTHER=ASSIGNMENT ...]
    heartbeat NAME ...
    leave NAME                  by its id;  "leave instance=I" by an administrator
    commit NAME TOPIC-PARTITION=OFFSET      "outside" is nobody's name
    transaction ID of NAME commits TOPIC-PARTITION=OFFSET
    transaction ID ends with commit|abort
    fetch TOPIC-PARTITION ... [stable]
    wait DURATION               "500ms", "3s", "10m", "8d"
    crash [SETTING=VALUE ...]   the coordinator dies and loads its log again
    show                        the group as DescribeGroups has it
    delete group | delete topic NAME

``consumer_story`` has those of clients that speak the consumer protocol.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.groups.actors import GROUP, Actor, protocols
from tests.groups.shell import Logged, Shell
from tests.scenarios.telling import meant_assignment, short, told_assignment, told_consumer_record

from penstock.coordinator.outcome import Outcome
from penstock.groups.records import (
    GroupMetadataRecord,
    GroupMetadataValue,
    GroupRecord,
    OffsetCommitRecord,
    decode,
)
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.delete_groups import DeleteGroupsRequest
from penstock.wire.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from penstock.wire.messages.join_group import JoinGroupResponse
from penstock.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from penstock.wire.messages.sync_group import SyncGroupResponse
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from penstock.wire.schema import Struct

UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
SEPARATOR = "----"


def retell(text: str, story: "Story | None" = None) -> str:
    """The same story with what really follows from its commands."""
    story = story or Story()
    return "\n\n".join(_retell_block(story, block) for block in text.strip().split("\n\n")) + "\n"


def _retell_block(story: "Story", block: str) -> str:
    if block.startswith("#"):
        return block
    commands = block.split(SEPARATOR)[0].strip()
    for command in commands.splitlines():
        story.play(command)
    return "\n".join([commands, SEPARATOR, *story.heard()])


def milliseconds(text: str) -> int:
    """A duration as people write it."""
    number, unit = re.fullmatch(r"(\d+)(\w+)", text).groups()  # type: ignore[union-attr]  # A bad story fails.
    return int(number) * UNITS[unit]


@dataclass
class TellingShell(Shell):
    """A shell that writes down what happens."""

    lines: list[str] = field(default_factory=list)
    #: Who sends the next request; and who sent those of the past.
    asker: str = ""
    askers: dict[int, str] = field(default_factory=dict)
    hear: Callable[[str, Struct], None] = lambda name, response: None
    state: str = "Dead"

    def take(self, outcome: Outcome) -> None:
        super().take(outcome)
        producer = (
            ""
            if outcome.transaction is None
            else f", if transaction {outcome.transaction.producer_id} commits"
        )
        for record in outcome.records:
            decoded = decode(record.key, record.value)
            assert decoded is not None
            self.lines.append(f"log <- {told_record(decoded)}{producer}")
        for reply in outcome.replies:
            if self.askers.get(reply.token):
                self.hear(self.askers[reply.token], reply.response)
        self._notice_state()

    def new_token(self) -> int:
        token = super().new_token()
        self.askers[token] = self.asker
        return token

    def _append(self, logged: Logged) -> None:
        super()._append(logged)
        if logged.record is None and logged.producer is not None:
            end = "commits" if logged.is_commit else "aborts"
            self.lines.append(f"log <- transaction {logged.producer.producer_id} {end}")

    def _notice_state(self) -> None:
        group = self.shard._state.groups.get(GROUP)
        state = "Dead" if group is None else group.state_name
        if state != self.state:
            self.lines.append(f"group: {self.state} -> {state}")
            self.state = state


def told_record(record: GroupRecord) -> str:
    """A record as a story tells it."""
    match record:
        case OffsetCommitRecord(key=key, value=value):
            end = "is forgotten" if value is None else f"= {value.offset}"
            return f"offset {key.topic}-{key.partition} {end}"
        case GroupMetadataRecord(value=generation):
            return "group is deleted" if generation is None else _told_generation(generation)
        case _:
            return told_consumer_record(record)


def _told_generation(value: GroupMetadataValue) -> str:
    members = "; ".join(
        f"{short(member.member_id)} has {told_assignment(member.assignment)}" for member in value.members
    )
    leader = short(value.leader or "nobody yet")
    who = f"{value.protocol}, led by {leader}: {members}" if members else "nobody"
    return f"generation {value.generation}, {who}"


class Story:
    """One story being told."""

    def __init__(self) -> None:
        self.shell = TellingShell()
        self.shell.hear = self._tell
        self.actors: dict[str, Actor] = {}

    def play(self, command: str) -> None:
        """Do what a line says."""
        verb, *words = command.split()
        options = dict(word.split("=", 1) for word in words if "=" in word)
        names = [word for word in words if "=" not in word]
        getattr(self, f"_{verb}")(names, options)

    def heard(self) -> list[str]:
        """What has followed since this was last asked."""
        lines, self.shell.lines = self.shell.lines, []
        return [short(line) for line in lines]

    def _actor(self, name: str) -> Actor:
        return self.actors.setdefault(name, Actor(self.shell, name))

    def _send(self, name: str, request: Struct, version: int) -> None:
        self.shell.asker = name
        self.shell.send(request, version=version)

    def _tell(self, name: str, response: Struct) -> None:
        told = self._told(name, response)
        self.shell.lines.append(f"{name} <- {told}")

    def _told(self, name: str, response: Struct) -> str:
        match response:
            case JoinGroupResponse():
                return self._told_join(self._actor(name), response)
            case SyncGroupResponse(error_code=ErrorCode.NONE, assignment=assignment):
                return f"assigned {told_assignment(assignment)}"
            case OffsetFetchResponse(topics=topics):
                return ", ".join(
                    f"{topic.name}-{each.partition_index}: "
                    + (ErrorCode(each.error_code).name if each.error_code else str(each.committed_offset))
                    for topic in topics
                    for each in topic.partitions
                )
            case OffsetCommitResponse(topics=topics) | TxnOffsetCommitResponse(topics=topics):
                return _verdict(topics[0].partitions[0].error_code)
        members = getattr(response, "members", None) or getattr(response, "results", None)
        return _verdict(members[0].error_code if members else getattr(response, "error_code", 0))

    def _told_join(self, actor: Actor, response: JoinGroupResponse) -> str:
        code = ErrorCode(response.error_code)
        if code is ErrorCode.MEMBER_ID_REQUIRED:
            actor.member_id = response.member_id
            return f"{code.name}, id {response.member_id}"
        if code is not ErrorCode.NONE:
            return code.name
        actor.member_id, actor.generation = response.member_id, response.generation_id
        members = ", ".join(member.member_id for member in response.members)
        leads = f", to assign: {members}" if members else f", led by {response.leader or 'nobody'}"
        leads += ", but not now" if response.skip_assignment else ""
        return f"{response.member_id} in generation {response.generation_id}, {response.protocol_name}{leads}"

    def _join(self, names: list[str], options: dict[str, str]) -> None:
        for name in names:
            actor = self._actor(name)
            _configure(actor, options)
            self.shell.asker = name
            actor.send_join()

    def _restart(self, names: list[str], options: dict[str, str]) -> None:
        for name in names:
            self._actor(name).member_id, self._actor(name).generation = "", -1

    def _sync(self, names: list[str], options: dict[str, str]) -> None:
        assignments = {
            self._actor(name).member_id: meant_assignment(value) for name, value in options.items()
        }
        for name in names:
            self.shell.asker = name
            self._actor(name).sync(assignments)

    def _heartbeat(self, names: list[str], options: dict[str, str]) -> None:
        for name in names:
            self.shell.asker = name
            self._actor(name).heartbeat()

    def _leave(self, names: list[str], options: dict[str, str]) -> None:
        name = names[0] if names else "admin"
        member_id = self._actor(name).member_id if names else ""
        identity = MemberIdentity(member_id=member_id, group_instance_id=options.get("instance"))
        request = LeaveGroupRequest(group_id=GROUP, members=(identity,))
        self._send(name, request, 5)

    def _commit(self, names: list[str], options: dict[str, str]) -> None:
        ((partition, offset),) = options.items()
        topic, index = partition.rsplit("-", 1)
        name = names[0]
        is_member = name != "outside"
        wanted = OffsetCommitRequestPartition(partition_index=int(index), committed_offset=int(offset))
        request = OffsetCommitRequest(
            group_id=GROUP,
            generation_id_or_member_epoch=self._actor(name).generation if is_member else -1,
            member_id=self._actor(name).member_id if is_member else "",
            group_instance_id=self._actor(name).instance,
            topics=(OffsetCommitRequestTopic(name=topic, partitions=(wanted,)),),
        )
        self._send(name, request, 8)

    def _transaction(self, names: list[str], options: dict[str, str]) -> None:
        producer_id = int(names[0])
        if names[1:3] == ["ends", "with"]:
            self.shell.end_transaction(producer_id, is_commit=names[3] == "commit")
            return
        ((partition, offset),) = options.items()
        topic, index = partition.rsplit("-", 1)
        actor = self._actor(names[2])
        wanted = TxnOffsetCommitRequestPartition(partition_index=int(index), committed_offset=int(offset))
        request = TxnOffsetCommitRequest(
            transactional_id="copy",
            group_id=GROUP,
            producer_id=producer_id,
            generation_id=actor.generation,
            member_id=actor.member_id,
            topics=(TxnOffsetCommitRequestTopic(name=topic, partitions=(wanted,)),),
        )
        self._send(actor.name, request, 3)

    def _fetch(self, names: list[str], options: dict[str, str]) -> None:
        is_stable = "stable" in names
        topics = []
        for name in names:
            if name != "stable":
                topic, index = name.rsplit("-", 1)
                topics.append(OffsetFetchRequestTopic(name=topic, partition_indexes=(int(index),)))
        request = OffsetFetchRequest(group_id=GROUP, topics=tuple(topics), require_stable=is_stable)
        self._send("reader", request, 7)

    def _wait(self, names: list[str], options: dict[str, str]) -> None:
        self.shell.wait(milliseconds(names[0]))

    def _crash(self, names: list[str], options: dict[str, str]) -> None:
        self.shell.askers.clear()
        self.shell.with_settings(**{name: int(value) for name, value in options.items()})

    def _show(self, names: list[str], options: dict[str, str]) -> None:
        request = DescribeGroupsRequest(groups=(GROUP,))
        self.shell.asker = ""
        (group,) = self.shell.ask(DescribeGroupsResponse, request, version=6).groups
        self.shell.lines.append(f"{group.group_state} {group.protocol_data}".strip())
        for member in group.members:
            assignment = told_assignment(member.member_assignment)
            self.shell.lines.append(f"  {member.member_id} has {assignment}")

    def _delete(self, names: list[str], options: dict[str, str]) -> None:
        if names[0] == "topic":
            self.shell.delete_topics(names[1])
            return
        request = DeleteGroupsRequest(groups_names=(GROUP,))
        self._send("admin", request, 2)


def _verdict(code: int) -> str:
    return "fine" if code == ErrorCode.NONE else ErrorCode(code).name


def _configure(actor: Actor, options: dict[str, str]) -> None:
    """What is said once is remembered."""
    actor.instance = options.get("instance", actor.instance)
    actor.version = int(options.get("version", actor.version))
    actor.session_ms = milliseconds(options.get("session", f"{actor.session_ms}ms"))
    actor.rebalance_ms = milliseconds(options.get("rebalance", f"{actor.rebalance_ms}ms"))
    if "protocols" in options or "topics" in options:
        names = options.get("protocols", ",".join(protocol.name for protocol in actor.protocols))
        topics = tuple(options.get("topics", "orders").split(","))
        actor.protocols = protocols(*names.split(","), topics=topics)
