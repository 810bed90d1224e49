"""The formats that ``parse`` knows: how a value becomes a struct, whether it failed, and why."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.spark.pipelines.ddl import column_names, column_types
from penstock.spark.pipelines.fields.field import Options
from penstock.spark.pipelines.problems import suggestion
from penstock.spark.pipelines.steps.paths import resolved
from penstock.spark.pipelines.steps.step import Complain

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

CORRUPT = "__corrupt"
_MATCHED = "__matched"
_REGISTRY_OPTIONS = ("url", "schemas", "subject", "topic", "format", "message")
_JAVA_GROUP = re.compile(r"\(\?<(?=[A-Za-z])")


Path = tuple[str, ...]
"""The way to a field: its name, or names of structs and then its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parser:
    """One format."""

    check: Callable[[Options, Complain], None]
    columns: "Callable[[DataType, Options], tuple[Path, ...]]"
    """Which fields of the struct, or below them, become columns; the type of the struct is given."""
    parse: "Callable[[Column, Options], Column]"
    """A struct of the columns, and of what ``is_bad`` needs."""
    is_bad: "Callable[[str, Options], Column]"
    reason: "Callable[[Column, str, Options], Column]"


def parser_of(options: Options) -> Parser:
    """The parser of a step's format."""
    return PARSERS[options["format"]]


def located(options: Options, directory: str) -> Options:
    """The options with the directory of schemas, if there is one, relative to the pipeline file's."""
    schemas = options["options"].get("schemas")
    if options["format"] != "registry" or not schemas:
        return options
    return {**options, "options": {**options["options"], "schemas": resolved(schemas, directory)}}


def group_names(pattern: str) -> tuple[str, ...]:
    """The named groups of a regular expression in their order; ``re.error`` if it is none."""
    return tuple(_compiled(pattern).groupindex)


def _compiled(pattern: str) -> re.Pattern[str]:
    """Java and Python write named groups differently; both are understood."""
    return re.compile(_JAVA_GROUP.sub("(?P<", pattern))


def _needs_schema(options: Options, complain: Complain) -> None:
    if not options["schema"]:
        complain(
            f"Parsing {options['format']} needs a schema.",
            "Add `schema:`, columns and types like 'user string, amount double'.",
        )
    if options["pattern"]:
        complain("Only the format 'regex' has a 'pattern'.", "Remove it, or set `format: regex`.")


def _schema_columns(parsed: "DataType", options: Options) -> tuple[Path, ...]:
    return tuple((name,) for name in column_names(options["schema"]))


def _never_complains(options: Options, complain: Complain) -> None:
    if options["schema"]:
        complain(
            "The format 'text' has no schema: it gives one column, 'value'.",
            "Remove it, or set another format.",
        )


def _parser_options(options: Options) -> dict[str, str]:
    mode = "FAILFAST" if options["mode"] == "FAILFAST" else "PERMISSIVE"
    return {**options["options"], "mode": mode, "columnNameOfCorruptRecord": CORRUPT}


def _with_corrupt(options: Options) -> str:
    return f"{options['schema']}, {CORRUPT} string"


def _parse_json(value: "Column", options: Options) -> "Column":
    from pyspark.sql import functions as F

    return F.from_json(value.cast("string"), _with_corrupt(options), _parser_options(options))


def _parse_csv(value: "Column", options: Options) -> "Column":
    from pyspark.sql import functions as F

    return F.from_csv(value.cast("string"), F.lit(_with_corrupt(options)), _parser_options(options))


def _is_no_json(parsed: str, options: Options) -> "Column":
    """Of a value that is empty or blank, Spark makes the same as of none, and no word about it."""
    from pyspark.sql import functions as F

    is_blank = F.col(parsed).isNull() & F.col(options["column"]).isNotNull()
    return F.col(f"{parsed}.{CORRUPT}").isNotNull() | is_blank


def _is_no_csv(parsed: str, options: Options) -> "Column":
    """An empty value is a line of one column, and Spark takes it for one of any number."""
    from pyspark.sql import functions as F

    is_corrupt = F.col(f"{parsed}.{CORRUPT}").isNotNull()
    if len(column_names(options["schema"])) == 1:
        return is_corrupt
    return is_corrupt | F.col(options["column"]).cast("string").eqNullSafe(F.lit(""))


def _json_reason(value: "Column", parsed: str, options: Options) -> "Column":
    """Which columns do not fit, where it is JSON at all."""
    from pyspark.sql import functions as F

    text = value.cast("string")
    misfits = F.concat_ws(
        ", ",
        *(
            F.when(
                F.col(f"{parsed}.`{name}`").isNull() & F.get_json_object(text, f"$['{name}']").isNotNull(),
                name,
            )
            for name in column_names(options["schema"])
        ),
    )
    return (
        F.when(F.try_parse_json(text).isNull(), "the value is no JSON")
        .when(misfits != "", F.concat(F.lit("does not fit the schema: "), misfits))
        .otherwise("the value is no JSON object of the schema")
    )


def _csv_reason(value: "Column", parsed: str, options: Options) -> "Column":
    from pyspark.sql import functions as F

    count = len(column_names(options["schema"]))
    return F.lit(f"the value is no CSV line of {count} columns of the schema's types")


