"""The transactions that a batch consists of: whether they are open, and that they end as decided."""

from collections.abc import Collection, Iterable, Sequence

from penstock.model.error_codes import ErrorCode
from penstock.spark.writing.ledger import Part
from penstock.spark.writing.sinks import PLACE, Sink
from penstock.wire_client.errors import NotServedError, check
from penstock.wire_client.group_offsets import CommittedOffset, stable_offset
from penstock.wire_client.known_coordinators import KnownCoordinators
from penstock.wire_client.transaction_ends import end_codes
from penstock.wire_client.transactions import (
    FENCED,
    Transaction,
    add_group,
    commit_offsets,
    describe,
    own,
)

_ONGOING = "Ongoing"
_COMMITTED = "CompleteCommit"

_OVER = FENCED | {ErrorCode.INVALID_TXN_STATE, ErrorCode.INVALID_PRODUCER_ID_MAPPING}
"""Answers to a commit that leave open whether the transaction was committed before or aborted."""


class BatchParts:
    """The parts of one batch of one sink."""

    def __init__(self, coordinators: KnownCoordinators, sink: Sink, batch: int) -> None:
        self._coordinators = coordinators
        self._sink = sink
        self._batch = batch

    def mark(self, part: Part) -> None:
        """Leave the number of the batch in the transaction itself, to be seen if and only if it commits."""
        group, transaction = self._sink.task_id(part.task), self._transaction(part)
        add_group(self._coordinators, transaction, group)
        offsets = {PLACE: CommittedOffset(self._batch)}
        commit_offsets(self._coordinators, transaction, group, offsets=offsets)

    def commit(self, parts: Iterable[Part]) -> list[Part]:
        """Commit what was decided, however often that was tried before; returns the parts that are lost.

        A lost one was aborted: by its timeout, or because somebody else became the owner of its id.
        """
        wanted = list(parts)
        codes = end_codes(self._coordinators, [self._transaction(part) for part in wanted], is_commit=True)
        lost = []
        for part, code in zip(wanted, codes, strict=True):
            if code not in _OVER:
                check(code, doing=f"commit transaction {self._sink.task_id(part.task)!r}")
            elif not self._is_marked(part):
                lost.append(part)
        return lost

    def complete(self, parts: Sequence[Part]) -> list[Part]:
        """What ``commit`` does, for parts of which most are committed: one look finds those that are not.

        A run that died while it wrote the next batch has left transactions open under the same ids. They hide
        what became of the parts, and are nobody's any more: they are aborted.
        """
        tasks = [part.task for part in parts]
        ended = self._producers(tasks, _COMMITTED) or {}
        open_now = self._producers(tasks, _ONGOING) or {}
        self._fence(part.task for part in parts if open_now.get(part.task, part.producer) != part.producer)
        return self.commit(part for part in parts if ended.get(part.task) != part.producer)

    def abort(self, parts: Iterable[Part]) -> None:
        """Abort what was not decided; what is over already stays as it is."""
        wanted = list(parts)
        codes = end_codes(self._coordinators, [self._transaction(part) for part in wanted], is_commit=False)
        for part, code in zip(wanted, codes, strict=True):
            if code not in _OVER:
                check(code, doing=f"abort transaction {self._sink.task_id(part.task)!r}")

    def not_open(self, parts: Sequence[Part], *, task_count: int) -> list[Part]:
        """Those whose transaction is no longer open. What others left open is aborted.

        Brokers that cannot be asked are believed.
        """
        known = range(max(task_count, 1 + max(part.task for part in parts)))
        open_now = self._producers(known, _ONGOING)
        if open_now is None:
            return []
        self._fence(set(open_now) - {part.task for part in parts})
        return [part for part in parts if open_now.get(part.task) != part.producer]

    def abort_left_open(self, tasks: Collection[int]) -> None:
        """Abort what tasks have open that told nothing about it; if they still run, they are fenced."""
        self._fence(self._producers(tasks, _ONGOING) or ())

    def _fence(self, tasks: Iterable[int]) -> None:
        for task in sorted(tasks):
            own(self._coordinators, self._sink.task_id(task))

    def _producers(self, of_tasks: Iterable[int], state_name: str) -> dict[int, tuple[int, int]] | None:
        """Whose transaction is in that state, by task; None if brokers cannot be asked."""
        tasks = {self._sink.task_id(task): task for task in of_tasks}
        try:
            states = describe(self._coordinators, list(tasks))
        except NotServedError:
            return None
        return {
            tasks[name]: (state.producer_id, state.producer_epoch)
            for name, state in states.items()
            if state.transaction_state == state_name
        }

    def _is_marked(self, part: Part) -> bool:
        found = stable_offset(self._coordinators, self._sink.task_id(part.task), PLACE)
        return found is not None and found.offset == self._batch

    def _transaction(self, part: Part) -> Transaction:
        return Transaction(self._sink.task_id(part.task), part.producer)
