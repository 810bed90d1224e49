"""``penstock serve``: run a broker until it is told to stop.

Flags are only names for settings: they win over the environment, which wins over the file. What the broker
needs is imported after the command line was understood, so that a typing mistake is answered at once.
"""

import gc
import os
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from penstock import __version__
from penstock.cli.words import example_text, key_values
from penstock.model.errors import UsageError

_ABOUT = """\
Run a broker.

Prints `penstock ready on HOST:PORT` when clients may connect, then `console on URL` when the
web console is up beside it; logs go to standard error. With --json these are a line with
address, node, cluster and metrics, and one with console.
Ctrl-C or SIGTERM stops it cleanly. Every setting may also be given as an environment
variable, for example PENSTOCK_LOG_RETENTION_MS."""

WORKERS_MAX = 64

_EXAMPLES = example_text(
    "penstock serve",
    "penstock serve --data-dir /var/lib/penstock --listen 192.0.2.7:9092",
    "penstock serve --config server.properties --set log.retention.hours=24",
    "penstock serve --data-dir second --listen 127.0.0.1:9093 --join 127.0.0.1:9092",
    "penstock serve --listen 127.0.0.1:0    (takes a free port and prints it)",
    "penstock serve --listen 127.0.0.1:0 --json    (says the same to programs)",
    "penstock serve --workers 4    (four brokers, on ports 9092 to 9095)",
)


def serve(words: Sequence[str]) -> int:
    """Run a broker with the options in ``words``; the exit code, once it has stopped."""
    options = new_parser().parse_args(words)
    flags = key_values(options.set, option="--set") | _named_flags(options)
    from penstock.config.sources import load_broker_config

    config = load_broker_config(file=options.config, environment=os.environ, flags=flags)
    if options.parent is not None:
        from penstock.cli.nodes.parent import end_with_parent

        end_with_parent(options.parent)
    if options.workers > 1:
        from penstock.cli.nodes.workers import serve_workers

        gateway = _gateway_listen(options)
        return serve_workers(words, config, count=options.workers, gateway=gateway, as_json=options.json)
    _check_served_alone(config.data_directory)
    # What is imported stays: there is nothing to collect before the broker runs, which allows it again.
    gc.disable()
    from penstock.broker.logging.standard_error import configure_logging
    from penstock.broker.main import run_broker
    from penstock.broker.readiness import ready_json, ready_text

    ready_line = ready_json if options.json else ready_text
    configure_logging(is_verbose=options.verbose)
    listen = _gateway_listen(options)
    if listen is None:
        return run_broker(config, ready_line=ready_line)
    from penstock.cli.nodes.gateway_keeper import GatewayKeeper, print_console, print_console_json

    tell_console = print_console_json if options.json else print_console
    with GatewayKeeper(listen, tell=tell_console) as keeper:
        return run_broker(config, companion=keeper, ready_line=ready_line)


class ServeOption(NamedTuple):
    """An option as a shell completes it."""

    help: str
    takes_path: bool


def option_names() -> dict[str, ServeOption]:
    """Every name of every option, but for hidden ones."""
    return {
        name: ServeOption(action.help or "", action.metavar in ("DIR", "FILE"))
        for action in new_parser()._actions
        if action.help is not SUPPRESS
        for name in action.option_strings
    }


class _Parser(ArgumentParser):
    """A parser that fails the way all our commands do."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message[:1].upper()}{message[1:]}; see `penstock serve --help`.")


def new_parser() -> ArgumentParser:
    """All options, as they are read, shown by --help and listed in the reference."""
    parser = _Parser(
        prog="penstock serve",
        description=_ABOUT,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--data-dir", metavar="DIR", help="where the data lies (default: ./penstock-data)")
    add(
        *("-a", "--address", "--listen"),
        dest="listen",
        metavar="HOST:PORT",
        help="where clients connect; port 0 takes a free one (default: 127.0.0.1:9092)",
    )
    add(
        *("-b", "--broker-id", "--node-id"),
        dest="node_id",
        metavar="N",
        help="this broker's number (default: 1, or the next free one of the cluster it joins)",
    )
    add(
        *("-j", "--join"),
        dest="join",
        metavar="HOST:PORT[,...]",
        help="become part of the cluster that these brokers belong to; one that lives is enough",
    )
    add(
        *("-c", "--config"),
        type=Path,
        metavar="FILE",
        default=os.environ.get("PENSTOCK_CONFIG"),
        help="settings: a YAML, JSON or .properties file (or PENSTOCK_CONFIG in the environment)",
    )
    add(
        "--set",
        action="append",
        metavar="KEY=VALUE",
        help="any one setting by its name; may be given several times",
    )
    add(
        *("-w", "--workers"),
        type=_worker_count,
        default=1,
        metavar="N",
        help="so many brokers as one unit, on consecutive ports, each in a directory of its own in DIR "
        "(default: 1)",
    )
    add(
        "--gateway",
        metavar="HOST:PORT",
        help="where browsers and REST clients connect; elsewhere than on 127.0.0.1 they need a token "
        "(default: 127.0.0.1:8080, or PENSTOCK_GATEWAY in the environment)",
    )
    add("--no-gateway", action="store_true", help="no REST, schema registry and console beside the broker")
    add("--json", action="store_true", help="say in JSON, for programs, where broker and console are")
    add("--parent", type=int, help=SUPPRESS)
    add("-v", "--verbose", action="store_true", help="log what is done for each client")
    add("-V", "--version", action="version", version=f"penstock {__version__}", help="print the version")
    return parser


def _worker_count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= WORKERS_MAX:
        raise ArgumentTypeError(f"{text!r} is no number from 1 to {WORKERS_MAX}")
    return int(text)


def _gateway_listen(options: Namespace) -> str | None:
    """Where the gateway is to listen; None for none. Its modules are not loaded to find that out."""
    if options.no_gateway or (options.gateway or os.environ.get("PENSTOCK_GATEWAY")) == "off":
        return None
    from penstock.cli.nodes.gateway_keeper import chosen_listen

    return chosen_listen(options.gateway, is_off=False)


def _check_served_alone(data_directory: str) -> None:
    """Directories of brokers must not be taken for partitions of a single one, which moves strays aside."""
    from penstock.cli.nodes.several_brokers import several_brokers

    if said := several_brokers(data_directory):
        raise UsageError(f"{said}.")


def _named_flags(options: Namespace) -> dict[str, str]:
    """The settings behind the options that were given."""
    given = {
        "log.dirs": options.data_dir,
        "listeners": options.listen,
        "node.id": options.node_id,
        "controller.quorum.bootstrap.servers": options.join,
    }
    return {name: value for name, value in given.items() if value is not None}