def _check_regex(options: Options, complain: Complain) -> None:
    if not options["pattern"]:
        complain(
            "Parsing regex needs a pattern.",
            "Add `pattern:` with named groups, like '(?<ip>[^ ]+) (?<path>.*)'.",
        )
        return
    try:
        names = group_names(options["pattern"])
    except re.error as error:
        complain(f"The pattern is no regular expression: {error}.", "Check its brackets and backslashes.")
        return
    if not names:
        complain("The pattern has no named group.", "Name what becomes a column: (?<name>...).")
    unknown = [name for name in _types(options) if name not in names]
    if names and unknown:
        complain(
            f"The schema has a column {unknown[0]!r} that is no group of the pattern.",
            f"The groups are: {', '.join(names)}.",
        )


def _types(options: Options) -> dict[str, str]:
    """Types by column as the schema says them; none if there is no schema."""
    return column_types(options["schema"]) if options["schema"] else {}


def _regex_columns(parsed: "DataType", options: Options) -> tuple[Path, ...]:
    return tuple((name,) for name in group_names(options["pattern"]))


def _parse_regex(value: "Column", options: Options) -> "Column":
    from pyspark.sql import functions as F

    text, pattern = value.cast("string"), f"^(?:{options['pattern'].replace('(?P<', '(?<')})$"
    groups = _compiled(options["pattern"]).groupindex
    matches = text.rlike(pattern)
    types = _types(options)
    columns = []
    for name, number in groups.items():
        found = F.when(matches, F.regexp_extract(text, pattern, number))
        columns.append((found.try_cast(types[name]) if name in types else found).alias(name))
    is_matched = F.coalesce(matches, F.lit(True))
    for name in types:
        found = F.regexp_extract(text, pattern, groups[name])
        is_matched = is_matched & (~matches | (found == "") | found.try_cast(types[name]).isNotNull())
    return F.struct(*columns, F.coalesce(is_matched, F.lit(True)).alias(_MATCHED))


def _is_unmatched(parsed: str, options: Options) -> "Column":
    from pyspark.sql import functions as F

    return ~F.col(f"{parsed}.{_MATCHED}")


def _regex_reason(value: "Column", parsed: str, options: Options) -> "Column":
    from pyspark.sql import functions as F

    return F.lit("the value does not match the pattern, or a group does not fit its type")


def _parse_text(value: "Column", options: Options) -> "Column":
    from pyspark.sql import functions as F

    return F.struct(value.cast("string").alias("value"))


def _is_never_bad(parsed: str, options: Options) -> "Column":
    from pyspark.sql import functions as F

    return F.lit(False)


def _no_reason(value: "Column", parsed: str, options: Options) -> "Column":
    from pyspark.sql import functions as F

    return F.lit("")


def _text_columns(parsed: "DataType", options: Options) -> tuple[Path, ...]:
    return (("value",),)


def _check_registry(options: Options, complain: Complain) -> None:
    """The words are those of ``from_registry``; the others it has are options of the step itself."""
    for name in options["options"]:
        if name not in _REGISTRY_OPTIONS:
            complain(f"The registry has no option {name!r}.", suggestion(name, _REGISTRY_OPTIONS))
    if not {"url", "schemas"} & options["options"].keys():
        complain(
            "Parsing with a registry needs to know where that is.",
            "Add `options: {url: http://host:8081}`, or `schemas:` with a directory of schemas.",
        )


def _parse_registry(value: "Column", options: Options) -> "Column":
    from penstock.spark.registry.decoded_column import from_registry

    mode = "FAILFAST" if options["mode"] == "FAILFAST" else "PERMISSIVE"
    return from_registry(value, schema=options["schema"], mode=mode, **options["options"])


def _registry_columns(parsed: "DataType", options: Options) -> tuple[Path, ...]:
    """What the newest schema has, or the one that was asked for."""
    from pyspark.sql.types import StructType

    assert isinstance(parsed, StructType), "from_registry gives a struct"
    value = parsed["value"].dataType
    return tuple(("value", name) for name in value.names) if isinstance(value, StructType) else (("value",),)


def _is_undecoded(parsed: str, options: Options) -> "Column":
    from pyspark.sql import functions as F

    return F.col(f"{parsed}.error").isNotNull()


def _registry_reason(value: "Column", parsed: str, options: Options) -> "Column":
    from pyspark.sql import functions as F

    return F.col(f"{parsed}.error")


PARSERS: Mapping[str, Parser] = {
    "json": Parser(
        check=_needs_schema,
        columns=_schema_columns,
        parse=_parse_json,
        is_bad=_is_no_json,
        reason=_json_reason,
    ),
    "csv": Parser(
        check=_needs_schema, columns=_schema_columns, parse=_parse_csv, is_bad=_is_no_csv, reason=_csv_reason
    ),
    "regex": Parser(
        check=_check_regex,
        columns=_regex_columns,
        parse=_parse_regex,
        is_bad=_is_unmatched,
        reason=_regex_reason,
    ),
    "text": Parser(
        check=_never_complains,
        columns=_text_columns,
        parse=_parse_text,
        is_bad=_is_never_bad,
        reason=_no_reason,
    ),
    "registry": Parser(
        check=_check_registry,
        columns=_registry_columns,
        parse=_parse_registry,
        is_bad=_is_undecoded,
        reason=_registry_reason,
    ),
}
"""By the words of the option ``format``."""
