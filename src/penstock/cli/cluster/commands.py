"""``penstock cluster up|status``."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, Json, examples, new_app
from penstock.cli.output import print_json, working
from penstock.cli.words import key_values

NODES_DEFAULT = 3

cluster_app = new_app(
    "Run a cluster on this machine, or look at any.",
    "penstock cluster up --nodes 3",
    "penstock cluster status",
)


def attach(app: typer.Typer) -> None:
    """Add the group to the tree."""
    app.add_typer(cluster_app, name="cluster")


@cluster_app.command(
    epilog=examples(
        "penstock cluster up",
        "penstock cluster up --nodes 5 --dir five --port 19092",
        "penstock cluster up --set default.replication.factor=3 --log-files --json",
    )
)
def up(
    nodes: Annotated[
        int | None,
        typer.Option(
            "--nodes",
            "-n",
            min=1,
            max=64,
            help=f"How many brokers; {NODES_DEFAULT} at first, later as many as there were.",
        ),
    ] = None,
    directory: Annotated[
        Path,
        typer.Option("--dir", "-d", metavar="DIR", help="Where the data lies; node-1, node-2, ... in it."),
    ] = Path("penstock-cluster"),
    port: Annotated[
        int | None,
        typer.Option(
            "--port", "-p", min=1, max=65_535, help="Of the first broker; the others have those after it."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of all brokers; repeatable."),
    ] = None,
    log_files: Annotated[
        bool, typer.Option("--log-files", help="Write logs to DIR/node-1.log and so on.")
    ] = False,
    gateway: Annotated[
        str | None,
        typer.Option(
            "--gateway",
            metavar="HOST:PORT",
            help="Where the console and REST listen; 127.0.0.1:8080 unless PENSTOCK_GATEWAY says otherwise.",
        ),
    ] = None,
    no_gateway: Annotated[bool, typer.Option("--no-gateway", help="Brokers alone.")] = False,
    as_json: Json = False,
) -> None:
    """Run a cluster of several brokers on this machine, until Ctrl-C or SIGTERM.

    Prints one line with the addresses when all brokers are ready, and one with the console's; logs of brokers
    go to standard error, each line with the broker's name before it. The same --dir brings the same cluster
    back, on the same ports. A broker that ends is not started again.
    """
    values = key_values(settings, option="--set")
    from penstock.cli.nodes.gateway_keeper import chosen_listen
    from penstock.cli.nodes.local_cluster import LocalCluster, run_local_cluster

    wanted = LocalCluster(
        directory=directory.absolute(),
        count=nodes,
        port=port,
        settings=values,
        has_log_files=log_files,
        gateway=chosen_listen(gateway, is_off=no_gateway),
    )
    raise typer.Exit(run_local_cluster(wanted, as_json=as_json))


@cluster_app.command(
    epilog=examples("penstock cluster status", "penstock cluster status --bootstrap-server db1:9092 --json")
)
def status(bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER, as_json: Json = False) -> None:
    """Show a cluster: brokers, controller, quorum, partitions that lack replicas or a leader."""
    from penstock.cli.broker.report import print_notes
    from penstock.cli.cluster.report import cluster_as_json, print_cluster
    from penstock.cli.reassign.moves import ongoing_moves
    from penstock.cli.wire_session import connected
    from penstock.wire_client.cluster_description import describe_cluster

    with connected(bootstrap_server) as cluster, working("Asking all brokers"):
        described = describe_cluster(cluster)
        moving = len(ongoing_moves(cluster))
    if as_json:
        print_json(cluster_as_json(described, moving=moving))
    else:
        print_cluster(described, moving=moving)
    print_notes(described.notes)
