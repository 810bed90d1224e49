"""Writes docs/reference/ out of the tables the code itself uses, so that the two cannot drift apart.

``python docs/generate.py`` writes; a test fails when what is checked in differs from what it would write.
"""

from argparse import SUPPRESS
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from penstock.broker.metrics.metric import Metric
from penstock.broker.metrics.table import METRICS
from penstock.cli.serve import new_parser
from penstock.cli.tree import COMMANDS, build_app
from penstock.config.broker_keys import BROKER_KEYS
from penstock.config.client_metrics_keys import CLIENT_METRICS_KEYS
from penstock.config.definition import ConfigKey
from penstock.config.topic_keys import TOPIC_KEYS
from penstock.spark.options.definition import KAFKA_PREFIX, READS, WRITES, Effect, Option
from penstock.spark.options.parsing import OPTIONS
from penstock.spark.pipelines.reference_page import pipelines_page
from penstock.wire.api_keys import APIS, NEVER_FLEXIBLE, ApiSpec

REFERENCE = Path(__file__).parent / "reference"

COMMON_OPTIONS = {"--bootstrap-server", "--json"}
"""Said once, at the head of the page of commands."""


def pages() -> dict[str, str]:
    """Every generated page by its name."""
    return {
        "configuration.md": configuration_page(),
        "apis.md": apis_page(),
        "metrics.md": metrics_page(),
        "commands.md": commands_page(),
        "spark-options.md": spark_options_page(),
        "pipelines.md": pipelines_page(),
    }


def configuration_page() -> str:
    """All settings."""
    return "\n".join(
        [
            "# Configuration",
            "",
            "Generated from the tables in `penstock.config`. Give broker settings in a YAML, JSON or",
            "`.properties` file (`--config`), as environment variables (`log.retention.ms` is",
            "`PENSTOCK_LOG_RETENTION_MS`) or as `--set key=value`; a flag wins over the environment, the",
            "environment over the file. Names may have underscores. Topic settings are given when a",
            "topic is created or altered. A *dynamic* setting can be changed while the broker runs.",
            "",
            "## Broker",
            "",
            *_config_table(BROKER_KEYS.values()),
            "",
            "## Topic",
            "",
            "A setting marked *kept* is stored and shown, as clients expect, but nothing acts on it yet.",
            "",
            *_config_table(TOPIC_KEYS.values()),
            "",
            "## Subscription of client metrics",
            "",
            "See [telemetry.md](../telemetry.md).",
            "",
            *_config_table(CLIENT_METRICS_KEYS.values()),
            "",
        ]
    )


