"""``penstock group list|describe|reset-offsets|delete|delete-offsets``."""

import time
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, Json, examples, new_app
from penstock.cli.output import print_json, working
from penstock.cli.partition_choice import parse_partition_choice
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import UsageError

if TYPE_CHECKING:
    from penstock.cli.group.deletion import Deletion

Name = Annotated[str, typer.Argument(metavar="GROUP", help="The group's id.")]
Names = Annotated[list[str], typer.Argument(metavar="GROUP", help="Ids of groups.")]
TopicChoice = Annotated[
    list[str] | None,
    typer.Option("--topic", metavar="TOPIC[:0,1,2]", help="A topic, or some of its partitions; repeatable."),
]


class GroupType(StrEnum):
    """How the members of a group share the work."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"


class GroupState(StrEnum):
    """Every state that a group of any type can be in."""

    STABLE = "Stable"
    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    NOT_READY = "NotReady"
    DEAD = "Dead"


group_app = new_app(
    "List and describe groups, reset their offsets, delete them.",
    "penstock group describe billing",
    "penstock group reset-offsets billing --topic orders --to-earliest --dry-run",
)


def attach(app: typer.Typer) -> None:
    """Add the group of commands to the tree."""
    app.add_typer(group_app, name="group")


@group_app.command(
    "list",
    epilog=examples(
        "penstock group list",
        "penstock group list --state empty",
        "penstock group list --type consumer --json",
    ),
)
def list_all(
    state: Annotated[
        list[GroupState] | None,
        typer.Option("--state", case_sensitive=False, help="Only groups in this state; repeatable."),
    ] = None,
    group_type: Annotated[
        list[GroupType] | None,
        typer.Option("--type", case_sensitive=False, help="Only groups of this type; repeatable."),
    ] = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """List groups: type, state, members, lag."""
    from penstock.cli.group.report import print_listing
    from penstock.cli.wire_session import connected
    from penstock.wire_client.groups.listing import list_groups

    with connected(bootstrap_server) as cluster, working("Reading groups and their offsets"):
        found = list_groups(
            cluster, states={one.value.lower() for one in state or ()}, types={*(group_type or ())}
        )
    if as_json:
        print_json([group.as_json() for group in found])
    else:
        print_listing(found)


@group_app.command(
    epilog=examples(
        "penstock group describe billing",
        "penstock group describe billing --members",
        "penstock group describe --json    (all groups)",
    )
)
def describe(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="GROUP", help="Ids of groups; all when left out.")
    ] = None,
    members: Annotated[
        bool, typer.Option("--members", help="Show who the members are and what each has.")
    ] = False,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Describe groups: members, committed offsets, lag."""
    from penstock.cli.group.missing import explain_missing
    from penstock.cli.group.report import description_as_json, print_members, print_offsets
    from penstock.cli.wire_session import connected
    from penstock.wire_client.groups.description import describe_groups
    from penstock.wire_client.groups.listing import listed_groups
    from penstock.wire_client.groups.offsets import progress_of

    with connected(bootstrap_server) as cluster, working("Reading groups and their offsets"):
        wanted = names or list(listed_groups(cluster))
        described = describe_groups(cluster, wanted)
        progress = progress_of(cluster, list(described.values()))
        missing = explain_missing(cluster, [name for name in names or () if name not in described])
    if as_json:
        print_json([description_as_json(group, progress[name]) for name, group in described.items()])
    else:
        show = print_members if members else print_offsets
        for name, group in described.items():
            show(group, progress[name])
    if missing is not None:
        raise missing


