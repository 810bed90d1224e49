"""``penstock consume TOPIC``: print records, then follow the topic until stopped.

Partitions are assigned by hand unless a group is named: then nothing is committed, nobody is rebalanced, and
any broker that can fetch will do.
"""

import json
import sys
import time
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.consume.assignment import assignment, existing_partitions
from penstock.cli.consume.following import Following, Limits
from penstock.cli.consume.pretty_json import new_painter, pretty_json
from penstock.cli.consume.record_filter import RecordFilter, compile_filter
from penstock.cli.consume.record_format import Formatter, compile_format, json_fields
from penstock.cli.consume.start_offset import Reference, Start, parse_start
from penstock.cli.durations import parse_past
from penstock.cli.librdkafka import client_settings, require_reachable
from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, Json, examples
from penstock.cli.output import until_reader_leaves
from penstock.model.errors import UsageError

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

_DEFAULT_FORMAT = "%v\\n"


class IsolationLevel(StrEnum):
    """Which records of transactions are read."""

    READ_COMMITTED = "read_committed"
    READ_UNCOMMITTED = "read_uncommitted"


def attach(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command(
        "consume",
        epilog=examples(
            "penstock consume orders --from-beginning",
            "penstock consume orders --since 10m --key alice --grep 'total.:[0-9]{4}'",
            "penstock consume orders --since 2026-01-31T08:00 --until 2026-01-31T09:00 --json",
            "penstock consume orders --from-beginning -n 10 -f '%t/%p@%o %k %v\\n'",
            "penstock consume orders --partition 0 --offset -5 --exit-at-end --headers",
            "penstock consume orders --group billing --from-beginning    (commits what it printed)",
        ),
    )(consume)


def consume(  # noqa: PLR0913 - typer wants one argument per option
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="Where from.")],
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="Start at the oldest record, not at the end.")
    ] = False,
    offset: Annotated[
        str | None,
        typer.Option("--offset", "-o", help="Start at N, -N (before the end), @MS, 'beginning' or 'end'."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="Start at a time: 10m (ago), 2026-01-31T08:00, @MS."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="TIME", help="Stop at the first record that is not older."),
    ] = None,
    partition: Annotated[
        list[int] | None, typer.Option("--partition", min=0, help="Only this partition; repeatable.")
    ] = None,
    key: Annotated[str | None, typer.Option("--key", "-k", help="Only records with this key.")] = None,
    grep: Annotated[
        str | None,
        typer.Option("--grep", metavar="REGEX", help="Only records whose value matches, somewhere."),
    ] = None,
    count: Annotated[int | None, typer.Option("-n", "--count", min=1, help="Stop after N records.")] = None,
    exit_at_end: Annotated[
        bool, typer.Option("--exit-at-end", "-e", help="Stop at the end instead of following.")
    ] = False,
    group: Annotated[
        str | None,
        typer.Option("--group", "-g", metavar="GROUP", help="Share a group's work; commit what is printed."),
    ] = None,
    isolation_level: Annotated[
        IsolationLevel, typer.Option("--isolation-level", help="Which records of transactions to show.")
    ] = IsolationLevel.READ_COMMITTED,
    record_format: Annotated[
        str,
        typer.Option(
            "-f",
            "--format",
            help="%t topic, %p partition, %o offset, %k key, %v value, %h headers, %T timestamp, "
            "%K and %S sizes of key and value.",
        ),
    ] = _DEFAULT_FORMAT,
    headers: Annotated[
        bool, typer.Option("--headers", help="Print headers and a tab before each record.")
    ] = False,
    pretty: Annotated[
        bool | None,
        typer.Option("--pretty/--no-pretty", help="Indent JSON values; done by itself on a terminal."),
    ] = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Print records of a topic, following it until Ctrl-C unless told where to stop."""
    now_ms = round(time.time() * 1000)
    until_ms = None if until is None else parse_past(until, option="--until", now_ms=now_ms)
    start = _start(offset, since, from_beginning=from_beginning, now_ms=now_ms)
    if group is not None and (partition or until or since or offset is not None):
        raise UsageError("--group reads where the group stopped: leave out --partition, --offset and times.")
    write = _json_line if as_json else _formatter(record_format, headers=headers, pretty=pretty)
    wants = compile_filter(key=key, pattern=grep, until_ms=until_ms)
    limits = Limits(count=count, exit_at_end=exit_at_end, until_ms=until_ms)
    require_reachable(bootstrap_server)
    consumer = _new_consumer(bootstrap_server, group, start if group is not None else None, isolation_level)
    try:
        with until_reader_leaves():
            if group is None:
                following = Following(consumer, write, wants, limits)
                partitions = assignment(consumer, topic, partition, start)
                consumer.assign(partitions)
                following.assigned(each.partition for each in partitions)
                following.run()
            else:
                _consume_in_group(consumer, topic, group, write, wants, limits)
    except KeyboardInterrupt:
        pass
    finally:
        consumer.close()


def _consume_in_group(
    consumer: "Consumer", topic: str, group: str, write: Formatter, wants: RecordFilter, limits: Limits
) -> None:
    from penstock.cli.consume.membership import Membership

    existing_partitions(consumer, topic)
    membership = Membership(consumer, group)
    following = Following(consumer, write, wants, limits, when_printed=membership.printed)
    membership.join(topic, following.assigned)
    try:
        following.run()
    finally:
        membership.commit()


def _start(offset: str | None, since: str | None, *, from_beginning: bool, now_ms: int) -> Start:
    if since is None:
        return parse_start(offset, from_beginning=from_beginning)
    if offset is not None or from_beginning:
        raise UsageError("--since, --offset and --from-beginning exclude each other.")
    return Start(Reference.TIMESTAMP, parse_past(since, option="--since", now_ms=now_ms))


def _formatter(record_format: str, *, headers: bool, pretty: bool | None) -> Formatter:
    text = f"%h\\t{record_format}" if headers else record_format
    is_pretty = sys.stdout.isatty() and record_format == _DEFAULT_FORMAT if pretty is None else pretty
    return compile_format(text, show_value=_pretty_value()) if is_pretty else compile_format(text)


def _pretty_value() -> Formatter:
    paint = new_painter()

    def show(message: "Message") -> bytes:
        value = message.value() or b""
        text = pretty_json(value)
        return value if text is None else paint(text).encode()

    return show


def _new_consumer(
    bootstrap_server: str, group: str | None, start: Start | None, isolation_level: IsolationLevel
) -> "Consumer":
    from confluent_kafka import Consumer

    reset = "error"
    if start is not None:
        reset = "earliest" if start.reference is Reference.BEGINNING else "latest"
    return Consumer(
        client_settings(
            bootstrap_server,
            group_id=group or "penstock-cli",
            enable_auto_commit=False,
            enable_auto_offset_store=False,
            enable_partition_eof=True,
            auto_offset_reset=reset,
            isolation_level=isolation_level.value,
            check_crcs=True,
            fetch_error_backoff_ms=50,
            fetch_wait_max_ms=100,
        )
    )


def _json_line(message: "Message") -> bytes:
    return json.dumps(json_fields(message)).encode() + b"\n"
