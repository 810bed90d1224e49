"""``penstock reassign plan|run|status|cancel``: move replicas to other brokers while everything goes on."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.durations import parse_duration
from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, Json, examples, new_app
from penstock.cli.output import print_json, working
from penstock.cli.sizes import parse_rate
from penstock.model.errors import UsageError

if TYPE_CHECKING:
    from penstock.cli.reassign.moves import Refusals
    from penstock.cli.reassign.plan import Assignment, Move
    from penstock.wire_client.cluster import Cluster

PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help="A plan, in Kafka's JSON form.")]
OptionalPlanFile = Annotated[
    Path | None, typer.Argument(metavar="[PLAN]", help="Only what this plan is about.")
]

reassign_app = new_app(
    "Plan and carry out moves of replicas to other brokers.",
    "penstock reassign plan --topics orders --brokers 1,2,3 -o plan.json",
    "penstock reassign run plan.json",
)


def attach(app: typer.Typer) -> None:
    """Add the group to the tree."""
    app.add_typer(reassign_app, name="reassign")


@reassign_app.command(
    epilog=examples(
        "penstock reassign plan",
        "penstock reassign plan --topics orders,clicks --brokers 1,2,3 -o plan.json",
        "penstock reassign plan --topics orders --replication-factor 3 --no-even -o plan.json",
    )
)
def plan(
    topics: Annotated[
        list[str] | None,
        typer.Option("--topics", "--topic", metavar="TOPIC,...", help="Only these; repeatable."),
    ] = None,
    brokers: Annotated[
        list[str] | None,
        typer.Option("--brokers", metavar="ID,...", help="Use only these; all that are up by default."),
    ] = None,
    even: Annotated[
        bool, typer.Option("--even/--no-even", help="Spread evenly, or move only what must be moved.")
    ] = True,
    replication_factor: Annotated[
        int | None, typer.Option("--replication-factor", "-r", min=1, help="Give them so many replicas.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the plan there.")
    ] = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Plan where replicas should be; nothing is moved.

    Racks are kept apart, and as little as possible is moved. What --json prints and -o writes is also what
    kafka-reassign-partitions takes.
    """
    from penstock.cli.reassign.planning import Wish

    wish = Wish(
        topics=_names(topics),
        brokers=_numbers(brokers),
        replication_factor=replication_factor,
        is_even=even,
    )
    from penstock.cli.reassign.moves import ongoing_moves
    from penstock.cli.reassign.plan import assignment_as_json, write_plan
    from penstock.cli.reassign.planning import bytes_to_copy, plan_moves
    from penstock.cli.reassign.report import print_moves
    from penstock.cli.wire_session import connected
    from penstock.wire_client.cluster_description import describe_cluster

    with connected(bootstrap_server) as cluster, working("Asking all brokers"):
        described = describe_cluster(cluster)
        moves = plan_moves(described, ongoing_moves(cluster), wish)
    assignment = {move.where: move.after for move in moves}
    if as_json:
        print_json(assignment_as_json(assignment))
    else:
        print_moves(moves, bytes_to_copy(described, moves))
    if output is not None:
        write_plan(output, assignment)
        if moves:
            print(f"Hint: Carry it out with `penstock reassign run {output}`.", file=sys.stderr)


