"""How transactions appear on a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.cli.durations import format_duration
from penstock.cli.group.report import UNKNOWN, or_unknown
from penstock.cli.output import print_table
from penstock.model.ids import TopicPartition
from penstock.wire_client.connection import Address
from penstock.wire_client.open_transactions import OpenTransaction
from penstock.wire_client.transaction_states import Transaction, TransactionListing


def print_listing(listings: Sequence[TransactionListing], now_ms: int) -> None:
    """One line for each transactional id."""
    if not listings:
        print("No transactions were found.")
        return
    rows = [
        (one.transactional_id, one.state, one.producer_id, one.coordinator, _running(one, now_ms))
        for one in listings
    ]
    columns = ("TRANSACTIONAL ID", "STATE", "PRODUCER ID", "COORDINATOR", "RUNNING")
    print_table(columns, rows, numbers=(2, 3, 4))


def description_as_json(
    transaction: Transaction, starts: Mapping[TopicPartition, int], now_ms: int
) -> dict[str, Any]:
    """A transaction with everything known of it."""
    return {
        **transaction.as_json(now_ms),
        "producer_epoch": transaction.producer_epoch,
        "timeout_ms": transaction.timeout_ms,
        "partitions": [
            {
                "topic": partition.topic,
                "partition": partition.partition,
                "start_offset": starts.get(partition),
            }
            for partition in transaction.partitions
        ],
    }


def print_transaction(
    transaction: Transaction,
    *,
    address: Address | None,
    starts: Mapping[TopicPartition, int],
    now_ms: int,
) -> None:
    """A headline, and one line for each partition with the offset since which it waits."""
    facts = {
        "state": transaction.state,
        "producer": transaction.producer_id,
        "epoch": transaction.producer_epoch,
        "coordinator": f"{transaction.coordinator} ({address})",
        "timeout": format_duration(transaction.timeout_ms),
        "running": _running(transaction, now_ms),
    }
    print("  ".join([transaction.transactional_id, *(f"{name} {value}" for name, value in facts.items())]))
    if transaction.partitions:
        rows = [(*partition, or_unknown(starts.get(partition))) for partition in transaction.partitions]
        print_table(("TOPIC", "PARTITION", "START OFFSET"), rows, numbers=(1, 2))


def print_hanging(opened: Sequence[OpenTransaction], now_ms: int) -> None:
    """One line for each."""
    if not opened:
        print("No hanging transactions were found.")
        return
    rows = [
        (
            one.topic,
            one.partition,
            one.start_offset,
            one.producer_id,
            one.producer_epoch,
            f"{format_duration(now_ms - one.last_write_ms)} ago",
        )
        for one in opened
    ]
    columns = ("TOPIC", "PARTITION", "START OFFSET", "PRODUCER ID", "EPOCH", "LAST WRITE")
    print_table(columns, rows, numbers=(1, 2, 3, 4))


def _running(transaction: TransactionListing, now_ms: int) -> str:
    running_ms = transaction.running_ms(now_ms)
    return UNKNOWN if running_ms is None else format_duration(running_ms)