def apis_page() -> str:
    """All served APIs."""
    rows = [
        f"| {spec.key.value} | {spec.name}{' (private)' if spec.is_private else ''} "
        f"| {spec.min_version}–{spec.max_version} | {_flexible_from(spec)} |"
        for spec in sorted(APIS.values(), key=lambda spec: spec.key)
        if spec.is_served
    ]
    return "\n".join(
        [
            "# APIs served",
            "",
            "Generated from `penstock.wire.api_keys`. What each does is said in the file of its name in",
            "`src/penstock/broker/apis/`. Private ones are for Penstock's own nodes and told to nobody else.",
            "",
            "| key | API | versions | flexible from |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def metrics_page() -> str:
    """All metrics of a broker."""
    return "\n".join(
        [
            "# Metrics",
            "",
            "Generated from `penstock.broker.metrics.table`; [metrics.md](../metrics.md) says where they are",
            "and how to use them. Names that begin with `kafka_` are those of kafka_exporter, with its",
            "labels; those with `process_` are those of Prometheus' own libraries. A histogram has the",
            "series `_bucket`, `_sum` and `_count`.",
            "",
            "| name | kind | labels | told by | meaning |",
            "|---|---|---|---|---|",
            *map(_metric_row, METRICS.values()),
            "",
        ]
    )


def _metric_row(metric: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    cells = (f"`{metric.name}`", metric.kind.value, labels, metric.teller.value, metric.help)
    return "| " + " | ".join(_escaped(cell) for cell in cells) + " |"


def commands_page() -> str:
    """All commands, from the tree that also answers ``--help``; how that prints depends on libraries."""
    return "\n".join(
        [
            "# Commands",
            "",
            "Generated from `penstock.cli`. Commands that talk to a cluster talk to any that is compatible",
            "with Kafka; it is named by `--bootstrap-server HOST:PORT` or `PENSTOCK_BOOTSTRAP_SERVER`. With",
            "`--json` they print JSON, for programs. They exit with 0 when all is done, with 1 when it could",
            "not be done, and with 2 when what was typed makes no sense; [cli.md](../cli.md) has all codes,",
            "and shows the commands at work.",
            *_command_sections(),
            "",
        ]
    )


def _command_sections() -> Iterator[str]:
    for name, command in COMMANDS.items():
        if not command.module:
            yield from _serve_section(name)
            continue
        tree: Any = get_command(build_app([name]))
        found = tree.commands[name]
        for verb, leaf in getattr(found, "commands", {"": found}).items():
            yield from _command_section(f"{name} {verb}".strip(), leaf)


def _serve_section(name: str) -> Iterator[str]:
    """The one command outside the tree."""
    parser = new_parser()
    yield from ("", f"## penstock {name}", "", *parser.description.splitlines())
    yield from ("", "| option | meaning |", "|---|---|")
    for action in parser._actions:
        if action.help is not SUPPRESS and not {"--help", "--version"}.intersection(action.option_strings):
            names = " ".join([", ".join(action.option_strings), *filter(None, [action.metavar])])
            yield f"| `{names}` | {action.help[:1].upper()}{action.help[1:]}. |"
    examples = parser.epilog.partition("Examples:\n")[2]
    yield from ("", "```sh", *(line.strip() for line in examples.splitlines()), "```")


def _command_section(words: str, command: Any) -> Iterator[str]:
    arguments = [_argument(one) for one in command.params if one.param_type_name == "argument"]
    yield from ("", f"## {' '.join(['penstock', words, *arguments])}", "", " ".join(command.help.split()))
    options = [one for one in command.params if one.param_type_name == "option"]
    rows = [
        f"| `{_option(one)}` | {one.help} |" for one in options if not COMMON_OPTIONS.intersection(one.opts)
    ]
    if rows:
        yield from ("", "| option | meaning |", "|---|---|", *rows)
    examples = command.epilog.partition("Examples:\n")[2]
    yield from ("", "```sh", *(line.strip() for line in examples.splitlines()), "```")


def _option(option: Any) -> str:
    """With all its names, those that turn it off too, and what is to follow it."""
    names = ", ".join([*option.opts, *option.secondary_opts])
    return f"{names} {option.metavar}" if option.metavar else names


def _argument(argument: Any) -> str:
    """As a usage line has it: ``GROUP``, ``GROUP...``, ``[GROUP...]``; several words are one already."""
    if " " in argument.metavar:
        return str(argument.metavar)
    name = argument.metavar.strip("[].")
    spelled = name if argument.nargs == 1 else f"{name}..."
    return spelled if argument.required else f"[{spelled}]"


def _flexible_from(spec: ApiSpec) -> str:
    return "never" if spec.first_flexible == NEVER_FLEXIBLE else str(spec.first_flexible)


def spark_options_page() -> str:
    """All options of the data source."""
    ours = [option for option in OPTIONS if not option.name.startswith(KAFKA_PREFIX)]
    kafkas = [option for option in OPTIONS if option.name.startswith(KAFKA_PREFIX)]
    acting = [option for option in kafkas if option.effect is Effect.ACTS]
    refused = [option for option in kafkas if option.effect is Effect.REFUSED]
    ignored = sorted(f"`{option.name}`" for option in kafkas if option.effect is Effect.IGNORED)
    return "\n".join(
        [
            '# Options of `format("penstock")`',
            "",
            "Generated from the tables in `penstock.spark.options`. Names and meaning are those of Spark's",
            "Kafka connector; a dagger (†) marks those that it does not have. Case does not matter. An",
            "option that is not here is an error, and so is one that is out of its place, but for options of",
            "streams in a batch, which are ignored with a line in the log.",
            "",
            "Of the connector's own, all are here. What it has beside options is not: its consumers are",
            "cached by Spark (`spark.kafka.consumer.cache.*`, `spark.kafka.producer.cache.*`), connections",
            "here are kept by each worker process; and Python sources have no continuous or real-time",
            "trigger.",
            "",
            *_options_section("Reading", [option for option in ours if option.uses & READS]),
            *_options_section("Writing", [option for option in ours if option.uses & WRITES]),
            *_options_section("Kafka's own properties", acting),
            "Accepted without effect, since nothing here needs them: " + ", ".join(ignored) + ".",
            "",
            "## Refused",
            "",
            "Properties that begin with `kafka.ssl.` or `kafka.sasl.` are refused too: connections are not",
            "encrypted so far, and leaving that out silently would be unsafe.",
            "",
            "| name | what to do instead |",
            "|---|---|",
            *(f"| `{option.name}` | {option.meaning} |" for option in refused),
            "",
        ]
    )


def _options_section(title: str, options: Iterable[Option]) -> list[str]:
    return [
        f"## {title}",
        "",
        "| name | counts in | takes | default | meaning |",
        "|---|---|---|---|---|",
        *(_option_row(option) for option in options),
        "",
    ]


def _option_row(option: Option) -> str:
    cells = (
        f"`{option.name}`{' †' if option.is_ours else ''}",
        _uses(option),
        option.kind.expected,
        "" if option.default is None else f"`{option.default}`",
        option.meaning,
    )
    return "| " + " | ".join(_escaped(cell) for cell in cells) + " |"


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("*", "\\*").replace("\n", " ")


def _uses(option: Option) -> str:
    if option.uses in (READS, WRITES, READS | WRITES):
        return {READS: "reads", WRITES: "writes"}.get(option.uses, "both")
    return ", ".join(sorted(option.uses))


def _config_table(keys: Iterable[ConfigKey]) -> list[str]:
    return [
        "| name | type | default | valid | meaning |",
        "|---|---|---|---|---|",
        *(_config_row(key) for key in sorted(keys, key=lambda key: key.name)),
    ]


def _config_row(key: ConfigKey) -> str:
    default = key.format(key.default)
    notes = " *Dynamic.*" if key.dynamic and key.scope == "broker" else ""
    notes += "" if key.read_by else " *Kept.*"
    cells = (
        f"`{key.name}`",
        key.type.name.lower(),
        f"`{default}`" if default else "",
        key.expected,
        key.doc + notes,
    )
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def main() -> None:
    """Write every page."""
    REFERENCE.mkdir(exist_ok=True)
    for name, text in pages().items():
        (REFERENCE / name).write_text(text)


if __name__ == "__main__":
    main()
