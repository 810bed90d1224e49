"""``penstock config describe|set|unset``."""

from collections.abc import Collection, Iterable
from typing import Annotated

import typer

from penstock.cli.config.resource import Kind, require_known, resource_of, resource_text, split_words
from penstock.cli.failure import CommandFailed
from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, Json, examples, new_app
from penstock.cli.output import print_json
from penstock.cli.words import key_values
from penstock.metadata.resources import ALL_BROKERS, ConfigResource
from penstock.model.errors import UsageError

KindArgument = Annotated[
    Kind,
    typer.Argument(
        metavar="KIND", help="topic, broker, cluster (all brokers together) or client-metrics (KIP-714)."
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only see whether the change could be made.")]

config_app = new_app(
    "Describe and change settings of topics and brokers.",
    "penstock config describe topic orders",
    "penstock config set topic orders retention.ms=86400000",
)


def attach(app: typer.Typer) -> None:
    """Add the group of commands to the tree."""
    app.add_typer(config_app, name="config")


@config_app.command(
    epilog=examples(
        "penstock config describe topic orders",
        "penstock config describe topic orders --key retention.ms --docs",
        "penstock config describe broker 1 --changed",
        "penstock config describe cluster --json",
    )
)
def describe(
    kind: KindArgument,
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="The topic's or subscription's name or the broker's number."),
    ] = None,
    key: Annotated[
        list[str] | None, typer.Option("--key", "-k", metavar="KEY", help="Only this setting; repeatable.")
    ] = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only settings that somebody has set, anywhere.")
    ] = False,
    documentation: Annotated[bool, typer.Option("--docs", help="Say what each setting means.")] = False,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Show settings in force: value, default, where the value comes from.

    It may come from the topic, the broker, the cluster (all brokers), a broker's start (its file, environment
    and flags) or the default.
    """
    from penstock.cli.config.report import config_as_json, is_changed, print_configs
    from penstock.cli.wire_session import connected
    from penstock.wire_client.configs import describe_config

    resource = resource_of(kind, name)
    with connected(bootstrap_server) as cluster:
        require_known(cluster, resource)
        found = describe_config(cluster, resource)
    _require_names(resource, {config.name for config in found}, key or [])
    shown = [each for each in found if (not key or each.name in key) and (not changed or is_changed(each))]
    if as_json:
        print_json([config_as_json(each) for each in shown])
    elif shown:
        print_configs(shown, with_documentation=documentation)


@config_app.command(
    "set",
    epilog=examples(
        "penstock config set topic orders retention.ms=86400000 cleanup.policy=compact",
        "penstock config set broker 1 log.cleaner.threads=2",
        "penstock config set cluster message.max.bytes=2097152 --dry-run",
        "penstock config set client-metrics slow metrics=org.apache.kafka.producer. interval.ms=60000",
    ),
)
def set_values(
    kind: KindArgument,
    words: Annotated[
        list[str], typer.Argument(metavar="[NAME] KEY=VALUE...", help="Whose settings, and their values.")
    ],
    dry_run: DryRun = False,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Change settings while brokers run; others stay as they are."""
    resource, settings = split_words(kind, words)
    changes: dict[str, str | None] = {**key_values(settings, option="Setting")}
    _change(resource, changes, bootstrap_server, dry_run=dry_run, as_json=as_json)


@config_app.command(
    epilog=examples(
        "penstock config unset topic orders retention.ms",
        "penstock config unset cluster message.max.bytes",
    )
)
def unset(
    kind: KindArgument,
    words: Annotated[
        list[str], typer.Argument(metavar="[NAME] KEY...", help="Whose settings, and which of them.")
    ],
    dry_run: DryRun = False,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Take settings back: what was set elsewhere counts again, or the default."""
    resource, names = split_words(kind, words)
    _change(resource, dict.fromkeys(names), bootstrap_server, dry_run=dry_run, as_json=as_json)


def _change(
    resource: ConfigResource,
    changes: dict[str, str | None],
    bootstrap_server: str,
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    from penstock.cli.wire_session import connected
    from penstock.wire_client.configs import alter_configs, describe_config

    if not changes:
        raise UsageError(f"Say which settings of {resource_text(resource)}.")
    unset = [name for name, value in changes.items() if value is None]
    with connected(bootstrap_server) as cluster:
        require_known(cluster, resource)
        if unset and resource != ALL_BROKERS:  # For which only those are told that are set.
            # Brokers take back what was never set, whatever it is called, and say nothing.
            _require_names(resource, {each.name for each in describe_config(cluster, resource)}, unset)
        alter_configs(cluster, {resource: changes}, validate_only=dry_run)
    if as_json:
        print_json({"resource": resource_text(resource), "changes": changes, "dry_run": dry_run})
        return
    for name, value in changes.items():
        what = "unset" if value is None else f"set to {value}"
        print(f"{resource_text(resource)}: {name} {'could be ' if dry_run else ''}{what}")


def _require_names(resource: ConfigResource, known: Collection[str], names: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            raise CommandFailed(
                f"Nothing of {resource_text(resource)} is called {name!r}.",
                hint=f"See all names with `penstock config describe {resource_text(resource)}`.",
            )
