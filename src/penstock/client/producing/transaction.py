"""Several records, and the offsets they were made from, seen together or not at all."""

import threading
from collections.abc import Callable
from enum import StrEnum
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from penstock.client.backoff import Backoff, retried
from penstock.client.config.producer_config import ProducerConfig
from penstock.client.error_mapping import translated
from penstock.client.errors import ConfigurationError, Fenced, PenstockClientError, TransactionAborted
from penstock.client.topic_partition import Offsets, raw_offsets
from penstock.client.trouble import logger

if TYPE_CHECKING:
    from penstock.client.producing.delivery_thread import DeliveryThread
    from penstock.client.trouble import Trouble


_UNKNOWN_END = "It is not known whether the transaction was committed: call its commit again, which tells"


class OffsetSource(Protocol):
    """A consumer whose offsets can be part of a transaction."""

    def seen_offsets(self) -> Offsets:
        """Up to where its caller has seen every partition."""

    def group_metadata(self) -> Any:
        """Who it is in its group, for librdkafka."""


class TransactionState(StrEnum):
    """How far a transaction is."""

    OPEN = "open"
    COMMITTING = "committing"
    """A commit was begun, and nobody said in time how it ended: only calling it again tells."""

    ABORTING = "aborting"
    """The same of an abort."""

    ENDED = "ended"
    """It was committed or aborted, or is past help."""


class Transactions:
    """The transactions of one producer, one after the other."""

    def __init__(
        self, producer: Any, config: ProducerConfig, thread: "DeliveryThread", trouble: "Trouble"
    ) -> None:
        self._producer = producer
        self._config = config
        self._thread = thread
        self._trouble = trouble
        self._lock = threading.Lock()
        self._is_ready = False
        self._open: Transaction | None = None

    def begin(self) -> "Transaction":
        """A new one; the first one introduces this producer to its coordinator."""
        if self._config.transactional_id is None:
            raise ConfigurationError(
                "Transactions need a name: transactional_id=None must be text", setting="transactional_id"
            )
        with self._lock:
            if self._open is not None:
                self._open.make_way()
            if not self._is_ready:
                self.call("begin with transactions", self._producer.init_transactions)
                self._is_ready = True
            with translated("begin a transaction"):
                self._producer.begin_transaction()
            self._open = Transaction(self)
            return self._open

    def call(self, doing: str, function: Any, *arguments: Any) -> None:
        """Call something of librdkafka that takes a timeout last, and again when it says so."""

        def attempt(seconds: float) -> None:
            with translated(self._trouble.explain(doing)), self._thread.attention():
                function(*arguments, seconds)

        backoff = Backoff(first_ms=self._config.retry_backoff_ms, most_ms=self._config.retry_backoff_max_ms)
        retried(attempt, seconds=self._config.transaction_timeout_ms / 1000, backoff=backoff)

    def commit(self) -> None:
        """Make everything seen."""
        self.call("commit a transaction", self._producer.commit_transaction)
        self._thread.call_back()

    def abort(self) -> None:
        """Let nothing be seen."""
        self.call("abort a transaction", self._producer.abort_transaction)
        self._thread.call_back()

    def send_offsets(self, consumer: OffsetSource) -> None:
        """Commit a consumer's offsets with the transaction."""
        offsets = consumer.seen_offsets()
        if offsets:
            send = self._producer.send_offsets_to_transaction
            self.call("add offsets to a transaction", send, raw_offsets(offsets), consumer.group_metadata())

    def abort_open(self) -> None:
        """What a producer that is closed leaves behind is aborted, if that can be done."""
        if self._open is None or self._open.is_ended:
            return
        if self._open.state is TransactionState.COMMITTING:
            logger.warning("it is not known whether the last transaction was committed")
            return
        try:
            self._open.abort()
        except PenstockClientError as error:
            logger.warning("a transaction could not be aborted on closing: %s", error)


class Transaction:
    """One transaction; made by ``Producer.transaction``."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self.state = TransactionState.OPEN

    @property
    def is_ended(self) -> bool:
        """Whether it was committed or aborted, or is past help."""
        return self.state is TransactionState.ENDED

    def send_offsets(self, consumer: OffsetSource) -> None:
        """Commit, with the records, up to where ``consumer`` was read: each message is copied exactly once.

        The consumer must not commit by itself. After an abort, ``consumer.rewind()`` reads the same again.
        """
        self._refuse_unless(TransactionState.OPEN)
        self._transactions.send_offsets(consumer)

    def commit(self) -> None:
        """End it well before its block ends. What cannot be committed is aborted, and said so.

        After an error with ``is_retriable`` it is not known whether it was committed: call it again, which
        goes on with the same commit. There is no other transaction before that.
        """
        self._refuse_unless(TransactionState.OPEN, TransactionState.COMMITTING)
        try:
            self._end(TransactionState.COMMITTING, self._transactions.commit)
        except TransactionAborted:
            self._end(TransactionState.ABORTING, self._transactions.abort)
            raise

    def abort(self) -> None:
        """End it so that nothing of it is ever seen; after a retriable error, call it again."""
        self._refuse_unless(TransactionState.OPEN, TransactionState.ABORTING)
        self._end(TransactionState.ABORTING, self._transactions.abort)

    def make_way(self) -> None:
        """The next one is to begin: what was to be aborted is, and anything else must have ended."""
        if self.state is TransactionState.OPEN:
            raise ConfigurationError("A transaction is open already: end it before the next one begins")
        if self.state is TransactionState.COMMITTING:
            raise ConfigurationError(_UNKNOWN_END)
        if self.state is TransactionState.ABORTING:
            self.abort()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.is_ended or (error is not None and self.state is TransactionState.COMMITTING):
            return  # Whoever began to commit it may still do so: librdkafka aborts it no more.
        if error is None:
            end = self.abort if self.state is TransactionState.ABORTING else self.commit
            end()
            return
        try:
            self.abort()
        except Fenced as fenced:
            # Whoever fenced this producer has aborted its transaction already.
            logger.debug("nothing to abort: %s", fenced)
        except PenstockClientError as failure:
            error.add_note(f"The transaction could not be aborted either: {failure}")

    def _end(self, state: TransactionState, end: Callable[[], None]) -> None:
        """Ended is what succeeded or cannot succeed any more."""
        self.state = state
        try:
            end()
        except PenstockClientError as error:
            is_to_be_aborted = isinstance(error, TransactionAborted) and state is TransactionState.COMMITTING
            if not error.is_retriable and not is_to_be_aborted:
                self.state = TransactionState.ENDED
            raise
        self.state = TransactionState.ENDED

    def _refuse_unless(self, *states: TransactionState) -> None:
        if self.is_ended:
            raise ConfigurationError("The transaction has ended: begin another one")
        if self.state not in states:
            is_committing = self.state is TransactionState.COMMITTING
            raise ConfigurationError(_UNKNOWN_END if is_committing else "The transaction is being aborted")
