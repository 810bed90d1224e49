"""``penstock logs search|tail``."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.durations import parse_past
from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, Json, examples, new_app
from penstock.cli.words import key_values
from penstock.model.errors import UsageError

if TYPE_CHECKING:
    from penstock.client.logs.query import LogQuery

LIMIT = 1_000
TAIL_COUNT = 20
TAIL_SINCE = "1h"

logs_app = new_app(
    "Search and follow the logs of all brokers.",
    "penstock logs search 'leader elected' --since 1h",
    "penstock logs tail --level warn",
)

Text = Annotated[
    str, typer.Argument(metavar="[TEXT]", help="Found as it is, whatever its case, in events and fields.")
]
Regex = Annotated[bool, typer.Option("--regex", help="TEXT is a regular expression (RE2).")]
Level = Annotated[
    str,
    typer.Option("--level", metavar="LEVEL", help="This one or worse: debug, info, warn, error, critical."),
]
Until = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="Entries before; written like --since.")
]
Brokers = Annotated[
    list[int] | None, typer.Option("--broker", metavar="N", help="What this broker said; repeatable.")
]
Component = Annotated[
    str, typer.Option("--component", metavar="NAME", help="A part of the component's name, like raft.")
]
Event = Annotated[str, typer.Option("--event", metavar="NAME", help="A part of the event's name.")]
Fields = Annotated[
    list[str] | None,
    typer.Option("--field", metavar="NAME=VALUE", help="A field of the entry; all of several must match."),
]
Directory = Annotated[
    Path | None,
    typer.Option(
        "--dir", metavar="DIR", help="Search the log files of a data directory; no broker is asked."
    ),
]


def attach(app: typer.Typer) -> None:
    """Add the group to the tree."""
    app.add_typer(logs_app, name="logs")


@logs_app.command(
    epilog=examples(
        "penstock logs search 'leader elected' --since 1h",
        "penstock logs search --level warn --broker 2 --since 2026-01-31T08:00 --until 2026-01-31T09:00",
        "penstock logs search --component raft --field term=7",
        "penstock logs search --event 'in-sync' --field partition=orders-3 --follow",
        "penstock logs search 'broke|refused' --regex --json",
        "penstock logs search --dir /var/lib/penstock --level error    (no broker needs to be up)",
    )
)
def search(  # noqa: PLR0913 - typer wants one argument per option
    text: Text = "",
    regex: Regex = False,
    level: Level = "debug",
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="Entries since: 10m (ago), 2026-01-31T08:00, @MS."),
    ] = None,
    until: Until = None,
    broker: Brokers = None,
    component: Component = "",
    event: Event = "",
    field: Fields = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="The newest N.")] = LIMIT,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what comes, until Ctrl-C.")
    ] = False,
    directory: Directory = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Find what brokers have logged, of the whole cluster, the newest last.

    Entries are in the topic __penstock_logs about a second after the events they tell of.
    """
    from penstock.cli.logs.showing import Showing, show_files, show_topic

    if follow and (directory is not None or until is not None):
        raise UsageError("--follow goes on for ever: it goes neither with --until nor with --dir.")
    query = _query(
        text,
        is_regex=regex,
        level=level,
        since=since,
        until=until,
        brokers=broker,
        component=component,
        event=event,
        fields=field,
        limit=limit,
    )
    showing = Showing(as_json=as_json)
    if directory is not None:
        show_files(directory, query, showing)
    else:
        show_topic(bootstrap_server, query, showing, follows=follow)


@logs_app.command(
    epilog=examples(
        "penstock logs tail",
        "penstock logs tail --level warn",
        "penstock logs tail orders --broker 2 -n 100",
    )
)
def tail(  # noqa: PLR0913 - typer wants one argument per option
    text: Text = "",
    regex: Regex = False,
    level: Level = "debug",
    broker: Brokers = None,
    component: Component = "",
    event: Event = "",
    field: Fields = None,
    count: Annotated[
        int, typer.Option("--limit", "-n", min=1, help="How many of the last hour are shown first.")
    ] = TAIL_COUNT,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Show the newest entries, and go on with what comes, until Ctrl-C."""
    from penstock.cli.logs.showing import Showing, show_topic

    query = _query(
        text,
        is_regex=regex,
        level=level,
        since=TAIL_SINCE,
        until=None,
        brokers=broker,
        component=component,
        event=event,
        fields=field,
        limit=count,
    )
    show_topic(bootstrap_server, query, Showing(as_json=as_json), follows=True)


def _query(  # noqa: PLR0913 - what was typed, all by name
    text: str,
    *,
    is_regex: bool,
    level: str,
    since: str | None,
    until: str | None,
    brokers: list[int] | None,
    component: str,
    event: str,
    fields: list[str] | None,
    limit: int,
) -> "LogQuery":
    from penstock.client.logs.query import LogQuery

    now_ms = round(time.time() * 1000)
    return LogQuery(
        text="" if is_regex else text,
        pattern=text if is_regex else None,
        level=level,
        since_ms=None if since is None else parse_past(since, option="--since", now_ms=now_ms),
        until_ms=None if until is None else parse_past(until, option="--until", now_ms=now_ms),
        brokers=frozenset(brokers or ()),
        component=component,
        event=event,
        fields=key_values(fields, option="--field"),
        limit=limit,
    )
