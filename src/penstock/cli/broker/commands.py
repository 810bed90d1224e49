"""``penstock broker list|describe|decommission``."""

from typing import Annotated

import typer

from penstock.cli.durations import parse_duration
from penstock.cli.failure import CommandFailed
from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, Json, examples, new_app
from penstock.cli.output import print_json, working

BrokerId = Annotated[int, typer.Argument(metavar="BROKER", min=0, help="The broker's number.")]

broker_app = new_app(
    "List, describe and decommission brokers.", "penstock broker list", "penstock broker decommission 3"
)


def attach(app: typer.Typer) -> None:
    """Add the group to the tree."""
    app.add_typer(broker_app, name="broker")


@broker_app.command("list", epilog=examples("penstock broker list", "penstock broker list --json"))
def list_all(bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER, as_json: Json = False) -> None:
    """List brokers: where they are, how they are, what they hold.

    A star marks the controller. A broker is up, draining (being emptied), fenced (not heard of for too long)
    or down (named as a replica, but not known).
    """
    from penstock.cli.broker.report import broker_as_json, print_brokers, print_notes
    from penstock.cli.wire_session import connected
    from penstock.wire_client.cluster_description import describe_cluster

    with connected(bootstrap_server) as cluster, working("Asking all brokers"):
        described = describe_cluster(cluster)
    if as_json:
        print_json([broker_as_json(broker) for broker in described.brokers])
    else:
        print_brokers(described.brokers)
    print_notes(described.notes)


@broker_app.command(epilog=examples("penstock broker describe 1", "penstock broker describe 1 --json"))
def describe(
    broker_id: BrokerId,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Describe a broker: data directories, its part in the quorum, partitions."""
    from penstock.cli.broker.report import broker_details_as_json, print_broker_details, print_notes
    from penstock.cli.wire_session import connected
    from penstock.wire_client.cluster_description import describe_cluster

    with connected(bootstrap_server) as cluster, working("Asking all brokers"):
        described = describe_cluster(cluster)
    broker = described.broker(broker_id)
    if broker is None:
        raise CommandFailed(
            f"There is no broker {broker_id}.", hint="See what there is with `penstock broker list`."
        )
    if as_json:
        print_json(broker_details_as_json(described, broker))
    else:
        print_broker_details(described, broker)
    print_notes(described.notes)


@broker_app.command(
    epilog=examples(
        "penstock broker decommission 3",
        "penstock broker decommission 3 --no-wait --json",
        "penstock broker decommission 3 --cancel",
    )
)
def decommission(
    broker_id: BrokerId,
    cancel: Annotated[bool, typer.Option("--cancel", help="Stop emptying it, and let it stay.")] = False,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Only start it; asked again, tell how far it is.")
    ] = False,
    timeout: Annotated[
        str, typer.Option("--timeout", metavar="DURATION", help="How long to wait: 30s, 10m, 2h.")
    ] = "1h",
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Move everything off a broker, then forget it.

    The cluster does so by itself, while clients go on; this command starts it and waits for the end. Only
    clusters of Penstock brokers can.
    """
    seconds_max = parse_duration(timeout, option="--timeout") / 1000
    from penstock.cli.broker.decommission import (
        begin_decommission,
        cancel_decommission,
        wait_decommissioned,
    )
    from penstock.cli.wire_session import connected

    with connected(bootstrap_server) as cluster:
        if cancel:
            found = cancel_decommission(cluster, broker_id)
        else:
            found = begin_decommission(cluster, broker_id)
            if not no_wait:
                found = wait_decommissioned(cluster, found, seconds_max=seconds_max)
    if as_json:
        print_json(found.as_json())
    else:
        print(found)
