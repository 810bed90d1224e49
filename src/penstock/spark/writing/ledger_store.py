"""The ledger of a sink where it is kept, and the rules by which it changes.

It is only ever written within a transaction of the sink's driver id. To *claim* a sink is to become the owner
of that id, which ends whatever decision was under way, well or not; then to read; then to write down the
run. So a run that has read the ledger after its claim knows of every decision that was ever made before, and
that none will be made any more by others. Whoever decides does so under the identity of the claim in force:
if there is another claim by then, the coordinator refuses.
"""

import random
import time
from collections.abc import Callable
from dataclasses import replace

from penstock.model.error_codes import ErrorCode
from penstock.spark.writing.errors import ExactlyOnceError, StaleRunError
from penstock.spark.writing.ledger import (
    Holder,
    Ledger,
    LedgerError,
    Part,
    chunk_count,
    decode_ledger,
    encode_ledger,
    first_ledger,
)
from penstock.spark.writing.sinks import PLACE, RESERVED_TOPIC, Sink
from penstock.wire_client.errors import RefusedError, WireClientError
from penstock.wire_client.group_offsets import CommittedOffset, stable_offset
from penstock.wire_client.known_coordinators import KnownCoordinators
from penstock.wire_client.patience import Patience
from penstock.wire_client.topic_creation import ensure_topic
from penstock.wire_client.transactions import (
    FENCED,
    Transaction,
    add_group,
    commit,
    commit_offsets,
    own,
)

DECISION_TIMEOUT_MS = 60_000
"""Of the transactions in which ledgers are written, which take milliseconds."""

_SETTLING = Patience(seconds_max=1.0)
"""For a decision that was just made to be seen everywhere; longer means that its maker is gone."""

_WHOLE = Patience(seconds_max=10.0)
"""For a ledger of several chunks that is being written just now."""

_CLAIMS_MAX = 20
_PAUSE_SECONDS = 0.05

_SUPERSEDED = FENCED | {ErrorCode.INVALID_PRODUCER_ID_MAPPING, ErrorCode.INVALID_TXN_STATE}
"""Codes that mean that an identity is not, or no longer, the one that may write the ledger."""


BeforeClaim = Callable[[Ledger], Ledger]
"""Given the ledger as it was found, the one to claim."""


def _as_it_is(ledger: Ledger) -> Ledger:
    return ledger


class LedgerStore:
    """Reads, claims and decides for one sink."""

    def __init__(self, coordinators: KnownCoordinators, sink: Sink) -> None:
        self._coordinators = coordinators
        self._sink = sink

    def read(self, patience: Patience | None = None) -> Ledger | None:
        """The ledger as it is when no transaction can change it; None if there is none."""
        for _ in _WHOLE.attempts():
            first = self._chunk(0, patience)
            if first is None:
                return None
            others = [self._chunk(number, patience) for number in range(1, chunk_count(first))]
            chunks = [first, *(chunk for chunk in others if chunk is not None)]
            ledger = decode_ledger(chunks) if None not in others else None
            if ledger is not None:
                return ledger
        raise LedgerError(f"What is written down about sink {self._sink.name!r} is not complete.")

    def held_by(self, run: str, before_claim: BeforeClaim = _as_it_is) -> Ledger:
        """The ledger in the hands of ``run``, which claims the sink unless it has it already.

        ``before_claim`` is called when no decision can arrive any more, and before anybody sees the sink in
        the hands of ``run``: so all of the run finds done what it does. A run that has the sink, but could
        not see that, claims it again without: by then it may have transactions of its own open.
        """
        try:
            ledger = self.read(_SETTLING)
        except WireClientError:
            # Perhaps somebody died in the middle of a decision; a claim ends it, or says what is wrong.
            ledger = None
        if ledger is not None and ledger.holder.run == run:
            return ledger
        return self._claim(run, before_claim=before_claim)

    def renew(self, holder: Holder) -> Ledger:
        """Claim the sink anew, to end what this run may have under way, unless another run has it now."""
        return self._claim(holder.run, holder)

    def decide(self, holder: Holder, batch: int, parts: tuple[Part, ...], *, record_count: int) -> None:
        """Write down that exactly these transactions are the batch. From then on there is no way back."""
        for attempt in range(_CLAIMS_MAX):
            ledger = self.require(holder)
            if ledger.has_decided(batch) and ledger.parts == parts:
                return  # It was the answer that got lost.
            if self._is_written(replace(ledger, batch=batch, parts=parts, record_count=record_count)):
                return
            self._pause(attempt)
            self.renew(holder)
        raise self._busy()

    def require(self, holder: Holder) -> Ledger:
        """The ledger, if it is still in those hands; ``StaleRunError`` otherwise."""
        ledger = self.read()
        if ledger is None or ledger.holder != holder:
            raise self._stale(holder.run, ledger)
        return ledger

    def _claim(
        self, run: str, holder: Holder | None = None, *, before_claim: BeforeClaim = _as_it_is
    ) -> Ledger:
        """Become the one who decides; with ``holder`` only if that is still in force."""
        ensure_topic(self._coordinators.cluster, RESERVED_TOPIC, configs={"cleanup.policy": "compact"})
        for attempt in range(_CLAIMS_MAX):
            driver = own(self._coordinators, self._sink.driver_id, timeout_ms=DECISION_TIMEOUT_MS).producer
            known = self.read()
            if holder is not None and (known is None or known.holder != holder):
                raise self._stale(run, known)
            if known is None:
                ledger = first_ledger(run, driver)
            elif known.holder.run == run:
                # All was done before the run's first claim; what is open since then is its own.
                ledger = known.claimed(run, driver)
            else:
                ledger = before_claim(known).claimed(run, driver)
            if self._is_written(ledger):
                return ledger
            self._pause(attempt)
            # Many tasks of a run begin at once; whoever comes first claims for all.
            known = self.read()
            if holder is None and known is not None and known.holder.run == run:
                return known
        raise self._busy()

    def _is_written(self, ledger: Ledger) -> bool:
        """Write it down; False if somebody else has claimed the sink before that was done."""
        try:
            self._write(ledger)
        except RefusedError as error:
            if error.code not in _SUPERSEDED:
                raise
            return False
        return True

    def _write(self, ledger: Ledger) -> None:
        transaction = Transaction(self._sink.driver_id, ledger.driver)
        for number, chunk in enumerate(encode_ledger(ledger)):
            group = self._sink.ledger_group(number)
            add_group(self._coordinators, transaction, group)
            offset = CommittedOffset(ledger.batch or 0, chunk)
            commit_offsets(self._coordinators, transaction, group, offsets={PLACE: offset})
        commit(self._coordinators, transaction)

    def _chunk(self, number: int, patience: Patience | None) -> str | None:
        group = self._sink.ledger_group(number)
        found = stable_offset(self._coordinators, group, PLACE, patience=patience)
        return None if found is None else found.metadata

    def _pause(self, attempt: int) -> None:
        time.sleep(random.uniform(0.5, 1.5) * _PAUSE_SECONDS * (attempt + 1))

    def _stale(self, run: str, ledger: Ledger | None) -> StaleRunError:
        who = "nobody" if ledger is None else f"run {ledger.holder.run}"
        return StaleRunError(
            f"Sink {self._sink.name!r} belongs to {who} by now, not to run {run}, which therefore may not "
            "commit. Is the query running twice?"
        )

    def _busy(self) -> ExactlyOnceError:
        return ExactlyOnceError(
            f"Sink {self._sink.name!r} could not be claimed: others did so {_CLAIMS_MAX} times meanwhile. Is "
            "the query running twice, or do two queries share a transactionalId?"
        )
