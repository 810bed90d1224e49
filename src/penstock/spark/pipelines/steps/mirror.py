"""Topics and groups of another cluster kept in this one: an ending that needs no rows."""

from typing import TYPE_CHECKING

from penstock.spark.pipelines.fields.field import Field, Options
from penstock.spark.pipelines.fields.kinds import Boolean, ListOf, Text, WholeNumber
from penstock.spark.pipelines.steps.route import TOPIC_NAME
from penstock.spark.pipelines.steps.step import Complain, EndingContext, RunningQuery, Step

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from penstock.spark.mirror.mirroring import MirrorPlan

_SERVERS = "kafka.bootstrap.servers"


def check(options: Options, complain: Complain) -> None:
    """Topics that are named in two ways, or not at all."""
    if (options["topics"] is None) == (options["pattern"] is None):
        complain("'mirror' has to know which topics.", "Give it 'topics' or 'pattern', and not both.")


def start(frame: "DataFrame | None", options: Options, context: EndingContext) -> RunningQuery:
    """A query that copies; topics and groups are kept in step beside it until it ends."""
    from penstock.spark.mirror.attended import start_attended

    return start_attended(
        context.step.spark,
        _plan(options, context),
        storage=context.checkpoint,
        query_name=context.query_name,
        available_now=context.trigger.ends,
        interval=context.trigger.interval or "1 second",
        every_seconds=options["every"],
    )


def _plan(options: Options, context: EndingContext) -> "MirrorPlan":
    from penstock.spark.mirror.access import Access
    from penstock.spark.mirror.mirroring import MirrorPlan
    from penstock.spark.mirror.naming import Renaming, Selection

    return MirrorPlan(
        source=Access(bootstrap_servers=options["from"]),
        target=Access(bootstrap_servers=options["to"] or context.step.topic_options[_SERVERS]),
        selection=Selection(
            topics=tuple(options["topics"] or ()),
            topic_pattern=options["pattern"],
            group_pattern=options["groups"],
        ),
        renaming=Renaming(template=options["rename"]),
        has_configs=options["configs"],
    )


MIRROR = Step(
    name="mirror",
    summary="Keeps topics of another cluster in this one, exactly once, with their partitions, settings and "
    "groups; see mirroring.md.",
    fields=(
        Field(
            name="from",
            kind=Text("addresses like host:port"),
            is_required=True,
            doc="Brokers of the cluster to copy from.",
        ),
        Field(
            name="to",
            kind=Text("addresses like host:port"),
            doc="Brokers of the cluster to copy to; those of the pipeline if left out.",
        ),
        Field(name="topics", kind=ListOf(TOPIC_NAME), doc="Topics by their names."),
        Field(
            name="pattern",
            kind=Text("a regular expression"),
            doc="In place of `topics`: a pattern of whole names.",
        ),
        Field(
            name="rename",
            kind=Text("a name with {topic} in it"),
            default="{topic}",
            doc="What copies are called.",
        ),
        Field(
            name="groups",
            kind=Text("a regular expression"),
            default=".*",
            doc="A pattern of the groups whose offsets are carried over.",
        ),
        Field(
            name="configs",
            kind=Boolean(),
            default=True,
            doc="Whether settings of topics are kept in step.",
        ),
        Field(
            name="every",
            kind=WholeNumber(1),
            default=10,
            doc="Seconds between two looks at topics and groups.",
        ),
    ),
    check=check,
    start=start,
    example='mirror: {from: "127.0.0.1:9192", pattern: "orders.*", rename: "eu.{topic}"}',
)
