"""Several records, and the offsets they were made from, seen together or not at all."""

import threading
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


class OffsetSource(Protocol):
    """A consumer whose offsets can be part of a transaction."""

    def seen_offsets(self) -> Offsets:
        """Up to where its caller has seen every partition."""

    def group_metadata(self) -> Any:
        """Who it is in its group, for librdkafka."""


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
            if self._open is not None and not self._open.is_ended:
                raise ConfigurationError("A transaction is open already: end it before the next one begins")
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
        """Make everything seen. What cannot be committed is aborted, and said so."""
        try:
            self.call("commit a transaction", self._producer.commit_transaction)
        except TransactionAborted:
            self.abort()
            raise

    def abort(self) -> None:
        """Let nothing be seen."""
        self.call("abort a transaction", self._producer.abort_transaction)

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
        try:
            self._open.abort()
        except PenstockClientError as error:
            logger.warning("a transaction could not be aborted on closing: %s", error)


class Transaction:
    """One transaction; made by ``Producer.transaction``."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self.is_ended = False
        """Whether it was committed or aborted."""

    def send_offsets(self, consumer: OffsetSource) -> None:
        """Commit, with the records, up to where ``consumer`` was read: each message is copied exactly once.

        The consumer must not commit by itself. After an abort, ``consumer.rewind()`` reads the same again.
        """
        self._refuse_ended()
        self._transactions.send_offsets(consumer)

    def commit(self) -> None:
        """End it well before its block ends."""
        self._refuse_ended()
        self.is_ended = True
        self._transactions.commit()

    def abort(self) -> None:
        """End it so that nothing of it is ever seen."""
        self._refuse_ended()
        self.is_ended = True
        self._transactions.abort()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.is_ended:
            return
        if error is None:
            self.commit()
            return
        try:
            self.abort()
        except Fenced as fenced:
            # Whoever fenced this producer has aborted its transaction already.
            logger.debug("nothing to abort: %s", fenced)
        except PenstockClientError as failure:
            error.add_note(f"The transaction could not be aborted either: {failure}")

    def _refuse_ended(self) -> None:
        if self.is_ended:
            raise ConfigurationError("The transaction has ended: begin another one")
