"""``penstock client list|describe``."""

from typing import Annotated

import typer

from penstock.cli.failure import CommandFailed
from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, Json, examples, new_app
from penstock.cli.output import print_json, print_table

NOBODY = (
    "No client has pushed metrics. Ask for some with `penstock config set client-metrics NAME metrics=...`; "
    "clients that are connected already notice when they connect again."
)

Pages = Annotated[
    list[str] | None,
    typer.Option(
        "--metrics",
        "-m",
        metavar="HOST:PORT",
        help="Where a broker serves its page of metrics; repeatable. By default 10000 above the ports of "
        "--bootstrap-server.",
    ),
]

client_app = new_app(
    "Show what clients tell brokers of themselves (KIP-714).",
    "penstock client list",
    "penstock client describe orders-1",
)


def attach(app: typer.Typer) -> None:
    """Add the group of commands to the tree."""
    app.add_typer(client_app, name="client")


@client_app.command(
    "list", epilog=examples("penstock client list", "penstock client list --metrics 127.0.0.1:19092 --json")
)
def list_all(
    metrics: Pages = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """List clients that have pushed metrics lately."""
    from penstock.cli.client.pages import page_addresses, read_clients

    clients = read_clients(page_addresses(metrics or [], bootstrap_server))
    if as_json:
        print_json([{**each.facts, "metrics": len(each.metrics)} for each in clients])
    elif clients:
        columns = ("client_id", "client_software_name", "client_software_version", "client_source_address")
        print_table(
            ["CLIENT", "SOFTWARE", "VERSION", "ADDRESS", "METRICS", "INSTANCE"],
            [
                [*(each.facts[name] for name in columns), len(each.metrics), each.facts["client_instance_id"]]
                for each in clients
            ],
            numbers=[4],
        )
    else:
        print(NOBODY)


@client_app.command(
    epilog=examples("penstock client describe orders-1", "penstock client describe MTp31lHAWB-NmyAmemUyGA")
)
def describe(
    client: Annotated[str, typer.Argument(metavar="CLIENT", help="A client's id, or that of its instance.")],
    metrics: Pages = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Show every number that clients of this id have pushed, and to whom."""
    from penstock.cli.client.pages import page_addresses, read_clients

    clients = read_clients(page_addresses(metrics or [], bootstrap_server))
    names = ("client_id", "client_instance_id")
    found = [each for each in clients if client in (each.facts[name] for name in names)]
    if not found:
        raise CommandFailed(
            f"No client {client!r} has pushed metrics lately.",
            hint="See who has with `penstock client list`.",
        )
    told = [metric for each in found for metric in each.metrics]
    if as_json:
        print_json(
            [
                {"name": each.name, "labels": each.labels, "value": each.value, "page": each.page}
                for each in told
            ]
        )
        return
    rows = [
        [
            each.name,
            ",".join(f"{name}={value}" for name, value in each.labels.items() if name not in names),
            f"{each.value:g}",
            each.labels["client_instance_id"],
            each.page,
        ]
        for each in told
    ]
    print_table(["METRIC", "LABELS", "VALUE", "INSTANCE", "PAGE"], rows, numbers=[2])
