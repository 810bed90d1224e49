"""``penstock consume TOPIC``: print records, then follow the topic until stopped.

Partitions are assigned by hand, not through a consumer group: nothing is committed, nobody is rebalanced, and
any broker that can fetch will do.
"""

import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.failure import CommandFailed, ExitCode
from penstock.cli.librdkafka import ANSWER_SECONDS_MAX, ask, client_settings, failure, require_reachable
from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, Json, examples
from penstock.cli.record_format import Formatter, compile_format, json_fields
from penstock.cli.start_offset import Start, parse_start, resolve

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message, TopicPartition

_POLL_SECONDS = 0.1
"""How long one wait for records lasts, so that Ctrl-C is noticed."""

_RECORDS_PER_WRITE_MAX = 1_000


def attach(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command(
        "consume",
        epilog=examples(
            "penstock consume orders --from-beginning",
            "penstock consume orders --from-beginning -n 10 -f '%t/%p@%o %k %v\\n'",
            "penstock consume orders --partition 0 --offset -5 --exit-at-end --json",
            "penstock consume orders --offset @1735689600000    (from a timestamp in milliseconds)",
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
    partition: Annotated[
        list[int] | None, typer.Option("--partition", min=0, help="Only this partition; repeatable.")
    ] = None,
    count: Annotated[int | None, typer.Option("-n", "--count", min=1, help="Stop after N records.")] = None,
    exit_at_end: Annotated[
        bool, typer.Option("--exit-at-end", "-e", help="Stop at the end instead of following.")
    ] = False,
    record_format: Annotated[
        str,
        typer.Option(
            "-f",
            "--format",
            help="%t topic, %p partition, %o offset, %k key, %v value, %h headers, %T timestamp, "
            "%K and %S sizes of key and value.",
        ),
    ] = "%v\\n",
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Print records of a topic, following it until Ctrl-C unless told where to stop."""
    write = _json_line if as_json else compile_format(record_format)
    start = parse_start(offset, from_beginning=from_beginning)
    require_reachable(bootstrap_server)
    from confluent_kafka import Consumer

    settings = client_settings(
        bootstrap_server,
        group_id="penstock-cli",
        enable_auto_commit=False,
        enable_auto_offset_store=False,
        enable_partition_eof=True,
        auto_offset_reset="error",
        check_crcs=True,
        fetch_error_backoff_ms=50,
        fetch_wait_max_ms=100,
    )
    consumer = Consumer(settings)
    try:
        consumer.assign(_assignment(consumer, topic, partition, start))
        _follow(consumer, write, count=count, exit_at_end=exit_at_end)
    except KeyboardInterrupt:
        pass
    except BrokenPipeError:
        # The reader of our output has had enough, as `head` does. Keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    finally:
        consumer.close()


def _json_line(message: "Message") -> bytes:
    return json.dumps(json_fields(message)).encode() + b"\n"


def _assignment(
    consumer: "Consumer", topic: str, wanted: Sequence[int] | None, start: Start
) -> "list[TopicPartition]":
    """The partitions to read, each with the offset to begin at."""
    from confluent_kafka import TopicPartition

    existing = _existing_partitions(consumer, topic)
    if missing := sorted(set(wanted or []) - set(existing)):
        raise CommandFailed(
            f"Topic {topic!r} has no partition {missing[0]}; it has 0 to {max(existing)}.",
            code=ExitCode.USAGE,
        )
    partitions = [TopicPartition(topic, number) for number in sorted(set(wanted or existing))]
    for partition in partitions:
        partition.offset = resolve(consumer, partition, start)
    return partitions


def _existing_partitions(consumer: "Consumer", topic: str) -> list[int]:
    metadata = ask(lambda: consumer.list_topics(topic, timeout=ANSWER_SECONDS_MAX), doing="read metadata")
    found = metadata.topics[topic]
    if found.error is not None:
        raise failure(found.error, doing=f"consume topic {topic!r}")
    return list(found.partitions)


def _follow(consumer: "Consumer", write: Formatter, *, count: int | None, exit_at_end: bool) -> None:
    """Print records as they come, until ``count`` of them, the end if asked for, or an interrupt."""
    unfinished = {partition.partition for partition in consumer.assignment()}
    output = sys.stdout.buffer
    remaining = sys.maxsize if count is None else count
    while remaining and (unfinished or not exit_at_end):
        messages = _next_messages(consumer, count_max=min(remaining, _RECORDS_PER_WRITE_MAX))
        records = [message for message in messages if not _is_end(message, unfinished)]
        output.write(b"".join(map(write, records)))
        output.flush()
        remaining -= len(records)


def _next_messages(consumer: "Consumer", *, count_max: int) -> "list[Message]":
    """Whatever is there, at most ``count_max``; waits a moment when there is nothing."""
    first = consumer.poll(_POLL_SECONDS)
    if first is None:
        return []
    return [first, *(consumer.consume(count_max - 1, 0) if count_max > 1 else [])]


def _is_end(message: "Message", unfinished: set[int]) -> bool:
    """Whether this is no record but the news that a partition's end is reached; other news is a failure."""
    from confluent_kafka import KafkaError

    problem = message.error()
    if problem is None:
        return False
    if problem.code() != KafkaError._PARTITION_EOF:
        raise failure(problem, doing=f"consume topic {message.topic()!r}")
    unfinished.discard(message.partition())
    return True
