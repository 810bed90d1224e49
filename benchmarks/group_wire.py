"""Members of groups without a client library: connections that speak through our own codecs."""

import asyncio
import itertools
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Self

from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import decode_response, encode_request
from penstock.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from penstock.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from penstock.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from penstock.wire.schema import Struct

ANSWER_SECONDS_MAX = 60.0
SESSION_TIMEOUT_MS = 45_000
REBALANCE_TIMEOUT_MS = 60_000
PROTOCOL_TYPE, PROTOCOL = "consumer", "range"
JOIN_VERSION, SYNC_VERSION, HEARTBEAT_VERSION = 9, 5, 1


class WireConnection:
    """One socket; a request may be sent long before its answer is read."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._numbers = itertools.count(1)

    @classmethod
    async def open(cls, bootstrap_server: str) -> Self:
        """Connect."""
        host, _, port = bootstrap_server.rpartition(":")
        return cls(*await asyncio.open_connection(host, int(port)))

    async def call(self, api: ApiKey, version: int, message: Struct) -> Any:
        """Send and wait for the answer."""
        self.send(api, version, message)
        return await self.receive(api, version)

    def send(self, api: ApiKey, version: int, message: Struct) -> None:
        """Leave it to the kernel, without waiting."""
        self._writer.write(encode_request(api, version, next(self._numbers), message, client_id="bench"))

    async def receive(self, api: ApiKey, version: int) -> Any:
        """The next answer; they come in the order of the requests."""
        async with asyncio.timeout(ANSWER_SECONDS_MAX):
            size = int.from_bytes(await self._reader.readexactly(4), "big")
            frame = await self._reader.readexactly(size)
        return decode_response(api, version, frame)[1]

    async def close(self) -> None:
        """Hang up."""
        self._writer.close()
        await self._writer.wait_closed()


class ClassicMember:
    """A member that joins, and assigns when it is the leader."""

    def __init__(self, connection: WireConnection, group: str, topic: str) -> None:
        self.connection = connection
        self.member_id = ""
        self.assignment: bytes = b""
        self._group = group
        self._topic = topic
        self._joined: JoinGroupResponse | None = None

    @property
    def is_leader(self) -> bool:
        """Of the generation it joined last."""
        return self._joined is not None and self._joined.leader == self.member_id

    async def introduce(self) -> None:
        """Get a member id."""
        self.send_join()
        answer = await self.connection.receive(ApiKey.JOIN_GROUP, JOIN_VERSION)
        assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED, ErrorCode(answer.error_code).name
        self.member_id = answer.member_id

    def send_join(self) -> None:
        """Ask to be in the next generation."""
        subscription = (
            struct.pack(">hih", 0, 1, len(self._topic)) + self._topic.encode() + struct.pack(">i", -1)
        )
        request = JoinGroupRequest(
            group_id=self._group,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            member_id=self.member_id,
            protocol_type=PROTOCOL_TYPE,
            protocols=(JoinGroupRequestProtocol(name=PROTOCOL, metadata=subscription),),
        )
        self.connection.send(ApiKey.JOIN_GROUP, JOIN_VERSION, request)

    async def finish_round(self, partitions: int) -> None:
        """Read the answer to a join, assign if it falls to us, and get our part."""
        joined: JoinGroupResponse = await self.connection.receive(ApiKey.JOIN_GROUP, JOIN_VERSION)
        check(joined.error_code)
        self._joined = joined
        request = SyncGroupRequest(
            group_id=self._group,
            generation_id=joined.generation_id,
            member_id=self.member_id,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=PROTOCOL,
            assignments=self._deal(joined, partitions) if self.is_leader else (),
        )
        answer: SyncGroupResponse = await self.connection.call(ApiKey.SYNC_GROUP, SYNC_VERSION, request)
        check(answer.error_code)
        self.assignment = bytes(answer.assignment)

    def _deal(self, joined: JoinGroupResponse, partitions: int) -> tuple[SyncGroupRequestAssignment, ...]:
        name = struct.pack(">h", len(self._topic)) + self._topic.encode()
        count = len(joined.members)
        dealt = []
        for index, member in enumerate(joined.members):
            numbers = range(index, partitions, count)
            part = struct.pack(f">{len(numbers) + 1}i", len(numbers), *numbers)
            assignment = struct.pack(">hi", 0, 1) + name + part + struct.pack(">i", -1)
            dealt.append(SyncGroupRequestAssignment(member_id=member.member_id, assignment=assignment))
        return tuple(dealt)


class ModernMember:
    """A member of the consumer protocol: heartbeats, and takes and gives back what it is told to."""

    def __init__(self, connection: WireConnection, group: str, topic: str, member_id: str) -> None:
        self.connection = connection
        self.member_id = member_id
        self.epoch = 0
        self.owned: Mapping[bytes, tuple[int, ...]] = {}
        self.heartbeats = 0
        self._group = group
        self._topic = topic

    def send_join(self) -> None:
        """Say everything, as a member does that is new."""
        self._send(
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            subscribed_topic_names=(self._topic,),
            topic_partitions=(),
        )

    async def heartbeat(self) -> bool:
        """Say what we own; whether anything changed by the answer."""
        self._send(topic_partitions=tuple(_named(self.owned)))
        return await self.take_answer()

    async def take_answer(self) -> bool:
        """Follow the answer at once: what it takes away is given back, what it gives is taken."""
        answer: ConsumerGroupHeartbeatResponse = await self.connection.receive(
            ApiKey.CONSUMER_GROUP_HEARTBEAT, HEARTBEAT_VERSION
        )
        check(answer.error_code)
        before = self.epoch, self.owned
        self.epoch = answer.member_epoch
        if answer.assignment is not None:
            self.owned = {bytes(one.topic_id): one.partitions for one in answer.assignment.topic_partitions}
        return (self.epoch, self.owned) != before

    def _send(self, **fields: Any) -> None:
        self.heartbeats += 1
        request = ConsumerGroupHeartbeatRequest(
            group_id=self._group, member_id=self.member_id, member_epoch=self.epoch, **fields
        )
        self.connection.send(ApiKey.CONSUMER_GROUP_HEARTBEAT, HEARTBEAT_VERSION, request)

    @property
    def partition_count(self) -> int:
        """How many it owns."""
        return sum(map(len, self.owned.values()))


def _named(owned: Mapping[bytes, Sequence[int]]) -> list[TopicPartitions]:
    return [TopicPartitions(topic_id=topic, partitions=tuple(numbers)) for topic, numbers in owned.items()]


def check(error_code: int) -> None:
    """A benchmark has no use for errors."""
    if error_code != ErrorCode.NONE:
        raise SystemExit(f"the broker answered {ErrorCode(error_code).name}")
