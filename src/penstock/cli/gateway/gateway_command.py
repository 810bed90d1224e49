"""``penstock gateway``."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, examples

Listen = Annotated[
    str,
    typer.Option(
        "--listen", "-a", metavar="HOST:PORT", help="Where browsers connect; port 0 takes a free one."
    ),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        help="Holds the token that whoever asks must know; made if it is not there. "
        "Or PENSTOCK_GATEWAY_TOKEN in the environment.",
    ),
]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--allowed-host", metavar="NAME", help="Another name under which browsers know it; may be repeated."
    ),
]
DEFAULT_LISTEN = "127.0.0.1:8080"


def attach(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command(
        "gateway",
        epilog=examples(
            "penstock gateway",
            "penstock gateway --bootstrap-server db1:9092 --listen 0.0.0.0:8080 --token-file gateway.token",
        ),
    )(gateway)


def gateway(
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    listen: Listen = DEFAULT_LISTEN,
    token_file: TokenFile = None,
    allowed_host: AllowedHosts = None,
    parent: Annotated[int | None, typer.Option("--parent", hidden=True)] = None,
) -> None:
    """Serve REST, the schema registry and the console in front of any Kafka.

    Prints `gateway on URL` when it is up. Needs no token on the loopback address; elsewhere one is made,
    printed once and kept, unless one is given. Ctrl-C or SIGTERM stops it.
    """
    from penstock.cli.gateway.starting import Chosen, parse_listen, require_installed, run, settings_of

    require_installed()
    if parent is not None:
        from penstock.cli.nodes.parent import end_with_parent

        end_with_parent(parent)
    host, port = parse_listen(listen)
    settings = settings_of(
        Chosen(
            bootstrap_servers=bootstrap_server,
            host=host,
            port=port,
            token_file=token_file,
            allowed_hosts=tuple(allowed_host or ()),
        )
    )
    option = "--listen" if parent is None else "--gateway"
    raise typer.Exit(run(settings, on_up=lambda url: print(f"gateway on {url}", flush=True), option=option))
