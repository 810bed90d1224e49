"""How plans and moves appear on a terminal and as JSON."""

from collections.abc import Iterable, Sequence
from typing import Any

from penstock.cli.output import print_table
from penstock.cli.reassign.execution import MoveStatus
from penstock.cli.reassign.plan import Move
from penstock.cli.sizes import format_bytes
from penstock.model.ids import TopicPartition
from penstock.wire_client.errors import RefusedError

UNKNOWN = "-"


def print_moves(moves: Sequence[Move], copied_bytes: int | None) -> None:
    """One line for each partition that changes, and what it costs."""
    if not moves:
        print("Nothing to move: everything is where it should be.")
        return
    rows = [(*move.where, _joined(move.before), _joined(move.after), _joined(move.added)) for move in moves]
    print_table(("TOPIC", "PARTITION", "FROM", "TO", "COPIED TO"), rows, numbers=(1,))
    copies = sum(len(move.added) for move in moves)
    size = "" if copied_bytes is None or not copies else f", {format_bytes(copied_bytes)}"
    print(f"{_count(len(moves), 'partition')} to change, {_count(copies, 'replica')} to copy{size}")


def print_statuses(statuses: Sequence[MoveStatus]) -> None:
    """One line for each partition."""
    if not statuses:
        print("Nothing moves.")
        return
    rows = [
        (
            *status.where,
            status.state,
            _joined(status.replicas),
            _joined(status.adding),
            _joined(status.removing),
            f"{len(status.in_sync)} of {len(status.adding)}" if status.adding else UNKNOWN,
        )
        for status in statuses
    ]
    columns = ("TOPIC", "PARTITION", "STATE", "REPLICAS", "ADDING", "REMOVING", "CAUGHT UP")
    print_table(columns, rows, numbers=(1,))


def outcomes_as_json(
    moves: Iterable[Move], refusals: dict[TopicPartition, RefusedError], outcome: str
) -> list[dict[str, Any]]:
    """What became of every partition of a plan."""
    return [
        {
            "topic": move.where.topic,
            "partition": move.where.partition,
            "from": list(move.before),
            "to": list(move.after),
            "outcome": "refused" if move.where in refusals else outcome,
        }
        for move in moves
    ]


def print_outcomes(outcomes: Iterable[tuple[TopicPartition, str]]) -> None:
    """One line for each partition."""
    for where, outcome in outcomes:
        print(f"{where}: {outcome}")


def _joined(nodes: Iterable[int]) -> str:
    return ",".join(map(str, nodes)) or UNKNOWN


def _count(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else f'{noun}s'}"
