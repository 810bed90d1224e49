"""Every key of a pipeline file outside of steps: the tables that files are read by and documented from."""

from enum import StrEnum

from penstock.spark.pipelines.fields.field import Field
from penstock.spark.pipelines.fields.kinds import Choice, Duration, ListOf, MappingOf, Part, Schema, Sql, Text
from penstock.spark.pipelines.model import OnFailure, OutputMode, ReadMode, TriggerKind


def _words(words: type[StrEnum]) -> Choice:
    return Choice(tuple(word.value for word in words))


NAME_PATTERN = r"[A-Za-z_][A-Za-z0-9_]*"
PIPELINE_NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}"

_TRIGGER = Part("a mapping with processingTime, availableNow or once")
_ON_FAILURE = _words(OnFailure)

PIPELINE_FIELDS = (
    Field(
        name="name",
        kind=Text("a name of letters, digits, '_', '.' and '-'", PIPELINE_NAME_PATTERN),
        is_required=True,
        doc="What the pipeline is called, in its progress and its metrics.",
    ),
    Field(
        name="storage",
        kind=Text("a directory or URI"),
        is_required=True,
        doc="Where checkpoints and tables are kept: a directory, relative to the file, or a URI that Spark "
        "can write to. A pipeline resumes by what it finds there.",
    ),
    Field(
        name="configuration",
        kind=MappingOf(Text()),
        default={},
        doc="Settings of Spark by name, for all flows.",
    ),
    Field(
        name="kafka",
        kind=MappingOf(Text()),
        default={},
        doc="Settings of the clients of all sources and sinks, such as `bootstrap.servers`: what `kafka.*` "
        "options are, without that prefix. `--bootstrap-server` wins over it, options of a source or sink "
        "win over both.",
    ),
    Field(
        name="libraries",
        kind=Part("a list of paths, or of `glob: {include: path}`"),
        doc="Python files, or directories as `directory/**`, that define more views, tables, flows and "
        "sinks.",
    ),
    Field(
        name="catalog",
        kind=Text("a name"),
        default="",
        doc="The catalog of tables that are none of the pipeline's.",
    ),
    Field(
        name="database",
        kind=Text("a name"),
        default="",
        doc="The database of such tables; also called `schema`.",
    ),
    Field(name="schema", kind=Text("a name"), default="", doc="The same as `database`."),
    Field(
        name="sources",
        kind=Part("a mapping of sources by name"),
        doc="What is read; see [sources](#sources).",
    ),
    Field(
        name="views",
        kind=Part("a mapping of views by name"),
        doc="Names for queries; see [views](#views-and-tables).",
    ),
    Field(
        name="tables",
        kind=Part("a mapping of tables by name"),
        doc="Queries whose rows are kept; see [tables](#views-and-tables).",
    ),
    Field(name="flows", kind=Part("a mapping of flows by name"), doc="What runs; see [flows](#flows)."),
    Field(name="sinks", kind=Part("a mapping of sinks by name"), doc="Where rows go; see [sinks](#sinks)."),
    Field(
        name="trigger",
        kind=_TRIGGER,
        doc="When flows make micro-batches, unless they say otherwise; see [triggers](#triggers).",
    ),
    Field(
        name="onFailure",
        kind=_ON_FAILURE,
        default=OnFailure.STOP.value,
        doc="When a flow fails: `stop` the others too, or let them `continue`.",
    ),
)

SOURCE_FIELDS = (
    Field(
        name="format",
        kind=Text(),
        default="penstock",
        doc="`penstock` for topics, or any other source of Spark.",
    ),
    Field(
        name="options",
        kind=MappingOf(Text()),
        default={},
        doc="Options of the source: `subscribe`, `startingOffsets` and so on.",
    ),
    Field(name="schema", kind=Schema(), default="", doc="The columns of files of JSON, CSV and the like."),
    Field(
        name="columns",
        kind=ListOf(Text("a column")),
        default=(),
        doc="The columns of a topic's records that queries see. Columns that no flow looks at are not sent "
        "to Spark anyway, but for flows through Spark Connect.",
    ),
    Field(
        name="value",
        kind=Part("a mapping with the options of the step parse"),
        doc="How the value of records becomes columns: the options of the step [parse](#parse).",
    ),
    Field(
        name="read",
        kind=_words(ReadMode),
        default=ReadMode.STREAM.value,
        doc="`stream` for ever, `batch` all there is, or as a `table`: the latest value of each key, those "
        "without one (tombstones) left out.",
    ),
    Field(
        name="refresh",
        kind=Duration(("batch", "start")),
        default="batch",
        doc="When a topic that is a `table` or `batch` is read: anew in every micro-batch, once at the "
        "`start`, or anew after a duration such as `10 minutes`.",
    ),
)

