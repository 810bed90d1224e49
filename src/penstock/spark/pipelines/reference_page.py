"""The reference of pipeline files, out of the tables they are read by; docs/generate.py writes it down."""

from collections.abc import Iterable, Iterator, Sequence

from penstock.spark.pipelines.fields.field import Field
from penstock.spark.pipelines.file_fields import (
    FLOW_FIELDS,
    PIPELINE_FIELDS,
    SINK_FIELDS,
    SINK_VALUE_FIELDS,
    SOURCE_FIELDS,
    TABLE_FIELDS,
    TRIGGER_FIELDS,
)
from penstock.spark.pipelines.reporting.prometheus import METRICS
from penstock.spark.pipelines.steps import STEPS
from penstock.spark.pipelines.steps.step import Step

_HEAD = """\
# Pipeline files

Generated from the tables in `penstock.spark.pipelines`, by which files are read and checked.
[pipelines.md](../pipelines.md) shows how to use them. A key in bold has to be there. Durations are Spark's:
`10 seconds`, `1 minute 30 seconds`. `${NAME}` and `${NAME:-default}` in any value come from the environment.
"""

SECTIONS: Sequence[tuple[str, str, Sequence[Field]]] = (
    ("The file", "The keys of the file itself.", PIPELINE_FIELDS),
    ("Sources", "Each below its name in `sources`.", SOURCE_FIELDS),
    (
        "Views and tables",
        "Each below its name in `views` or `tables`. A view has only the first three keys, or is nothing but "
        "SQL. The rows of a table are kept below the pipeline's storage, and other flows read them as a "
        "stream.",
        TABLE_FIELDS,
    ),
    ("Flows", "Each below its name in `flows`.", FLOW_FIELDS),
    ("Sinks", "Each below its name in `sinks`, or in a flow as `sink`.", SINK_FIELDS),
    ("Values of sinks", "The keys of `value` in a sink.", SINK_VALUE_FIELDS),
    (
        "Triggers",
        "The keys of `trigger`, of which one is given. `trigger: availableNow` and `trigger: once` are short "
        "for it.",
        TRIGGER_FIELDS,
    ),
)


def pipelines_page() -> str:
    """All keys, all steps with their options, all metrics."""
    return "\n".join([_HEAD, *_sections(), *_steps(), *_metrics(), ""])


def _sections() -> Iterator[str]:
    for title, about, fields in SECTIONS:
        yield from (f"## {title}", "", about, "", *_table(fields), "")


def _steps() -> Iterator[str]:
    yield from (
        "## Steps",
        "",
        "A step is one item of a list of `steps`: its name, and its options below.",
        "",
    )
    for step in STEPS.values():
        if not step.is_ending:
            yield from _step(step)
    endings = [step for step in STEPS.values() if step.is_ending]
    if endings:
        yield from ("## Endings", "", "An ending stands in a flow in place of `sink`.", "")
        for step in endings:
            yield from _step(step)


def _step(step: Step) -> Iterator[str]:
    notes = []
    if step.shorthand:
        notes.append(f"A bare value is its `{step.shorthand}`.")
    if step.is_stateful:
        notes.append("It keeps state.")
    yield from (f"### {step.name}", "", " ".join([step.summary, *notes]), "", *_table(step.fields), "")
    yield from ("```yaml", *step.example.splitlines(), "```", "")


def _metrics() -> Iterator[str]:
    yield from (
        "## Metrics",
        "",
        "What `--metrics-port` serves, each with the labels `pipeline` and `flow`.",
        "",
    )
    yield from ("| name | type | meaning |", "|---|---|---|")
    for metric in METRICS.values():
        yield f"| `penstock_pipeline_{metric.name}` | {metric.kind} | {metric.doc} |"


def _table(fields: Iterable[Field]) -> Iterator[str]:
    yield from ("| key | takes | default | meaning |", "|---|---|---|---|")
    for field in fields:
        name = f"**`{field.name}`**" if field.is_required else f"`{field.name}`"
        default = f"`{field.default_text}`" if field.default_text else ""
        cells = (name, field.kind.expected, default, field.doc)
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
