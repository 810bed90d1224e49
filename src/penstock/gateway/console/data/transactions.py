"""``/transactions``: what is open, since when and where; aborting one; looking for those that hang."""

import time
from typing import Any

from fastapi import APIRouter

from penstock.gateway.console.console import Console
from penstock.gateway.console.data.asking import Asking
from penstock.gateway.console.data.confirmed import Confirmed, check_confirmed
from penstock.gateway.errors import GatewayError
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.list_transactions import ListTransactionsRequest
from penstock.wire_client.open_transactions import hanging, open_transactions, start_offsets
from penstock.wire_client.topics import find_leaders
from penstock.wire_client.transaction_abort import abort_transaction
from penstock.wire_client.transaction_states import (
    Transaction,
    describe_transactions,
    transactions_in,
    with_start_times,
)


def router(console: Console) -> APIRouter:
    """The routes of transactions."""
    routes = APIRouter()

    @routes.get("/transactions")
    def transactions() -> dict[str, Any]:
        """Every transactional id and how its transaction is."""
        asking = Asking()
        with console.kafka.cluster() as cluster:
            doing = "list the transactions"
            told = cluster.ask_live_brokers(ApiKey.LIST_TRANSACTIONS, ListTransactionsRequest(), doing=doing)
            listed = transactions_in(told.answers)
            timed = asking.told(lambda: with_start_times(cluster, listed)) or listed
        return {
            "transactions": [each.as_json(_now_ms()) for each in timed],
            "notes": [*told.notes, *asking.notes],
        }

    @routes.get("/hanging-transactions")
    def hanging_ones() -> dict[str, Any]:
        """Transactions that nobody will end: every partition is asked, so this is only done on request."""
        with console.kafka.cluster() as cluster:
            candidates = open_transactions(cluster, find_leaders(cluster))
            return {"transactions": [each.as_json() for each in hanging(cluster, candidates)]}

    @routes.get("/transactions/{transactional_id:name}")
    def transaction(transactional_id: str) -> dict[str, Any]:
        """One transactional id, with the partitions that wait for its transaction."""
        asking = Asking()
        with console.kafka.cluster() as cluster:
            found = describe_transactions(cluster, [transactional_id]).get(transactional_id)
            if found is None:
                raise GatewayError(
                    404,
                    f"There is no transactional id {transactional_id!r}.",
                    error_code=40405,
                    error="TRANSACTIONAL_ID_NOT_FOUND",
                )
            starts = asking.told(lambda: start_offsets(cluster, found)) or {}
        return _described(found) | {
            "partitions": [
                {"topic": where.topic, "partition": where.partition, "start_offset": starts.get(where)}
                for where in found.partitions
            ],
            "notes": asking.notes,
        }

    @routes.post("/transactions/{transactional_id:name}/abort")
    def abort(transactional_id: str, body: Confirmed) -> dict[str, Any]:
        """Abort what is open under an id, and fence its producer."""
        check_confirmed(body, transactional_id, doing=f"abort the transaction of {transactional_id!r}")
        with console.kafka.cluster() as cluster:
            return abort_transaction(cluster, transactional_id).as_json()

    return routes


def _described(found: Transaction) -> dict[str, Any]:
    return found.as_json(_now_ms()) | {
        "is_open": found.is_open,
        "producer_epoch": found.producer_epoch,
        "timeout_ms": found.timeout_ms,
    }


def _now_ms() -> int:
    return int(time.time() * 1000)
