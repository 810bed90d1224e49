"""Exactly once: a member of a group copies a topic, in transactions that hold how far it has read."""

from dataclasses import dataclass

from penstock.model.error_codes import ErrorCode
from penstock.sim.workloads.connection import Unanswered
from penstock.sim.workloads.fetching import Fetched, fetch
from penstock.sim.workloads.group_offsets import commit_code, fetch_offsets
from penstock.sim.workloads.history import COMMITTED, Ending, Function
from penstock.sim.workloads.membership import GroupSettings, Membership
from penstock.sim.workloads.producing import GROUP, TRANSACTION
from penstock.sim.workloads.transaction import (
    ABORT,
    ATTEMPTS_MAX,
    COMMIT,
    RETRY_SECONDS,
    TransactionEnds,
    TransactionLost,
    TransactionSettings,
)
from penstock.sim.workloads.verdicts import RETRIABLE
from penstock.sim.workloads.workload import Workload, WorkloadSurroundings
from penstock.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

OFFSET_VERSIONS = (4, 5)
ADD_OFFSETS_VERSION = 4
HURRY_SECONDS = 0.02
BATCH_RECORDS_MAX = 10
"""Small enough for the smallest segment that a plan draws."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopierSettings:
    """What it copies, and as whom."""

    group: GroupSettings
    target: str
    transactions: TransactionSettings
    pause_seconds: float = 0.2
    #: The chance to abort a copy on purpose.
    abort_share: float = 0.1


class Copier(Workload):
    """Reads committed records of a source, writes them to the partition of the same number of a target."""

    def __init__(self, around: WorkloadSurroundings, settings: CopierSettings) -> None:
        super().__init__(around)
        self._settings = settings
        self._source = settings.group.topic
        self._membership = Membership(self, settings.group)
        self._transaction = TransactionEnds(self, settings.transactions)
        self._positions: dict[int, int] = {}
        #: Whether the last round over all its partitions found nothing to copy.
        self._has_caught_up = False

    async def run(self) -> None:
        """Copy until it is over and everything is copied, then leave."""
        while not (self.is_over and self._has_caught_up):
            await self.pause(self._settings.pause_seconds)
            # What an earlier transaction came to must be settled before the offsets mean anything.
            if not await self._transaction.prepare():
                continue
            if await self._membership.join() and await self._find_positions():
                await self._copy_while_member()
        await self._membership.leave()

    async def _find_positions(self) -> bool:
        group, partitions = self._settings.group.group, self._membership.partitions
        self._positions = {}
        if not partitions:
            return True
        for _ in range(ATTEMPTS_MAX):
            try:
                found = await fetch_offsets(self.client, group, self._source, partitions)
            except Unanswered:
                return False
            if not isinstance(found, ErrorCode):
                self._positions = {partition: max(0, found[partition]) for partition in partitions}
                return True
            if found is not ErrorCode.UNSTABLE_OFFSET_COMMIT or not await self._membership.heartbeat():
                return False
            await self.pause(self._settings.pause_seconds)
        return False

    async def _copy_while_member(self) -> None:
        while await self._membership.heartbeat():
            self.on_progress()
            self._has_caught_up = True
            for partition in self._positions:
                if not await self._advance(partition):
                    return
            if self.is_over and self._has_caught_up:
                return
            await self.pause(self._settings.pause_seconds if self._has_caught_up else HURRY_SECONDS)

    async def _advance(self, partition: int) -> bool:
        """Copy what is new in one partition; False when the positions cannot be trusted any more."""
        try:
            found = await fetch(self.client, self._source, partition, self._positions[partition], COMMITTED)
        except Unanswered:
            self._has_caught_up = False
            return True
        if not found.error_code and found.next_offset == self._positions[partition]:
            return True
        self._has_caught_up = False
        if found.error_code or not await self._transaction.begin():
            return True
        try:
            await self._copy(partition, found)
        except TransactionLost:
            await self._transaction.end(ABORT)
            self._transaction.abandon()
            return False
        if self.draw.random() < self._settings.abort_share:
            await self._transaction.end(ABORT)
            return True
        if not await self._transaction.end(COMMIT):
            return False
        self._positions[partition] = found.next_offset
        return True

    async def _copy(self, partition: int, found: Fetched) -> None:
        values = [value for _, value in found.records]
        for start in range(0, len(values), BATCH_RECORDS_MAX):
            batch = values[start : start + BATCH_RECORDS_MAX]
            await self._transaction.send(self._settings.target, partition, batch)
        await self._commit_offset(partition, found.next_offset)

    async def _commit_offset(self, partition: int, offset: int) -> None:
        group = self._settings.group.group
        operation = self.history.begin(
            self.process,
            Function.COMMIT_OFFSET,
            f"{group}/{self._source}-{partition}",
            offset=offset,
            context=self._transaction.name,
        )
        try:
            if not self._transaction.is_modern:
                await self._announce_offsets()
            self._transaction.mark_begun()
            await self._write_offset(partition, offset)
        except TransactionLost as error:
            self.history.end(operation, Ending.INFO, str(error))
            raise
        self.history.end(operation, Ending.OK)

    async def _announce_offsets(self) -> None:
        identity, settings = self._transaction.identity, self._settings
        request = AddOffsetsToTxnRequest(
            transactional_id=settings.transactions.transactional_id,
            producer_id=identity.producer_id,
            producer_epoch=identity.epoch,
            group_id=settings.group.group,
        )
        for _ in range(ATTEMPTS_MAX):
            answer = await self._transaction.ask(
                request, ADD_OFFSETS_VERSION, TRANSACTION, request.transactional_id
            )
            if answer.error_code == ErrorCode.NONE:
                return
            await self._try_again_after(answer.error_code)
        raise TransactionLost("offsets were not announced")

    async def _write_offset(self, partition: int, offset: int) -> None:
        identity, settings = self._transaction.identity, self._settings
        wanted = TxnOffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)
        request = TxnOffsetCommitRequest(
            transactional_id=settings.transactions.transactional_id,
            group_id=settings.group.group,
            producer_id=identity.producer_id,
            producer_epoch=identity.epoch,
            generation_id=self._membership.generation,
            member_id=self._membership.member_id,
            topics=(TxnOffsetCommitRequestTopic(name=self._source, partitions=(wanted,)),),
        )
        version = OFFSET_VERSIONS[self._transaction.is_modern]
        for _ in range(ATTEMPTS_MAX):
            code = commit_code(await self._transaction.ask(request, version, GROUP, settings.group.group))
            if code == ErrorCode.NONE:
                return
            self._membership.note_error(code)
            await self._try_again_after(code)
        raise TransactionLost("offsets were not written")

    async def _try_again_after(self, code: int) -> None:
        if ErrorCode(code) not in RETRIABLE:
            raise TransactionLost(ErrorCode(code).name)
        self.client.forget_coordinator(GROUP, self._settings.group.group)
        self.client.forget_coordinator(TRANSACTION, self._settings.transactions.transactional_id)
        await self.pause(RETRY_SECONDS)
