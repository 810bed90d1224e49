"""``penstock version``."""

import json
import platform

import typer

from penstock import __version__
from penstock.cli.options import Json, examples


def attach(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command("version", epilog=examples("penstock version", "penstock version --json"))(version)


def version(as_json: Json = False) -> None:
    """Print the version."""
    if as_json:
        print(json.dumps({"penstock": __version__, "python": platform.python_version()}))
    else:
        print(f"penstock {__version__}")
