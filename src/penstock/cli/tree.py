"""The tree of commands, in which only the one that was typed is really there.

The table holds every command's name and summary; the others appear in ``--help`` as placeholders. No module
here may import ``rich`` or ``confluent_kafka`` at its top.
"""

from collections.abc import Sequence
from importlib import import_module
from inspect import getdoc
from typing import Annotated, NamedTuple

import typer

from penstock import __version__
from penstock.cli.options import new_app

_ABOUT = "Penstock: a distributed log-based message queue that speaks Kafka's protocol."
_EXAMPLES = (
    "penstock serve",
    "penstock topic create orders --partitions 4",
    "echo hello | penstock produce orders",
    "penstock consume orders --from-beginning -n 1",
)


class Command(NamedTuple):
    """Where a command lives and what the overview says of it.

    ``serve`` has no module here: it lives outside the tree, as ``main`` explains.
    """

    module: str
    summary: str


COMMANDS = {
    "serve": Command("", "Run a broker."),
    "cluster": Command("penstock.cli.cluster.commands", "Run a cluster on this machine, or look at any."),
    "broker": Command("penstock.cli.broker.commands", "List, describe and decommission brokers."),
    "topic": Command("penstock.cli.topic.commands", "Create, list, describe, alter and delete topics."),
    "reassign": Command(
        "penstock.cli.reassign.commands", "Plan and carry out moves of replicas to other brokers."
    ),
    "leader": Command("penstock.cli.leader.commands", "Elect leaders of partitions."),
    "produce": Command("penstock.cli.produce.command", "Send lines of files or standard input to a topic."),
    "consume": Command("penstock.cli.consume.command", "Print the records of a topic, and follow it."),
    "group": Command(
        "penstock.cli.group.commands", "List and describe groups, reset their offsets, delete them."
    ),
    "txn": Command("penstock.cli.txn.commands", "List, describe and abort transactions."),
    "config": Command("penstock.cli.config.commands", "Describe and change settings of topics and brokers."),
    "client": Command("penstock.cli.client.commands", "Show what clients tell brokers of themselves."),
    "logs": Command("penstock.cli.logs.commands", "Search and follow the logs of all brokers."),
    "schema": Command("penstock.cli.schema.commands", "Register, compare, show and move schemas."),
    "storage": Command(
        "penstock.cli.storage.commands",
        "Analyze what topics hold, check stored files.",
    ),
    "search": Command("penstock.cli.search.command", "Find records by SQL or text, on Spark."),
    "pipeline": Command("penstock.cli.pipeline.commands", "Write, check, run and watch pipelines on Spark."),
    "archive": Command("penstock.cli.archive.commands", "Keep topics as Parquet files, and replay them."),
    "mirror": Command("penstock.cli.mirror.commands", "Keep topics and groups of one cluster in another."),
    "gateway": Command(
        "penstock.cli.gateway.gateway_command", "Serve REST, schemas and the console before any Kafka."
    ),
    "console": Command("penstock.cli.gateway.console_command", "Look into any Kafka with a browser."),
    "generate": Command(
        "penstock.cli.generate.commands", "Write files to run and watch brokers with elsewhere."
    ),
    "doctor": Command("penstock.cli.doctor.command", "Check whether a broker runs well on this machine."),
    "bench": Command("penstock.cli.bench.commands", "Measure any Kafka-protocol broker."),
    "completion": Command("penstock.cli.completion.command", "Print a script that lets a shell complete."),
    "version": Command("penstock.cli.version", "Print the version."),
}


def build_app(words: Sequence[str]) -> typer.Typer:
    """The whole command tree, in which only the command named in ``words`` is really there."""
    named = next((word for word in words if not word.startswith("-")), None)
    app = new_app(_ABOUT, *_EXAMPLES)
    app.callback()(_root)
    for name, command in COMMANDS.items():
        if name == named and command.module:
            import_module(command.module).attach(app)
        else:
            app.command(name, help=command.summary)(_placeholder)
    for group in app.registered_groups:
        _say_whole_sentences(group.typer_instance)
    return app


def _say_whole_sentences(group: typer.Typer | None) -> None:
    """In the overview of a group, where Typer would cut what each of its commands does at the line's end."""
    for command in group.registered_commands if group else ():
        command.short_help = command.short_help or _first_paragraph(command.callback)


def _first_paragraph(function: object) -> str:
    """What a docstring says first."""
    return " ".join((getdoc(function) or "").partition("\n\n")[0].split())


def _print_version(asked: bool) -> None:
    if asked:
        print(f"penstock {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "-V", "--version", help="Print the version and exit.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    """Carry the options that stand before a command."""


def _placeholder() -> None:
    """Stand in for a command that was not named; never runs."""
