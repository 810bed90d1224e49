"""``penstock topic create|list|describe|alter|add-partitions|delete``."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.failure import CommandFailed, ExitCode
from penstock.cli.librdkafka import ask, connect_admin, result_of, succeeds
from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, Json, examples, new_app
from penstock.cli.output import print_json, print_table
from penstock.cli.topic.description import (
    TopicDescription,
    describe_topics,
    existing_topics,
    print_description,
    topic_configs,
)
from penstock.cli.words import counted, key_values
from penstock.model.errors import UsageError

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient


def _named(given: Any) -> Any:
    """Refuse an empty name, as a variable leaves that was never set."""
    if given == "" or (isinstance(given, list) and "" in given):
        raise UsageError("The name of a topic is empty.")
    return given


Name = Annotated[str, typer.Argument(metavar="TOPIC", help="The topic's name.", callback=_named)]
Names = Annotated[list[str], typer.Argument(metavar="TOPIC...", help="Names of topics.", callback=_named)]
Configs = Annotated[
    list[str] | None,
    typer.Option("--config", "-c", metavar="KEY=VALUE", help="A topic setting; may be given several times."),
]

PARTITIONS_MAX = 100_000
REPLICAS_MAX = 10_000
"""What librdkafka takes."""

topic_app = new_app(
    "Create, list, describe, alter and delete topics.",
    "penstock topic create orders --partitions 4",
    "penstock topic describe orders",
)


def attach(app: typer.Typer) -> None:
    """Add the group to the tree."""
    app.add_typer(topic_app, name="topic")


@topic_app.command(
    epilog=examples(
        "penstock topic create orders",
        "penstock topic create orders --partitions 4 --config retention.ms=86400000",
        "penstock topic create orders --if-not-exists --bootstrap-server 127.0.0.1:19092",
    )
)
def create(
    names: Names,
    partitions: Annotated[
        int,
        typer.Option(
            "--partitions", "-p", min=-1, max=PARTITIONS_MAX, help="How many; -1 leaves it to the broker."
        ),
    ] = -1,
    replication_factor: Annotated[
        int,
        typer.Option(
            "--replication-factor", "-r", min=-1, max=REPLICAS_MAX, help="Copies; -1 leaves it to the broker."
        ),
    ] = -1,
    config: Configs = None,
    if_not_exists: Annotated[
        bool, typer.Option("--if-not-exists", help="Succeed when the topic is already there.")
    ] = False,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Create topics."""
    settings = key_values(config, option="--config")
    admin = connect_admin(bootstrap_server)
    from confluent_kafka.admin import NewTopic

    wanted = [
        NewTopic(
            name, num_partitions=partitions, replication_factor=replication_factor, config=dict(settings)
        )
        for name in names
    ]
    futures = ask(lambda: admin.create_topics(wanted), doing="create the topic")
    _finish("create", futures, excused="TOPIC_ALREADY_EXISTS" if if_not_exists else "", as_json=as_json)


@topic_app.command("list", epilog=examples("penstock topic list", "penstock topic list --json"))
def list_topics(
    internal: Annotated[bool, typer.Option("--internal", help="Show internal topics too.")] = False,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """List topics."""
    partitions = existing_topics(connect_admin(bootstrap_server))
    shown = {name: count for name, count in partitions.items() if internal or not name.startswith("__")}
    if as_json:
        print_json([{"topic": name, "partitions": count} for name, count in shown.items()])
    elif shown:
        print_table(("TOPIC", "PARTITIONS"), list(shown.items()), numbers=(1,))


@topic_app.command(
    epilog=examples("penstock topic describe", "penstock topic describe orders --all-configs --json")
)
def describe(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TOPIC]...", help="Names of topics; all when left out.", callback=_named),
    ] = None,
    all_configs: Annotated[
        bool, typer.Option("--all-configs", help="Show every setting, not only those that were changed.")
    ] = False,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Describe topics: partitions, leaders, replicas, offsets, settings."""
    admin = connect_admin(bootstrap_server)
    wanted = list(dict.fromkeys(names or ())) or [
        name for name in existing_topics(admin) if not name.startswith("__")
    ]
    described: list[TopicDescription] = describe_topics(admin, wanted, all_configs=all_configs)
    if as_json:
        print_json([topic.as_json() for topic in described])
    else:
        for topic in described:
            print_description(topic)


@topic_app.command(
    epilog=examples(
        "penstock topic alter orders --partitions 8",
        "penstock topic alter orders --config retention.ms=3600000 --delete-config max.message.bytes",
    )
)
def alter(
    name: Name,
    partitions: Annotated[
        int | None,
        typer.Option(
            "--partitions", "-p", min=1, max=PARTITIONS_MAX, help="The new number; it can only grow."
        ),
    ] = None,
    config: Configs = None,
    delete_config: Annotated[
        list[str] | None, typer.Option("--delete-config", metavar="KEY", help="Go back to the default.")
    ] = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Add partitions to a topic, or change its settings."""
    settings: dict[str, str | None] = {**key_values(config, option="--config")}
    settings |= dict.fromkeys(delete_config or [])
    if partitions is None and not settings:
        raise CommandFailed(
            "There is nothing to alter.",
            hint="Give --partitions, --config or --delete-config.",
            code=ExitCode.USAGE,
        )
    admin = connect_admin(bootstrap_server)
    _require_settings(admin, name, delete_config or [])
    if settings:
        _alter_settings(admin, name, settings)
    if partitions is not None:
        _add_partitions(admin, name, partitions)
    _print_outcomes({name: "altered"}, as_json)


