"""``penstock search TOPIC EXPRESSION``: every record that an SQL expression is true of."""

import time
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.durations import parse_past
from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, Json, examples
from penstock.cli.words import key_values
from penstock.model.errors import UsageError

SHOWN_MAX = 100


def attach(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command(
        "search",
        epilog=examples(
            "penstock search orders \"key = 'alice'\"",
            "penstock search orders \"json:user.name = 'bob' AND json:amount > 100\" --since 1h",
            "penstock search orders \"headers['trace'] LIKE 'a1%'\" --columns 'offset,json:amount'",
            "penstock search orders --text 'out of memory' --since 7d --archive data/archive",
            "penstock search orders --regex 'ERR-[0-9]{4}' --output found.jsonl",
            "penstock search orders \"json:status = 'failed'\" --to-topic orders.failed",
        ),
    )(search)


def search(  # noqa: PLR0913 - typer wants one argument per option
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="Where to look.")],
    expression: Annotated[
        str | None,
        typer.Argument(
            metavar="[EXPRESSION]",
            help="Spark SQL over key, value, json:FIELD, headers['NAME'], partition, offset, timestamp.",
        ),
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help="Found as it is in keys or values.")] = None,
    regex: Annotated[
        str | None, typer.Option("--regex", metavar="REGEX", help="Java's, found somewhere in values.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="Records since: 10m (ago), 2026-01-31T08:00, @MS."),
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Records before; written like --since.")
    ] = None,
    times_rise: Annotated[
        bool,
        typer.Option(
            "--times-rise",
            help="Timestamps rise with offsets, as with LogAppendTime: nothing behind --until is read.",
        ),
    ] = False,
    archive: Annotated[
        str | None,
        typer.Option("--archive", metavar="PATH", help="Search an archive too, and the topic behind it."),
    ] = None,
    archive_only: Annotated[
        bool, typer.Option("--archive-only", help="Search the archive and ask no broker.")
    ] = False,
    columns: Annotated[
        str | None,
        typer.Option("--columns", metavar="LIST", help="What to show of each: SQL, separated by commas."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", min=1, help=f"The oldest N; {SHOWN_MAX} on a terminal, else all."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write them as lines of JSON.")
    ] = None,
    to_topic: Annotated[
        str | None, typer.Option("--to-topic", metavar="TOPIC", help="Copy them to another topic.")
    ] = None,
    master: Annotated[
        str | None,
        typer.Option("--master", metavar="MASTER", help="Where Spark runs; all cores here if left out."),
    ] = None,
    conf: Annotated[
        list[str] | None, typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark; repeatable.")
    ] = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Find every record of a topic, and of its archive, that an SQL expression or a text is true of.

    All of it is read, by all cores, from --since on. A field json:NAME is text unless it is compared with a
    number or a type is named behind it: json:amount::double.
    """
    from penstock.cli.search.running import SearchWishes, run_search

    now_ms = round(time.time() * 1000)
    if expression is None and text is None and regex is None:
        raise UsageError("Nothing says what to find: give an expression, --text or --regex.")
    if archive_only and archive is None:
        raise UsageError("--archive-only needs --archive.")
    run_search(
        SearchWishes(
            topic=topic,
            expression=expression,
            text=text,
            regex=regex,
            since_ms=None if since is None else parse_past(since, option="--since", now_ms=now_ms),
            until_ms=None if until is None else parse_past(until, option="--until", now_ms=now_ms),
            times_rise=times_rise,
            archive=archive,
            bootstrap_server=None if archive_only else bootstrap_server,
            columns=split_columns(columns or ""),
            limit=limit,
            output=output,
            to_topic=to_topic,
            master=master,
            conf=key_values(conf, option="--conf"),
            as_json=as_json,
        )
    )


def split_columns(text: str) -> tuple[str, ...]:
    """``a, f(b, c), 'd,e'`` as three: commas within brackets and quotes separate nothing."""
    parts, start, depth, quote = [], 0, 0, ""
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"`":
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and not depth:
            parts.append(text[start:position])
            start = position + 1
    return tuple(part.strip() for part in (*parts, text[start:]) if part.strip())
