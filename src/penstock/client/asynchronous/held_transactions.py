"""Transactions of a producer that holds records back: what was sent into one is in it, or fails with it."""

from typing import TYPE_CHECKING, Protocol

from penstock.client.errors import RequestTimedOut, TransactionAborted
from penstock.client.producing.transaction import Transaction, Transactions

if TYPE_CHECKING:
    from penstock.client.asynchronous.delivery import Bridge
    from penstock.client.config.producer_config import ProducerConfig
    from penstock.client.trouble import Trouble


class Held(Protocol):
    """The records that librdkafka does not have yet."""

    @property
    def given_up_count(self) -> int:
        """How many were held so far and never given to librdkafka."""

    def hand_over(self, seconds: float) -> int:
        """Wait until librdkafka has them; how many are left after so long."""

    def drop(self) -> None:
        """Give up all of them."""


class HeldTransactions(Transactions):
    """``Transactions`` that wait for records which are held back, or give them up."""

    def __init__(
        self, raw: object, config: "ProducerConfig", thread: "Bridge", trouble: "Trouble", held: Held
    ) -> None:
        super().__init__(raw, config, thread, trouble)
        self._held = held
        self._given_up_before = 0

    def begin(self) -> Transaction:
        """A new one, with nothing of the last one left."""
        begun = super().begin()
        self._given_up_before = self._held.given_up_count
        return begun

    def commit(self) -> None:
        """Make everything seen, or nothing where something could not be sent."""
        left = self._held.hand_over(self._config.transaction_timeout_ms / 1000)
        lost = self._held.given_up_count - self._given_up_before
        if lost:
            raise TransactionAborted(
                f"{lost} records of the transaction could not be sent", code="RECORDS_NOT_SENT"
            )
        if left:
            text = f"{left} records of the transaction still wait to be sent"
            raise RequestTimedOut(text, code="REQUEST_TIMED_OUT", is_retriable=True)
        super().commit()

    def abort(self) -> None:
        """Let nothing be seen, nor sent into the next one."""
        self._held.drop()
        super().abort()