@topic_app.command(
    "add-partitions",
    epilog=examples(
        "penstock topic add-partitions orders --to 8", "penstock topic add-partitions orders --by 2"
    ),
)
def add_partitions(
    name: Name,
    to: Annotated[
        int | None, typer.Option("--to", min=1, max=PARTITIONS_MAX, help="How many it is to have.")
    ] = None,
    by: Annotated[int | None, typer.Option("--by", min=1, max=PARTITIONS_MAX, help="How many more.")] = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Add partitions to a topic; there is no way back, and keys go to other partitions from then on."""
    if (to is None) == (by is None):
        raise UsageError("Give either --to or --by.")
    admin = connect_admin(bootstrap_server)
    before = existing_topics(admin).get(name)
    if before is None:
        raise CommandFailed(
            f"There is no topic {name!r}.", hint="See what there is with `penstock topic list`."
        )
    total = before + by if by is not None else to or 0
    if total > PARTITIONS_MAX:
        raise UsageError(f"A topic cannot have {total} partitions: the most is {PARTITIONS_MAX}.")
    _add_partitions(admin, name, total)
    if as_json:
        print_json({"topic": name, "partitions_before": before, "partitions": total})
    else:
        print(f"{name}: {total} partitions, {total - before} more")


@topic_app.command(
    epilog=examples("penstock topic delete orders", "penstock topic delete orders clicks --if-exists")
)
def delete(
    names: Names,
    if_exists: Annotated[bool, typer.Option("--if-exists", help="Succeed when it is not there.")] = False,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Delete topics and all their records."""
    admin = connect_admin(bootstrap_server)
    futures = ask(lambda: admin.delete_topics(names), doing="delete the topic")
    _finish("delete", futures, excused="UNKNOWN_TOPIC_OR_PART" if if_exists else "", as_json=as_json)


def _require_settings(admin: "AdminClient", name: str, keys: Sequence[str]) -> None:
    """Fail unless topics have these: brokers take back what was never set, whatever it is called."""
    known = topic_configs(admin, [name], all_configs=True)[name] if keys else {}
    for key in keys:
        if key not in known:
            raise CommandFailed(
                f"Nothing of topic {name!r} is called {key!r}.",
                hint=f"See all names with `penstock topic describe {name} --all-configs`.",
            )


def _alter_settings(admin: "AdminClient", name: str, settings: Mapping[str, str | None]) -> None:
    """Set each key to its value, or back to its default when the value is None."""
    from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

    entries = [
        ConfigEntry(
            key,
            value,
            incremental_operation=AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET,
        )
        for key, value in settings.items()
    ]
    resource = ConfigResource(ResourceType.TOPIC, name, incremental_configs=entries)
    for future in admin.incremental_alter_configs([resource]).values():
        result_of(future, doing=f"alter topic {name!r}")


def _add_partitions(admin: "AdminClient", name: str, total: int) -> None:
    from confluent_kafka.admin import NewPartitions

    for future in admin.create_partitions([NewPartitions(name, total)]).values():
        result_of(future, doing=f"give topic {name!r} {counted(total, 'partition')}")


def _finish(verb: str, futures: Mapping[str, Any], *, excused: str, as_json: bool) -> None:
    """Wait for every topic, print what happened, and fail with the first failure not ``excused``."""
    outcomes: dict[str, str] = {}
    failures: list[CommandFailed] = []
    for name, future in futures.items():
        try:
            done = succeeds(future, doing=f"{verb} topic {name!r}", excused=excused)
        except CommandFailed as failure:
            failures.append(failure)
        else:
            outcomes[name] = f"{verb}d" if done else "unchanged"
    if outcomes:
        _print_outcomes(outcomes, as_json)
    if failures:
        raise failures[0]


def _print_outcomes(outcomes: Mapping[str, str], as_json: bool) -> None:
    if as_json:
        print_json([{"topic": name, "outcome": outcome} for name, outcome in outcomes.items()])
    else:
        for name, outcome in outcomes.items():
            print(f"{name}: {outcome}")
