"""A record's value becomes columns: JSON, CSV, text by a regular expression, or what a schema registry says.

What cannot be parsed is never lost in silence. It is counted in the progress of the flow, and ``mode`` says
what becomes of it; with ``deadLetterTopic`` it leaves the flow as the record it was, with the reason in a
header.
"""

from typing import TYPE_CHECKING

from penstock.spark.pipelines.fields.field import Field, Options
from penstock.spark.pipelines.fields.kinds import Choice, ListOf, MappingOf, Schema, Text
from penstock.spark.pipelines.steps.observing import observed
from penstock.spark.pipelines.steps.parsers import PARSERS, located, parser_of
from penstock.spark.pipelines.steps.route import TOPIC_NAME
from penstock.spark.pipelines.steps.side_records import dead_letters
from penstock.spark.pipelines.steps.step import (
    Complain,
    SideContext,
    Step,
    StepContext,
    as_list,
    topic_of,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PERMISSIVE, DROP_MALFORMED, FAIL_FAST = "PERMISSIVE", "DROPMALFORMED", "FAILFAST"
RECORD_COLUMNS = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers")

_PARSED = "__parsed"


def check(options: Options, complain: Complain) -> None:
    """What the format asks for."""
    parser_of(options).check(options, complain)
    if options["deadLetterTopic"] and options["mode"] == FAIL_FAST:
        complain(
            "The step 'parse' has 'deadLetterTopic' and the mode FAILFAST.",
            "Leave out 'mode': what cannot be parsed goes to the topic and the flow goes on.",
        )


def build(frame: "DataFrame", options: Options, context: StepContext) -> "DataFrame":
    """The parsed columns, and those of the record that are kept."""
    from pyspark.sql import functions as F

    parser, options = parser_of(options), located(options, context.directory)
    parsed = frame.withColumn(_PARSED, parser.parse(F.col(options["column"]), options))
    if options["mode"] != FAIL_FAST:
        bad = parser.is_bad(_PARSED, options)
        parsed = observed(parsed, bad, context)
        if options["deadLetterTopic"] or options["mode"] == DROP_MALFORMED:
            parsed = parsed.where(~bad)
    return parsed.select(*_columns(parsed, options, context))


def side(frame: "DataFrame", options: Options, context: SideContext) -> "DataFrame":
    """The records that could not be parsed."""
    from pyspark.sql import functions as F

    parser, options = parser_of(options), located(options, context.step.directory)
    parsed = frame.withColumn(_PARSED, parser.parse(F.col(options["column"]), options))
    bad = parsed.where(parser.is_bad(_PARSED, options))
    return dead_letters(bad, parser.reason(F.col(options["column"]), _PARSED, options))


def _columns(parsed: "DataFrame", options: Options, context: StepContext) -> list[str]:
    paths = parser_of(options).columns(parsed.schema[_PARSED].dataType, options)
    names = [path[-1] for path in paths]
    fields = [".".join([_PARSED, *(f"`{part}`" for part in path)]) for path in paths]
    kept = [name for name in as_list(options["keep"]) if name not in names]
    return [*fields, *kept, *context.carried]


PARSE = Step(
    name="parse",
    summary="Turns the value of records into columns.",
    fields=(
        Field(name="format", kind=Choice(tuple(PARSERS)), default="json", doc="How the value is written."),
        Field(
            name="schema",
            kind=Schema(),
            doc="The columns in Spark's words, `user string, amount double`. JSON and CSV need it. With a "
            "regular expression it gives types to groups, which are text otherwise; of what a registry's "
            "schema has it chooses some.",
        ),
        Field(
            name="pattern",
            kind=Text("a regular expression"),
            doc="`regex`: a regular expression with named groups, `(?<ip>[^ ]+) (?<path>.*)`, each a column. "
            "It has to match the whole text.",
        ),
        Field(
            name="column",
            kind=Text("a column"),
            default="value",
            doc="What is parsed, binary or text.",
        ),
        Field(
            name="keep",
            kind=ListOf(Text("a column")),
            default=(),
            doc="Columns that stay beside the parsed ones: `key`, `timestamp`, `partition`, `offset`, "
            "`topic`, `headers`. A parsed column of the same name wins. Fewer are faster: others are not "
            "even sent to Spark.",
        ),
        Field(
            name="mode",
            kind=Choice((PERMISSIVE, DROP_MALFORMED, FAIL_FAST)),
            default=PERMISSIVE,
            doc="What becomes of values that cannot be parsed, in Spark's words: nulls in their columns, "
            "dropped, or the flow fails.",
        ),
        Field(
            name="deadLetterTopic",
            kind=TOPIC_NAME,
            doc="A topic for records whose value cannot be parsed, with headers `__dlq.topic`, "
            "`__dlq.partition`, `__dlq.offset` and `__dlq.error`. They do not go on.",
        ),
        Field(
            name="options",
            kind=MappingOf(Text()),
            default={},
            doc="Options of Spark's parser of the format, such as `timestampFormat` or `delimiter`. Of "
            "`registry`: `url` of the registry, or `schemas`, a directory; `subject`, or `topic` whose "
            "values they are; `format` (avro, json, protobuf) and `message` where the registry does not say.",
        ),
    ),
    keeps_records=True,
    check=check,
    build=build,
    side_topic=topic_of("deadLetterTopic"),
    side=side,
    example="""- parse:
    format: json
    schema: order_id bigint, product string, amount double, ts timestamp
    keep: [key]
    deadLetterTopic: orders.dlq""",
)
