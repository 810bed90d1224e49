"""Reading everything when all is quiet: topics, logs in both isolations, offsets of groups."""

import asyncio
from collections.abc import Iterable

from penstock.metadata.resources import ResourceType
from penstock.model.error_codes import ErrorCode
from penstock.records.batch import BatchHeader
from penstock.sim.checkers.evidence import FinalLog
from penstock.sim.workloads.administrator import MIN_IN_SYNC
from penstock.sim.workloads.client import Client
from penstock.sim.workloads.connection import Unanswered
from penstock.sim.workloads.fetching import fetch
from penstock.sim.workloads.group_offsets import fetch_offsets
from penstock.sim.workloads.history import COMMITTED, UNCOMMITTED
from penstock.sim.workloads.membership import GroupSettings
from penstock.sim.workloads.producing import GROUP
from penstock.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource

DESCRIBE_CONFIGS_VERSION = 4
RETRY_SECONDS = 0.1


class FinalReading:
    """What the cluster holds; filled by ``read``, which does not end before everything is readable."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.logs: dict[str, FinalLog] = {}
        self.offsets: dict[str, int] = {}
        self.topics: dict[str, int] = {}
        self.replicas: dict[str, tuple[int, ...]] = {}
        #: By topic/setting.
        self.configs: dict[str, str | None] = {}
        self.is_complete = False
        #: What it is waiting for, for whoever finds that it takes too long.
        self.waits_for = ""

    async def read(self, topics: Iterable[str], groups: Iterable[GroupSettings]) -> None:
        """Read it all."""
        await self._read_topics()
        for topic in topics:
            await self._read_configs(topic)
            for partition in range(self.topics.get(topic, 0)):
                await self._read_log(topic, partition)
        for group in groups:
            await self._read_offsets(group)
        self.is_complete = True

    async def _read_topics(self) -> None:
        self.waits_for = "metadata"
        while True:
            try:
                await self._client.refresh()
            except Unanswered:
                await asyncio.sleep(RETRY_SECONDS)
            else:
                self.topics = dict(self._client.partition_counts)
                self.replicas = dict(self._client.replicas)
                return

    async def _read_configs(self, topic: str) -> None:
        self.waits_for = f"the settings of {topic}"
        resource = DescribeConfigsResource(
            resource_type=ResourceType.TOPIC, resource_name=topic, configuration_keys=(MIN_IN_SYNC,)
        )
        request = DescribeConfigsRequest(resources=(resource,))
        while True:
            try:
                (found,) = (await self._client.ask_any(request, DESCRIBE_CONFIGS_VERSION)).results
            except Unanswered:
                found = None
            if found is not None and found.error_code == ErrorCode.NONE:
                self.configs.update({f"{topic}/{each.name}": each.value for each in found.configs})
                return
            await asyncio.sleep(RETRY_SECONDS)

    async def _read_log(self, topic: str, partition: int) -> None:
        name = f"{topic}-{partition}"
        self.waits_for = f"the records of {name}"
        start, end, records, headers = await self._read_all(topic, partition, UNCOMMITTED)
        self.waits_for = f"the committed records of {name}, up to {end}"
        _, _, committed, _ = await self._read_all(topic, partition, COMMITTED)
        self.logs[name] = FinalLog(
            log_start_offset=start,
            high_watermark=end,
            records=tuple(records),
            committed=tuple(committed),
            headers=tuple(headers),
        )

    async def _read_all(
        self, topic: str, partition: int, isolation: str
    ) -> tuple[int, int, list[tuple[int, str]], list[BatchHeader]]:
        """Everything up to the high watermark; readers of committed records wait for open transactions."""
        position = 0
        records: list[tuple[int, str]] = []
        headers: list[BatchHeader] = []
        while True:
            try:
                found = await fetch(self._client, topic, partition, position, isolation)
            except Unanswered:
                await asyncio.sleep(RETRY_SECONDS)
                continue
            if found.error_code:
                self.waits_for = f"{topic}-{partition} ({ErrorCode(found.error_code).name} at {position})"
                await asyncio.sleep(RETRY_SECONDS)
                continue
            records += found.records
            headers += found.headers
            position = found.next_offset
            if position >= found.high_watermark:
                return found.log_start_offset, found.high_watermark, records, headers

    async def _read_offsets(self, group: GroupSettings) -> None:
        partitions = tuple(range(group.partition_count))
        self.waits_for = f"the offsets of {group.group}"
        while True:
            try:
                found = await fetch_offsets(self._client, group.group, group.topic, partitions)
            except Unanswered:
                found = ErrorCode.COORDINATOR_NOT_AVAILABLE
            if not isinstance(found, ErrorCode):
                break
            self._client.forget_coordinator(GROUP, group.group)
            await asyncio.sleep(RETRY_SECONDS)
        for partition, offset in found.items():
            self.offsets[f"{group.group}/{group.topic}-{partition}"] = offset