@reassign_app.command(
    epilog=examples(
        "penstock reassign run plan.json",
        "penstock reassign run plan.json --throttle 50MB --timeout 6h",
        "penstock reassign run plan.json --no-wait --save-current before.json",
    )
)
def run(
    plan_file: PlanFile,
    throttle: Annotated[
        str | None,
        typer.Option(
            "--throttle", metavar="BYTES/S", help="What a broker may copy in a second: 50MB, 10MiB."
        ),
    ] = None,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Only begin the moves.")] = False,
    timeout: Annotated[
        str, typer.Option("--timeout", metavar="DURATION", help="How long to wait: 30s, 10m, 2h.")
    ] = "1h",
    save_current: Annotated[
        Path | None,
        typer.Option("--save-current", metavar="FILE", help="Write a plan for the way back there first."),
    ] = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Carry out a plan, and wait until everything is in its place.

    A throttle is taken away at the end; when the wait is cut short, running the same again does it.
    """
    rate = None if throttle is None else parse_rate(throttle, option="--throttle")
    seconds_max = parse_duration(timeout, option="--timeout") / 1000
    from penstock.cli.reassign.execution import moves_of, wait_moved
    from penstock.cli.reassign.moves import require_reassignments
    from penstock.cli.reassign.plan import read_plan, write_plan
    from penstock.cli.reassign.throttle import remove_throttle
    from penstock.cli.wire_session import connected

    assignment = read_plan(plan_file)
    with connected(bootstrap_server) as cluster:
        require_reassignments(cluster)
        moves = moves_of(cluster, assignment)
        if save_current is not None:
            write_plan(save_current, {move.where: move.before for move in moves})
        refusals = _begin(cluster, assignment, moves, rate)
        begun = [move for move in moves if move.where not in refusals]
        if begun and not no_wait:
            wait_moved(cluster, begun, seconds_max=seconds_max)
        if rate is not None and not (begun and no_wait):
            remove_throttle(cluster, {move.where.topic for move in moves})
    _report_run(moves, refusals, outcome="started" if no_wait else "done", as_json=as_json)
    if rate is not None and no_wait:
        print("Note: The throttle stays; run the same without --no-wait to take it away.", file=sys.stderr)


@reassign_app.command(
    epilog=examples("penstock reassign status", "penstock reassign status plan.json --json")
)
def status(
    plan_file: OptionalPlanFile = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Show what moves, or how far a plan is."""
    from penstock.cli.reassign.execution import ongoing_statuses, plan_statuses
    from penstock.cli.reassign.moves import require_reassignments
    from penstock.cli.reassign.plan import read_plan
    from penstock.cli.reassign.report import print_statuses
    from penstock.cli.wire_session import connected

    assignment = None if plan_file is None else read_plan(plan_file)
    with connected(bootstrap_server) as cluster:
        require_reassignments(cluster)
        statuses = ongoing_statuses(cluster) if assignment is None else plan_statuses(cluster, assignment)
    if as_json:
        print_json([one.as_json() for one in statuses])
    else:
        print_statuses(statuses)


@reassign_app.command(
    epilog=examples("penstock reassign cancel", "penstock reassign cancel plan.json --json")
)
def cancel(
    plan_file: OptionalPlanFile = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Call moves off, all or those of a plan; partitions go back to where they were.

    Throttles on their topics and on the brokers are taken away.
    """
    from penstock.cli.reassign.moves import (
        cancel_moves,
        is_not_moving,
        ongoing_moves,
        require_reassignments,
    )
    from penstock.cli.reassign.plan import read_plan
    from penstock.cli.reassign.report import print_outcomes
    from penstock.cli.reassign.throttle import remove_throttle
    from penstock.cli.wire_session import connected

    assignment = None if plan_file is None else read_plan(plan_file)
    with connected(bootstrap_server) as cluster:
        require_reassignments(cluster)
        partitions = sorted(ongoing_moves(cluster) if assignment is None else assignment)
        refusals = cancel_moves(cluster, partitions)
        remove_throttle(cluster, {where.topic for where in partitions})
    outcomes = {
        where: "unchanged" if is_not_moving(refusals.get(where)) else "cancelled"
        for where in partitions
        if where not in refusals or is_not_moving(refusals[where])
    }
    if as_json:
        print_json(
            [
                {"topic": topic, "partition": partition, "outcome": outcome}
                for (topic, partition), outcome in outcomes.items()
            ]
        )
    elif not partitions:
        print("Nothing to cancel.")
    else:
        print_outcomes(outcomes.items())
    for refusal in refusals.values():
        if not is_not_moving(refusal):
            raise refusal


def _begin(cluster: "Cluster", assignment: "Assignment", moves: "list[Move]", rate: int | None) -> "Refusals":
    from penstock.cli.reassign.moves import begin_moves
    from penstock.cli.reassign.throttle import remove_throttle, set_throttle
    from penstock.wire_client.errors import WireClientError

    if rate is None:
        return begin_moves(cluster, assignment)
    set_throttle(cluster, moves, rate)
    try:
        return begin_moves(cluster, assignment)
    except WireClientError:
        remove_throttle(cluster, {move.where.topic for move in moves})
        raise


def _report_run(moves: "list[Move]", refusals: "Refusals", *, outcome: str, as_json: bool) -> None:
    """Say what became of each partition, and fail with the first failure."""
    from penstock.cli.reassign.report import outcomes_as_json, print_outcomes

    if as_json:
        print_json(outcomes_as_json(moves, refusals, outcome))
    else:
        print_outcomes((move.where, outcome) for move in moves if move.where not in refusals)
    if refusals:
        raise next(iter(refusals.values()))


def _names(texts: list[str] | None) -> frozenset[str] | None:
    parts = _parts(texts)
    return None if parts is None else frozenset(parts)


def _numbers(texts: list[str] | None) -> frozenset[int] | None:
    parts = _parts(texts)
    if parts is not None and not all(part.isdecimal() for part in parts):
        raise UsageError(f"--brokers {','.join(parts)!r} is no list of numbers like 1,2,3.")
    return None if parts is None else frozenset(map(int, parts))


def _parts(texts: list[str] | None) -> list[str] | None:
    """All values of an option that may be repeated, and hold several with commas."""
    if not texts:
        return None
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]
