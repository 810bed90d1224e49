"""Records that an expression or a text is true of go on, as ``penstock search`` finds them."""

from typing import TYPE_CHECKING

from penstock.spark.pipelines.fields.field import Field, Options
from penstock.spark.pipelines.fields.kinds import Text
from penstock.spark.pipelines.steps.step import Complain, Step, StepContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_HEADERS = "array<struct<key:string,value:binary>>"


def check(options: Options, complain: Complain) -> None:
    """A search for nothing."""
    if not any(options[name] for name in ("where", "text", "regex")):
        complain("'search' looks for nothing.", "Give it 'where', 'text' or 'regex'.")


def build(frame: "DataFrame", options: Options, context: StepContext) -> "DataFrame":
    """Keep the records that match, as they are."""
    from pyspark.sql import functions as F

    from penstock.spark.search.searching import chosen
    from penstock.spark.search.table import as_records, searchable

    if "headers" not in frame.columns:
        frame = frame.withColumn("headers", F.lit(None).cast(_HEADERS))
    found = chosen(
        searchable(frame), expression=options["where"], text=options["text"], regex=options["regex"]
    )
    return as_records(found)


SEARCH = Step(
    name="search",
    summary="Keeps whole records that are found by an expression or a text, as `penstock search` does.",
    fields=(
        Field(
            name="where",
            kind=Text("an expression like json:amount > 100"),
            doc="Of Spark SQL over key, value, headers and so on, with `json:path` for fields of JSON "
            "values; a record whose field is of another type does not match, and ends nothing.",
        ),
        Field(name="text", kind=Text("text"), doc="A text to be found in the key or the value."),
        Field(
            name="regex",
            kind=Text("a regular expression"),
            doc="A regular expression of Java to be found in the value.",
        ),
    ),
    shorthand="where",
    check=check,
    build=build,
    example="- search: json:user.country = 'NO' AND json:amount > 100",
)
