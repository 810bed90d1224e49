"""``penstock txn list|describe|abort|find-hanging``."""

import sys
import time
from enum import StrEnum
from typing import Annotated

import typer

from penstock.cli.durations import parse_duration
from penstock.cli.failure import CommandFailed
from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, Json, examples, new_app
from penstock.cli.output import print_json, working
from penstock.cli.partition_choice import chosen_partitions, parse_partition_choice
from penstock.model.errors import UsageError
from penstock.model.ids import TopicPartition
from penstock.wire_client.errors import RefusedError


class TransactionState(StrEnum):
    """Every state that a transaction can be in."""

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    PREPARE_EPOCH_FENCE = "PrepareEpochFence"
    DEAD = "Dead"


txn_app = new_app(
    "List, describe and abort transactions.",
    "penstock txn list --state ongoing --running-longer-than 5m",
    "penstock txn find-hanging",
)


def attach(app: typer.Typer) -> None:
    """Add the group to the tree."""
    app.add_typer(txn_app, name="txn")


@txn_app.command(
    "list",
    epilog=examples(
        "penstock txn list",
        "penstock txn list --state ongoing --running-longer-than 5m",
        "penstock txn list --json",
    ),
)
def list_all(
    state: Annotated[
        list[TransactionState] | None,
        typer.Option("--state", case_sensitive=False, help="Only transactions in this state; repeatable."),
    ] = None,
    running_longer_than: Annotated[
        str | None,
        typer.Option(
            "--running-longer-than", metavar="DURATION", help="Only those open for so long: 30s, 5m, PT5M."
        ),
    ] = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """List transactional ids, and transactions that are open."""
    least_ms = _milliseconds(running_longer_than, option="--running-longer-than")
    from penstock.cli.txn.report import print_listing
    from penstock.cli.wire_session import connected
    from penstock.wire_client.transaction_states import list_transactions, with_start_times

    with connected(bootstrap_server) as cluster, working("Reading transactions"):
        listed = [one for one in list_transactions(cluster) if not state or one.state in state]
        found = with_start_times(cluster, listed)
    now_ms = _now_ms()
    shown = [one for one in found if least_ms is None or (one.running_ms(now_ms) or -1) >= least_ms]
    if as_json:
        print_json([one.as_json(now_ms) for one in shown])
    else:
        print_listing(shown, now_ms)


@txn_app.command(
    epilog=examples("penstock txn describe copier-1", "penstock txn describe copier-1 copier-2 --json")
)
def describe(
    names: Annotated[list[str], typer.Argument(metavar="TRANSACTIONAL_ID", help="Transactional ids.")],
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Describe transactions: state, producer, partitions."""
    from penstock.cli.txn.report import description_as_json, print_transaction
    from penstock.cli.wire_session import connected
    from penstock.wire_client.open_transactions import start_offsets
    from penstock.wire_client.transaction_states import describe_transactions

    with connected(bootstrap_server) as cluster:
        described = describe_transactions(cluster, names)
        starts = {name: start_offsets(cluster, found) for name, found in described.items()}
        addresses = cluster.nodes
    now_ms = _now_ms()
    if as_json:
        print_json([description_as_json(found, starts[name], now_ms) for name, found in described.items()])
    else:
        for name, found in described.items():
            address = addresses.get(found.coordinator)
            print_transaction(found, address=address, starts=starts[name], now_ms=now_ms)
    if missing := [name for name in names if name not in described]:
        raise CommandFailed(
            f"There is no transactional id {', '.join(map(repr, missing))}.",
            hint="See what there is with `penstock txn list`.",
        )


@txn_app.command(
    epilog=examples(
        "penstock txn abort copier-1",
        "penstock txn abort --topic orders --partition 0 --start-offset 4711    (one that hangs)",
    )
)
def abort(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="TRANSACTIONAL_ID", help="Whose transactions to abort."),
    ] = None,
    topic: Annotated[str | None, typer.Option("--topic", help="Where a transaction hangs.")] = None,
    partition: Annotated[int | None, typer.Option("--partition", min=0, help="Of the topic.")] = None,
    start_offset: Annotated[
        int | None, typer.Option("--start-offset", min=0, help="Where in the partition it began.")
    ] = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Abort transactions, by id or where one hangs.

    By id the producer is fenced, as if another with its id had started. A hanging transaction is one that no
    coordinator knows any more; `penstock txn find-hanging` finds them.
    """
    if names and topic is None and partition is None and start_offset is None:
        _abort_by_id(names, bootstrap_server, as_json=as_json)
    elif not names and topic is not None and partition is not None and start_offset is not None:
        _abort_hanging(TopicPartition(topic, partition), start_offset, bootstrap_server, as_json=as_json)
    else:
        raise UsageError("Give either transactional ids, or all of --topic, --partition and --start-offset.")


@txn_app.command(
    "find-hanging",
    epilog=examples(
        "penstock txn find-hanging",
        "penstock txn find-hanging --topic orders --topic clicks:0,1 --older-than 1h --json",
    ),
)
def find_hanging(
    topic: Annotated[
        list[str] | None,
        typer.Option("--topic", metavar="TOPIC[:0,1,2]", help="Look only here; repeatable."),
    ] = None,
    older_than: Annotated[
        str,
        typer.Option(
            "--older-than",
            metavar="DURATION",
            help="Only those not written to for so long; more than any transaction may take.",
        ),
    ] = "15m",
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Find open transactions that nobody will end.

    A partition waits for the end of such a transaction, but no coordinator knows of it.
    """
    least_ms = parse_duration(older_than, option="--older-than")
    choice = parse_partition_choice(topic or ())
    from penstock.cli.txn.report import print_hanging
    from penstock.cli.wire_session import connected
    from penstock.wire_client.open_transactions import hanging, open_transactions
    from penstock.wire_client.topics import find_leaders

    now_ms = _now_ms()
    with connected(bootstrap_server) as cluster, working("Asking the leaders of all partitions"):
        existing = find_leaders(cluster, choice or None)
        partitions = chosen_partitions(choice, existing) if choice else list(existing)
        opened = open_transactions(cluster, partitions)
        found = hanging(cluster, [one for one in opened if now_ms - one.last_write_ms >= least_ms])
    if as_json:
        print_json([one.as_json() for one in found])
        return
    print_hanging(found, now_ms)
    if found:
        first = found[0]
        where = f"--topic {first.topic} --partition {first.partition} --start-offset {first.start_offset}"
        print(f"Hint: Abort it with `penstock txn abort {where}`.", file=sys.stderr)


def _abort_by_id(names: list[str], bootstrap_server: str, *, as_json: bool) -> None:
    """Abort one after another, say what became of each, and fail with the first failure."""
    from penstock.cli.wire_session import connected
    from penstock.wire_client.transaction_abort import Abortion, abort_transaction

    outcomes: list[Abortion] = []
    failures: list[RefusedError] = []
    with connected(bootstrap_server) as cluster, working("Waiting for the ends of the transactions"):
        for name in names:
            try:
                outcomes.append(abort_transaction(cluster, name))
            except RefusedError as refusal:
                failures.append(refusal)
    if as_json and outcomes:
        print_json([outcome.as_json() for outcome in outcomes])
    elif outcomes:
        for name, is_aborted, state in outcomes:
            print(f"{name}: aborted" if is_aborted else f"{name}: unchanged, its state is {state}")
    if failures:
        raise failures[0]


def _abort_hanging(
    partition: TopicPartition, start_offset: int, bootstrap_server: str, *, as_json: bool
) -> None:
    from penstock.cli.txn.abort import abort_hanging
    from penstock.cli.wire_session import connected

    with connected(bootstrap_server) as cluster:
        found = abort_hanging(cluster, partition, start_offset)
    if as_json:
        print_json([found.as_json()])
    else:
        print(f"{partition}: aborted what producer {found.producer_id} began at offset {start_offset}")


def _milliseconds(text: str | None, *, option: str) -> int | None:
    return None if text is None else parse_duration(text, option=option)


def _now_ms() -> int:
    return int(time.time() * 1000)
