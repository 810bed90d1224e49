"""Options that mean the same in every command, and the shape of help texts."""

from typing import Annotated, Any

import typer

from penstock.model.errors import UsageError

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


def new_app(help_text: str = "", **settings: Any) -> typer.Typer:
    """A command group with our manners: plain help that needs no colour, no traceback decoration."""
    return typer.Typer(
        help=help_text,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
        **settings,
    )


def examples(*lines: str) -> str:
    """The end of a help text: commands to copy, one a line, left unwrapped."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def key_values(pairs: list[str] | None, *, option: str) -> dict[str, str]:
    """``["a=1", "b=2"]`` as a mapping; anything without ``=`` is refused, naming the option."""
    parsed: dict[str, str] = {}
    for pair in pairs or []:
        key, separator, value = pair.partition("=")
        if not separator or not key.strip():
            raise UsageError(f"{option} {pair!r} is not of the form KEY=VALUE.")
        parsed[key.strip()] = value
    return parsed
