"""``penstock completion SHELL``."""

from typing import Annotated

import typer

from penstock.cli.completion.scripts import SCRIPTS, Shell
from penstock.cli.options import examples


def attach(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command(
        "completion",
        epilog=examples(
            "source <(penstock completion bash)",
            "penstock completion zsh > ~/.zfunc/_penstock    (a directory in $fpath)",
            "penstock completion fish > ~/.config/fish/completions/penstock.fish",
        ),
    )(completion)


def completion(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print a script that makes a shell complete commands, options, and names of topics and groups.

    Names are asked of the cluster that the command would talk to, for a second at most.
    """
    print(SCRIPTS[shell], end="")
