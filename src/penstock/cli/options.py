"""Options that mean the same in every command of the tree."""

from typing import Annotated

import typer

from penstock.cli.words import example_text

DEFAULT_BOOTSTRAP_SERVER = "127.0.0.1:9092"

BootstrapServer = Annotated[
    str,
    typer.Option(
        "--bootstrap-server",
        metavar="HOST:PORT",
        envvar="PENSTOCK_BOOTSTRAP_SERVER",
        help="A broker to ask first; several are separated by commas.",
    ),
]

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs, instead of text for people.")]


def new_app(help_text: str, *example_lines: str) -> typer.Typer:
    """A command group with our manners: plain help that needs no colour and ends with commands to copy."""
    return typer.Typer(
        help=help_text,
        epilog=examples(*example_lines),
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


def examples(*lines: str) -> str:
    """The end of a help text: commands to copy, marked so that Typer keeps its lines."""
    return "\b\n" + example_text(*lines)