_QUERY_FIELDS = (
    Field(
        name="sql",
        kind=Part("an SQL query"),
        doc="A query of Spark SQL over sources, views and tables of the pipeline.",
    ),
    Field(
        name="from",
        kind=Part("a source, view or table"),
        doc="In place of `sql`: the source, view or table whose rows enter the first step.",
    ),
    Field(name="steps", kind=Part("a list of steps"), doc="What is done with the rows, in this order."),
)

VIEW_FIELDS = _QUERY_FIELDS

TABLE_FIELDS = (
    *_QUERY_FIELDS,
    Field(
        name="format",
        kind=Choice(("parquet", "orc", "json")),
        default="parquet",
        doc="How its files are written.",
    ),
    Field(
        name="partitionBy",
        kind=ListOf(Text("a column")),
        default=(),
        doc="Columns whose values become directories.",
    ),
    Field(name="trigger", kind=_TRIGGER, doc="When its flow makes micro-batches."),
    Field(
        name="configuration", kind=MappingOf(Text()), default={}, doc="Settings of Spark for its flow alone."
    ),
)

FLOW_FIELDS = (
    *_QUERY_FIELDS,
    Field(
        name="sink",
        kind=Part("a sink's name, or a mapping with the keys of a sink"),
        doc="Where the rows go: the name of a sink, or a sink's keys right here.",
    ),
    Field(
        name="outputMode",
        kind=_words(OutputMode),
        default=OutputMode.APPEND.value,
        doc="Which rows are written: `append` those that will not change any more, `update` those that "
        "changed, `complete` the whole result each time.",
    ),
    Field(
        name="trigger",
        kind=_TRIGGER,
        doc="When it makes micro-batches; the pipeline's `trigger` if left out.",
    ),
    Field(
        name="configuration", kind=MappingOf(Text()), default={}, doc="Settings of Spark for this flow alone."
    ),
    Field(name="onFailure", kind=_ON_FAILURE, doc="What becomes of the other flows when this one fails."),
)

SINK_VALUE_FIELDS = (
    Field(
        name="format",
        kind=Choice(("json", "csv", "text", "registry")),
        default="json",
        doc="How columns become the value: an object of JSON, a line of CSV, the text of one column, or "
        "bytes by a registry's schema.",
    ),
    Field(
        name="columns",
        kind=ListOf(Text("a column")),
        default=(),
        doc="Which; all but `key`, `headers` and a `topic` that rows are routed by, if left out.",
    ),
    Field(
        name="options",
        kind=MappingOf(Text()),
        default={},
        doc="Options of `to_json` or `to_csv`; of `registry`: `url` or `schemas`, `subject`, `format`, "
        "`message` and `auto_register` (true to register a schema for the columns).",
    ),
)

SINK_FIELDS = (
    Field(
        name="format",
        kind=Text(),
        default="penstock",
        doc="`penstock` for topics, or any other sink of Spark: `parquet`, `console`, `noop`.",
    ),
    Field(
        name="options",
        kind=MappingOf(Text()),
        default={},
        doc="Options of the sink: `topic`, `path` and so on.",
    ),
    Field(name="path", kind=Text("a path"), doc="The option `path`, relative to the file."),
    Field(
        name="key",
        kind=Sql(),
        default="",
        doc="The key of records, an SQL expression; the column `key` if there is one.",
    ),
    Field(
        name="value",
        kind=Part("a mapping with format, columns and options"),
        doc="How a row becomes the value of a record. Left out: the column `value` if there is one, else "
        "JSON.",
    ),
    Field(
        name="headers",
        kind=MappingOf(Sql()),
        default={},
        doc="Headers of records, SQL expressions by name; the column `headers` if there is one.",
    ),
    Field(
        name="partition",
        kind=Sql(),
        default="",
        doc="The partition of records, an SQL expression; left out, the key decides.",
    ),
    Field(
        name="timestamp",
        kind=Sql(),
        default="",
        doc="The time of records, an SQL expression; left out, when they are written.",
    ),
    Field(
        name="partitionBy",
        kind=ListOf(Text("a column")),
        default=(),
        doc="Files: columns whose values become directories.",
    ),
)

TRIGGER_FIELDS = (
    Field(
        name=TriggerKind.PROCESSING_TIME.value,
        kind=Duration(("0 seconds",)),
        doc="A micro-batch this often; `0 seconds`, the default, is: as soon as the last one is done.",
    ),
    Field(
        name=TriggerKind.AVAILABLE_NOW.value,
        kind=Choice(("true",)),
        doc="Read what there is, in micro-batches of the usual size, and end.",
    ),
    Field(
        name=TriggerKind.ONCE.value,
        kind=Choice(("true",)),
        doc="Read what there is in one micro-batch, and end.",
    ),
)
