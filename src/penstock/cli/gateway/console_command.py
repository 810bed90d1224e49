"""``penstock console``."""

from typing import Annotated

import typer

from penstock.cli.gateway.gateway_command import DEFAULT_LISTEN, TokenFile
from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, examples


def attach(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command(
        "console",
        epilog=examples("penstock console", "penstock console --bootstrap-server kafka1:9092,kafka2:9092"),
    )(console)


def console(
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    listen: Annotated[
        str | None,
        typer.Option(
            "--listen",
            "-a",
            metavar="HOST:PORT",
            help=f"Where the browser connects; {DEFAULT_LISTEN}, or a free port if that is taken.",
        ),
    ] = None,
    token_file: TokenFile = None,
) -> None:
    """Look into any Kafka with a browser; prints the address to open. Ctrl-C ends it."""
    from penstock.cli.gateway.starting import (
        Chosen,
        free_listen,
        parse_listen,
        require_installed,
        run,
        settings_of,
    )
    from penstock.cli.librdkafka import require_reachable

    require_installed()
    require_reachable(bootstrap_server)
    host, port = parse_listen(listen or free_listen(DEFAULT_LISTEN))
    settings = settings_of(
        Chosen(bootstrap_servers=bootstrap_server, host=host, port=port, token_file=token_file)
    )
    raise typer.Exit(
        run(settings, on_up=lambda url: print(f"console on {url}/", flush=True), option="--listen")
    )
