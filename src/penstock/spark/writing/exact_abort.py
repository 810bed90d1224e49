"""Having nothing seen of a batch that failed, and nobody wait for it: unless it was decided.

Spark aborts a batch when a task has failed for good, when a query is stopped, and also when a commit failed.
In the last case there may be a decision already, or one may be on its way.
"""

import logging

from penstock.spark.options.sink_options import SinkOptions
from penstock.spark.writing.conversations import coordinators_for
from penstock.spark.writing.errors import StaleRunError
from penstock.spark.writing.ledger import Holder, Ledger
from penstock.spark.writing.ledger_store import LedgerStore
from penstock.spark.writing.messages import Messages, exact_messages
from penstock.spark.writing.parts import BatchParts
from penstock.spark.writing.sinks import Sink
from penstock.wire_client.patience import Patience

PATIENCE = Patience(seconds_max=10.0)
"""What is not aborted now is aborted by the next run, or by its timeout: it is not worth a long wait."""

_log = logging.getLogger(__name__)


def abort_batch(
    options: SinkOptions, messages: Messages, *, batch: int, own: tuple[Sink, str] | None = None
) -> None:
    """Abort what tasks have written and what others of them have left open.

    ``own`` are the sink and the run, if they are known without the tasks' messages.
    """
    told = exact_messages(messages)
    sink, run = own or (None, None)
    sink = told[0].sink if told else sink
    failed = {task for task, message in enumerate(messages) if message is None}
    written = {message.part for message in told if message.part is not None}
    if sink is None or not (failed or written):
        return
    holder = next((message.holder for message in told if message.holder is not None), None)
    with coordinators_for(options, PATIENCE) as coordinators:
        ledger, is_ours = _settled(LedgerStore(coordinators, sink), holder, run)
        parts = BatchParts(coordinators, sink, batch)
        if ledger is not None and ledger.has_decided(batch):
            _log.warning("Batch %d of sink %r is decided: it is not aborted.", batch, sink.name)
            parts.abort(written - set(ledger.parts))
            return
        parts.abort(written)
        if is_ours:
            parts.abort_left_open(failed)


def _settled(store: LedgerStore, holder: Holder | None, run: str | None) -> tuple[Ledger | None, bool]:
    """The ledger when no decision of this run can arrive any more, and whether the sink is this run's."""
    if holder is None:  # No task has told of a sink that it has found, so that there was nothing to decide.
        ledger = store.read()
        return ledger, ledger is not None and ledger.holder.run == run
    try:
        return store.renew(holder), True
    except StaleRunError:
        return store.read(), False
