"""Topics and groups of another cluster kept in this one: an ending that needs no rows."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.spark.options.definition import KAFKA_PREFIX, OptionError
from penstock.spark.options.parsing import connecting_options
from penstock.spark.pipelines.fields.field import Field, Options
from penstock.spark.pipelines.fields.kinds import Boolean, ListOf, MappingOf, Text, WholeNumber
from penstock.spark.pipelines.steps.route import TOPIC_NAME
from penstock.spark.pipelines.steps.step import Complain, EndingContext, RunningQuery, Step

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from penstock.spark.mirror.access import Access
    from penstock.spark.mirror.mirroring import MirrorPlan

_SERVERS = "kafka.bootstrap.servers"


def check(options: Options, complain: Complain) -> None:
    """Topics that are named in two ways, or not at all, and connections that cannot be made."""
    if (options["topics"] is None) == (options["pattern"] is None):
        complain("'mirror' has to know which topics.", "Give it 'topics' or 'pattern', and not both.")
    if options["toKafka"] and options["to"] is None:
        complain("'toKafka' is given without 'to'.", "Without 'to', `kafka` of the pipeline says how.")
    for place in ("from", "to"):
        try:
            _named(options, place)
        except OptionError as error:
            complain(f"{place}Kafka: {error}", "Names stand there without kafka.")


def start(frame: "DataFrame | None", options: Options, context: EndingContext) -> RunningQuery:
    """A query that copies; topics and groups are kept in step beside it until it ends."""
    from penstock.spark.mirror.attended import start_attended

    return start_attended(
        context.step.spark,
        plan_of(options, context.step.topic_options),
        storage=context.checkpoint,
        query_name=context.query_name,
        available_now=context.trigger.ends,
        interval=context.trigger.interval or "1 second",
        every_seconds=options["every"],
    )


def plan_of(options: Options, topic_options: Mapping[str, str]) -> "MirrorPlan":
    """What to mirror; ``topic_options`` are those of the pipeline."""
    from penstock.spark.mirror.mirroring import MirrorPlan
    from penstock.spark.mirror.naming import Renaming, Selection

    return MirrorPlan(
        source=_named(options, "from"),
        target=_target(options, topic_options),
        selection=Selection(
            topics=tuple(options["topics"] or ()),
            topic_pattern=options["pattern"],
            group_pattern=options["groups"],
        ),
        renaming=Renaming(template=options["rename"]),
        has_configs=options["configs"],
    )


def _target(options: Options, topic_options: Mapping[str, str]) -> "Access":
    from penstock.spark.mirror.access import Access

    if options["to"] is not None:
        return _named(options, "to")
    return Access(bootstrap_servers=topic_options[_SERVERS], options=connecting_options(topic_options))


def _named(options: Options, place: str) -> "Access":
    """One that the step names; a password of the pipeline is for the pipeline's own cluster only."""
    from penstock.spark.mirror.access import Access

    kafka = {KAFKA_PREFIX + name: value for name, value in options[f"{place}Kafka"].items()}
    return Access(bootstrap_servers=options[place] or "", options=kafka)


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
            name="fromKafka",
            kind=MappingOf(Text()),
            default={},
            doc="How that cluster is reached, such as `security.protocol`: what `kafka` is for the pipeline, "
            "of which nothing counts there.",
        ),
        Field(
            name="to",
            kind=Text("addresses like host:port"),
            doc="Brokers of the cluster to copy to; if left out, those of the pipeline, reached as its "
            "`kafka` says.",
        ),
        Field(
            name="toKafka",
            kind=MappingOf(Text()),
            default={},
            doc="How the cluster that `to` names is reached, as with `fromKafka`.",
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
