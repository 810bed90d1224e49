"""``penstock leader elect``."""

from typing import Annotated

import typer

from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, Json, examples, new_app
from penstock.cli.output import print_json
from penstock.cli.partition_choice import chosen_partitions, parse_partition_choice
from penstock.model.errors import UsageError

leader_app = new_app("Elect leaders of partitions.", "penstock leader elect")


def attach(app: typer.Typer) -> None:
    """Add the group to the tree."""
    app.add_typer(leader_app, name="leader")


@leader_app.command(
    epilog=examples(
        "penstock leader elect",
        "penstock leader elect --topic orders --topic clicks:0,1 --json",
        "penstock leader elect --topic orders:3 --unclean",
    )
)
def elect(
    topic: Annotated[
        list[str] | None,
        typer.Option("--topic", metavar="TOPIC[:0,1,2]", help="Only of these partitions; repeatable."),
    ] = None,
    unclean: Annotated[
        bool,
        typer.Option(
            "--unclean", help="Where nobody leads, let a replica lead that may lack records; they are lost."
        ),
    ] = False,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Make preferred replicas lead again, of all partitions or of some.

    The preferred replica is the first of a partition's replicas.
    """
    choice = parse_partition_choice(topic or ())
    if unclean and not choice:
        raise UsageError("--unclean loses records: name the partitions with --topic.")
    from penstock.cli.leader.election import elect_leaders
    from penstock.cli.wire_session import connected
    from penstock.wire_client.topics import find_leaders

    with connected(bootstrap_server) as cluster:
        chosen = chosen_partitions(choice, find_leaders(cluster, choice)) if choice else None
        results = elect_leaders(cluster, chosen, is_unclean=unclean)
    if as_json:
        print_json([result.as_json() for result in results])
    elif not results:
        print("Nothing to elect: every partition is led as it should be.")
    else:
        for result in results:
            print(f"{result.where}: {result.outcome}")
    refusals = [result.refusal for result in results if result.refusal is not None]
    if refusals:
        raise refusals[0]