@group_app.command(
    "reset-offsets",
    epilog=examples(
        "penstock group reset-offsets billing --topic orders --to-earliest --dry-run",
        "penstock group reset-offsets billing --topic orders:0,2 --shift-by -100",
        "penstock group reset-offsets billing --all-topics --to-datetime 2026-01-31T08:00:00+01:00",
        "penstock group reset-offsets billing --all-topics --by-duration 10m",
    ),
)
def reset_offsets(  # noqa: PLR0913 - typer wants one argument per option
    name: Name,
    topic: TopicChoice = None,
    all_topics: Annotated[
        bool, typer.Option("--all-topics", help="Every partition that the group has an offset for.")
    ] = False,
    to_earliest: Annotated[bool, typer.Option("--to-earliest", help="To the start of the log.")] = False,
    to_latest: Annotated[bool, typer.Option("--to-latest", help="To the end of the log.")] = False,
    to_current: Annotated[
        bool, typer.Option("--to-current", help="Where it is, moved into the log if need be.")
    ] = False,
    to_datetime: Annotated[
        str | None,
        typer.Option(
            "--to-datetime", metavar="TIME", help="To a time: ISO 8601, UTC unless it names a zone, or @MS."
        ),
    ] = None,
    by_duration: Annotated[
        str | None,
        typer.Option("--by-duration", metavar="DURATION", help="To so long ago: 10m, 1h30m, 7d, PT10M."),
    ] = None,
    shift_by: Annotated[
        int | None, typer.Option("--shift-by", metavar="N", help="By so many records; back if negative.")
    ] = None,
    to_offset: Annotated[int | None, typer.Option("--to-offset", metavar="N", help="To this offset.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would happen; change nothing.")
    ] = False,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Move the offsets of a group without active members.

    Every offset is printed before and after, which is what it takes to go back. One that would lie outside
    the log is moved to its nearer end.
    """
    from penstock.cli.group.reset_target import parse_target

    given: dict[str, str | int | bool | None] = {
        "--to-earliest": to_earliest,
        "--to-latest": to_latest,
        "--to-current": to_current,
        "--to-datetime": to_datetime,
        "--by-duration": by_duration,
        "--shift-by": shift_by,
        "--to-offset": to_offset,
    }
    target = parse_target(given, now_ms=int(time.time() * 1000))
    if bool(topic) == all_topics:
        raise UsageError("Give either --topic, once or several times, or --all-topics.")
    choice = parse_partition_choice(topic or ())
    from penstock.cli.group.report import print_reset
    from penstock.cli.group.reset import reset
    from penstock.cli.wire_session import connected

    with connected(bootstrap_server) as cluster:
        result = reset(cluster, name, choice=choice, target=target, dry_run=dry_run)
    if as_json:
        print_json(result.as_json())
    else:
        print_reset(result)


@group_app.command(
    epilog=examples("penstock group delete billing", "penstock group delete billing audit --if-exists")
)
def delete(
    names: Names,
    if_exists: Annotated[bool, typer.Option("--if-exists", help="Succeed when it is not there.")] = False,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Delete groups without members, and all their offsets."""
    from penstock.cli.group.deletion import delete_groups
    from penstock.cli.wire_session import connected

    with connected(bootstrap_server) as cluster:
        deletions = delete_groups(cluster, names)
    _finish("group", deletions, excused=ErrorCode.GROUP_ID_NOT_FOUND if if_exists else None, as_json=as_json)


@group_app.command(
    "delete-offsets",
    epilog=examples(
        "penstock group delete-offsets billing --topic orders",
        "penstock group delete-offsets billing --topic orders:3 --topic clicks",
    ),
)
def delete_offsets(
    name: Name,
    topic: Annotated[
        list[str],
        typer.Option("--topic", metavar="TOPIC[:0,1,2]", help="What to forget; repeatable."),
    ],
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Delete single offsets of a group."""
    choice = parse_partition_choice(topic)
    from penstock.cli.group.deletion import delete_chosen_offsets
    from penstock.cli.wire_session import connected

    with connected(bootstrap_server) as cluster:
        deletions = delete_chosen_offsets(cluster, name, choice)
    _finish("partition", deletions, excused=None, as_json=as_json)


def _finish(noun: str, deletions: "Sequence[Deletion]", *, excused: int | None, as_json: bool) -> None:
    """Print what happened, and fail with the first refusal that is not ``excused``."""
    outcomes = {
        name: "deleted" if refusal is None else "unchanged"
        for name, refusal in deletions
        if refusal is None or refusal.code == excused
    }
    if as_json and outcomes:
        print_json([{noun: name, "outcome": outcome} for name, outcome in outcomes.items()])
    elif outcomes:
        for name, outcome in outcomes.items():
            print(f"{name}: {outcome}")
    for name, refusal in deletions:
        if refusal is not None and name not in outcomes:
            raise refusal
