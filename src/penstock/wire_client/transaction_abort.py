"""Aborting a transaction that its producer does not end, through the coordinator that knows it.

An administrator asks for the transactional id as a new producer would, which fences the old one and aborts
what it left open.
"""

from typing import Any, NamedTuple

from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.init_producer_id import InitProducerIdRequest
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.coordinators import Coordinated, ask_coordinator
from penstock.wire_client.errors import RefusedError, check
from penstock.wire_client.transaction_states import Transaction, describe_transactions


class Abortion(NamedTuple):
    """What became of the transaction of one id: nothing, if none was open."""

    transactional_id: str
    is_aborted: bool
    state_before: str

    def as_json(self) -> dict[str, Any]:
        """The fields under their names."""
        outcome = "aborted" if self.is_aborted else "unchanged"
        return {
            "transactional_id": self.transactional_id,
            "outcome": outcome,
            "state_before": self.state_before,
        }


def abort_transaction(cluster: Cluster, transactional_id: str) -> Abortion:
    """Abort what is open under the id, and fence its producer; an id without open transaction is left alone.

    Asking for an id makes it, so it is looked at first.
    """
    found = describe_transactions(cluster, [transactional_id]).get(transactional_id)
    if found is None:
        raise RefusedError(
            ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, doing=f"abort the transaction of {transactional_id!r}"
        )
    if found.state != "Ongoing":
        return Abortion(transactional_id, is_aborted=False, state_before=found.state)
    _fence(cluster, found)
    return Abortion(transactional_id, is_aborted=True, state_before=found.state)


def _fence(cluster: Cluster, transaction: Transaction) -> None:
    """Answered when the old transaction is completely aborted; until then the coordinator asks to wait."""
    name = transaction.transactional_id
    request = InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=transaction.timeout_ms)
    answer = ask_coordinator(
        cluster,
        Coordinated.TRANSACTION,
        name,
        lambda broker: broker.call(ApiKey.INIT_PRODUCER_ID, request),
    )
    check(answer.error_code, doing=f"abort the transaction of {name!r}")
