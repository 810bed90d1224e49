"""``penstock schema config`` and ``penstock schema mode``."""

from typing import Annotated, Any

import typer

from penstock.cli.options import Json, examples
from penstock.cli.output import print_json
from penstock.cli.schema.asking import DEFAULT_REGISTRY, RegistryClient, RegistryUrl, quoted
from penstock.cli.words import key_values
from penstock.model.errors import UsageError

Scope = Annotated[
    str | None, typer.Argument(metavar="[SUBJECT]", help="A subject or context; all when left out.")
]
Delete = Annotated[bool, typer.Option("--delete", help="Go back to what holds around it.")]
_FLAGS = {"true": True, "false": False}


def add_settings(app: typer.Typer) -> None:
    """Add both commands to the group."""
    app.command(
        epilog=examples(
            "penstock schema config",
            "penstock schema config orders-value --set compatibility=FULL_TRANSITIVE",
            "penstock schema config orders-value --delete",
        )
    )(config)
    app.command(epilog=examples("penstock schema mode", "penstock schema mode orders-value --set READONLY"))(
        mode
    )


def config(
    subject: Scope = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="compatibility=LEVEL, normalize=true, ..."),
    ] = None,
    delete: Delete = False,
    registry: RegistryUrl = DEFAULT_REGISTRY,
    as_json: Json = False,
) -> None:
    """Show or change how strictly versions are compared, and other settings."""
    client, path = RegistryClient(registry), f"/config{quoted(subject)}"
    _require_one(settings, delete)
    changes = {key: _FLAGS.get(value, value) for key, value in key_values(settings, option="--set").items()}
    if changes:
        client.put(path, changes)
    if delete:
        client.delete(path)
    _print(client.get(path, defaultToGlobal=True), as_json)


def mode(
    subject: Scope = None,
    wanted: Annotated[
        str | None,
        typer.Option("--set", metavar="MODE", help="READWRITE, READONLY, READONLY_OVERRIDE or IMPORT."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="IMPORT even where there are schemas already.")
    ] = False,
    delete: Delete = False,
    registry: RegistryUrl = DEFAULT_REGISTRY,
    as_json: Json = False,
) -> None:
    """Show or change what may be done: everything, nothing but reading, or imports with their ids."""
    client, path = RegistryClient(registry), f"/mode{quoted(subject)}"
    _require_one(wanted, delete)
    if wanted is not None:
        client.put(path, {"mode": wanted.upper()}, force=force or None)
    if delete:
        client.delete(path)
    _print(client.get(path, defaultToGlobal=True), as_json)


def _require_one(change: object, delete: bool) -> None:
    if change and delete:
        raise UsageError("Give either --set or --delete.")


def _print(told: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(told)
    else:
        for key, value in told.items():
            print(f"{'compatibility' if key == 'compatibilityLevel' else key}: {value}")
