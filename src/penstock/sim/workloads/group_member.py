"""A consumer in a group: it reads what it owns, commits how far it got, leaves now and then."""

from dataclasses import dataclass

from penstock.model.error_codes import ErrorCode
from penstock.sim.workloads.connection import Unanswered
from penstock.sim.workloads.fetching import fetch
from penstock.sim.workloads.group_offsets import (
    COMMIT_VERSION,
    commit_code,
    commit_request,
    fetch_offsets,
)
from penstock.sim.workloads.history import UNCOMMITTED, Ending, Function
from penstock.sim.workloads.membership import GroupSettings, Membership
from penstock.sim.workloads.producing import GROUP
from penstock.sim.workloads.verdicts import end_unanswered, end_with_code
from penstock.sim.workloads.workload import Workload, WorkloadSurroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSettings:
    """What it does."""

    group: GroupSettings
    pause_seconds: float = 0.2
    #: The chance to leave in each round.
    leave_share: float = 0.02


class GroupMember(Workload):
    """Joins, consumes, and joins again when it has to."""

    def __init__(self, around: WorkloadSurroundings, settings: MemberSettings) -> None:
        super().__init__(around)
        self._settings = settings
        self._topic = settings.group.topic
        self._membership = Membership(self, settings.group)
        self._positions: dict[int, int] = {}
        #: Whether the last round over all its partitions found nothing new.
        self._has_caught_up = False

    async def run(self) -> None:
        """Be a member until it is over and everything is committed, then leave."""
        while not (self.is_over and self._has_caught_up):
            await self.pause(self._settings.pause_seconds)
            if await self._membership.join() and await self._find_positions():
                await self._consume()
        await self._membership.leave()

    async def _find_positions(self) -> bool:
        """Where the group stopped; False when that cannot be known now."""
        group, partitions = self._settings.group.group, self._membership.partitions
        if not partitions:
            self._positions = {}
            return True
        asked = [
            self.history.begin(self.process, Function.FETCH_OFFSET, f"{group}/{self._topic}-{partition}")
            for partition in partitions
        ]
        try:
            found = await fetch_offsets(self.client, group, self._topic, partitions)
        except Unanswered as error:
            for operation in asked:
                self.history.end(operation, Ending.FAIL, str(error))
            return False
        if isinstance(found, ErrorCode):
            for operation in asked:
                self.history.end(operation, Ending.FAIL, found.name)
            return False
        for operation, partition in zip(asked, partitions, strict=True):
            operation.offset = found[partition]
            self.history.end(operation, Ending.OK)
        self._positions = {partition: max(0, found[partition]) for partition in partitions}
        return True

    async def _consume(self) -> None:
        while await self._membership.heartbeat():
            if self.draw.random() < self._settings.leave_share:
                await self._membership.leave()
                return
            self._has_caught_up = True
            for partition in self._positions:
                if not await self._advance(partition):
                    return
            if self._has_caught_up:
                self.on_progress()
            if self.is_over and self._has_caught_up:
                return
            await self.pause(self._settings.pause_seconds)

    async def _advance(self, partition: int) -> bool:
        """Read on in one partition and commit; False when the membership must be renewed."""
        has_caught_up, self._has_caught_up = self._has_caught_up, False
        position = self._positions[partition]
        operation = self.history.begin(
            self.process,
            Function.POLL,
            f"{self._topic}-{partition}",
            offset=position,
            context=f"{UNCOMMITTED} member",
        )
        try:
            found = await fetch(self.client, self._topic, partition, position, UNCOMMITTED)
        except Unanswered as error:
            end_unanswered(self.history, operation, error)
            return True
        if found.error_code:
            self.history.end(operation, Ending.FAIL, ErrorCode(found.error_code).name)
            return True
        operation.value = found.records
        self.history.end(operation, Ending.OK)
        if found.next_offset == position:
            self._has_caught_up = has_caught_up
            return True
        self._positions[partition] = found.next_offset
        return await self._commit(partition, found.next_offset)

    async def _commit(self, partition: int, offset: int) -> bool:
        """An unclear commit could take effect after the next one, so the next generation is joined first."""
        group = self._settings.group.group
        operation = self.history.begin(
            self.process, Function.COMMIT_OFFSET, f"{group}/{self._topic}-{partition}", offset=offset
        )
        request = commit_request(
            group,
            self._topic,
            {partition: offset},
            member_id=self._membership.member_id,
            generation=self._membership.generation,
        )
        try:
            code = commit_code(await self.client.ask_coordinator(GROUP, group, request, COMMIT_VERSION))
        except Unanswered as error:
            end_unanswered(self.history, operation, error)
            self.client.forget_coordinator(GROUP, group)
            return False
        end_with_code(self.history, operation, code)
        self._membership.note_error(code)
        if operation.is_ok:
            self.on_progress()
        return operation.is_ok
