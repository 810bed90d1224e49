"""``penstock serve``: run a broker until it is told to stop.

Flags are only names for settings: they win over the environment, which wins over the file. What the broker
needs is imported after the command line was understood, so that a typing mistake is answered at once.
"""

import os
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.options import examples, key_values


def attach(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command(
        "serve",
        epilog=examples(
            "penstock serve",
            "penstock serve --data-dir /var/lib/penstock --listen 192.0.2.7:9092",
            "penstock serve --config server.properties --set log.retention.hours=24",
            "penstock serve --listen 127.0.0.1:0    (takes a free port and prints it)",
        ),
    )(serve)


def serve(
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Where the data lies.  [default: ./penstock-data]")
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(
            "-a",
            "--address",
            "--listen",
            metavar="HOST:PORT",
            help="Where clients connect; port 0 takes a free one.  [default: 127.0.0.1:9092]",
        ),
    ] = None,
    node_id: Annotated[
        int | None,
        typer.Option("-b", "--broker-id", "--node-id", min=0, help="This broker's number.  [default: 1]"),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "-c", "--config", envvar="PENSTOCK_CONFIG", help="Settings: a YAML, JSON or .properties file."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Any one setting by its name; repeatable."),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("-V", "--verbose", help="Log what is done for each client.")
    ] = False,
) -> None:
    """Run a broker.

    Prints `penstock ready on HOST:PORT` when clients may connect; logs go to standard error. Ctrl-C or
    SIGTERM stops it cleanly. Every setting may also be given as an environment variable, for example
    PENSTOCK_LOG_RETENTION_MS.
    """
    flags = key_values(settings, option="--set")
    flags |= _named_flags(data_dir=data_dir, listen=listen, node_id=node_id)
    from penstock.config.sources import load_broker_config

    broker_config = load_broker_config(file=config, environment=os.environ, flags=flags)
    from penstock.broker.logs import configure_logging
    from penstock.broker.main import run_broker

    configure_logging(is_verbose=verbose)
    raise typer.Exit(run_broker(broker_config))


def _named_flags(*, data_dir: Path | None, listen: str | None, node_id: int | None) -> dict[str, str]:
    """The settings behind the options that were given."""
    given = {"log.dirs": data_dir, "listeners": listen, "node.id": node_id}
    return {name: str(value) for name, value in given.items() if value is not None}
