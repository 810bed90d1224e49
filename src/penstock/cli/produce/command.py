"""``penstock produce TOPIC [FILE]...``: every line of standard input, or of files, becomes a record.

Acknowledged by all replicas unless told otherwise, and then idempotent, so that a retry after a lost answer
does not write a line twice.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.librdkafka import client_settings, require_reachable
from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, Json, examples
from penstock.cli.produce.input_lines import Line, input_lines, total_size
from penstock.cli.produce.line_record import (
    ANY_PARTITION,
    Defaults,
    Headers,
    Parser,
    json_parser,
    text_parser,
)
from penstock.cli.produce.sender import RecordSender
from penstock.cli.progress import advancing
from penstock.cli.record_choices import Acks, Compression
from penstock.cli.sizes import format_bytes
from penstock.cli.words import key_values
from penstock.config.definition import INT_MAX
from penstock.model.errors import UsageError
from penstock.model.names import is_header_name


def attach(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command(
        "produce",
        epilog=examples(
            "echo hello | penstock produce orders",
            "penstock produce orders monday.txt tuesday.txt --compression zstd",
            "printf 'alice:1\\nbob:2\\n' | penstock produce orders -k : -H source=import",
            """echo '{"key": "a", "value": {"n": 1}}' | penstock produce orders --json-lines""",
            "penstock consume orders --since 1h -e --json | penstock produce copy --json-lines",
        ),
    )(produce)


def produce(  # noqa: PLR0913 - typer wants one argument per option
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="Where to.")],
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE]...", help="What to send; standard input when left out."),
    ] = None,
    key_separator: Annotated[
        str | None, typer.Option("-k", "--key-separator", help="Text that parts a line into key and value.")
    ] = None,
    json_lines: Annotated[
        bool,
        typer.Option(
            "--json-lines", "-j", help="Lines are objects: key, value, headers, partition, timestamp."
        ),
    ] = False,
    tombstones: Annotated[
        bool, typer.Option("--tombstones", help="An empty value is none, which deletes its key.")
    ] = False,
    header: Annotated[
        list[str] | None,
        typer.Option("-H", "--header", metavar="NAME=VALUE", help="A header of every record; repeatable."),
    ] = None,
    partition: Annotated[
        int, typer.Option("--partition", min=ANY_PARTITION, max=INT_MAX, help="-1 spreads the records.")
    ] = ANY_PARTITION,
    acks: Annotated[Acks, typer.Option("--acks", help="Whose acknowledgement to wait for.")] = Acks.ALL,
    compression: Annotated[
        Compression, typer.Option("--compression", "-z", help="How to compress batches.")
    ] = Compression.NONE,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Go on after a record that is refused, and count those.")
    ] = False,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Send each line of files or of standard input as one record; --json prints where each one went."""
    defaults = Defaults(headers=_headers(header), partition=partition)
    parse = _parser(defaults, key_separator, json_lines=json_lines, tombstones=tombstones)
    paths = files or []
    total = total_size(paths)
    require_reachable(bootstrap_server)
    from confluent_kafka import Producer

    settings = client_settings(
        bootstrap_server,
        acks=acks.value,
        enable_idempotence=acks is Acks.ALL,
        compression_type=compression.value,
        linger_ms=5,
    )
    sender = RecordSender(Producer(settings), topic, keep_going=keep_going, as_json=as_json)
    began = time.monotonic()
    try:
        _send(sender, parse, paths, total)
    finally:
        sender.finish()
        if not as_json:
            _print_summary(sender, topic, time.monotonic() - began)
    if complaint := sender.complaint():
        raise complaint


def _headers(pairs: list[str] | None) -> Headers:
    """The headers of every record, a name as often as it was given; values are the bytes that were typed."""
    headers = [each for pair in pairs or () for each in key_values([pair], option="--header").items()]
    for name, _ in headers:
        if not is_header_name(name):
            raise UsageError(f"--header {name!r} is no name of a header: it must be text.")
    return tuple((name, os.fsencode(value)) for name, value in headers)


def _parser(defaults: Defaults, key_separator: str | None, *, json_lines: bool, tombstones: bool) -> Parser:
    if key_separator == "":
        raise UsageError("The key separator is empty; give some text, for example -k ':'.")
    if not json_lines:
        return text_parser(defaults, key_separator=key_separator, empty_is_null=tombstones)
    if key_separator is not None or tombstones:
        raise UsageError("--json-lines says of each record what its key and value are: leave out the others.")
    return json_parser(defaults)


def _send(sender: RecordSender, parse: Parser, paths: list[Path], total: int) -> None:
    # Ctrl-C ends the input as Ctrl-D does: what was read before is still delivered.
    with suppress(KeyboardInterrupt):
        if not paths:
            sender.send_all(map(parse, input_lines(paths, progress=lambda done: None)))
            return
        with advancing("Sending", total, unit="bytes") as advance:
            lines: Iterator[Line] = input_lines(paths, progress=advance)
            sender.send_all(map(parse, lines))


def _print_summary(sender: RecordSender, topic: str, seconds: float) -> None:
    count = sender.delivered_count
    noun = "record" if count == 1 else "records"
    rate = count / seconds if seconds > 0 else 0
    size = format_bytes(sender.delivered_bytes)
    print(
        f"produced {count} {noun} to {topic}: {size} in {seconds:.2f} s, {rate:,.0f} a second",
        file=sys.stderr,
    )
