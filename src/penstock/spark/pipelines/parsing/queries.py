"""What flows, views and tables are made of: SQL, or another dataset and steps."""

from collections.abc import Mapping
from typing import Any

from yaml.nodes import Node, ScalarNode

from penstock.spark.pipelines.fields.kinds import Sql, scalar_text
from penstock.spark.pipelines.model import Query
from penstock.spark.pipelines.parsing.context import Reading
from penstock.spark.pipelines.parsing.steps import read_steps
from penstock.spark.pipelines.problems import Place
from penstock.spark.pipelines.sql_text import tables_read

_QUERY = Sql("an SQL query")


def read_query(
    values: Mapping[str, Any], node: Node, reading: Reading, *, noun: str, is_needed: bool = True
) -> Query | None:
    """The query of a mapping whose keys ``sql``, ``from`` and ``steps`` were read as parts."""
    sql, origin = values["sql"], values["from"]
    if sql is not None and origin is not None:
        reading.complain(
            origin,
            f"{noun} has both 'sql' and 'from'.",
            "Keep one; SQL after `from` is a step: `- sql: SELECT ...`.",
        )
    if sql is None and origin is None and is_needed:
        reading.complain(
            node, f"{noun} reads nothing.", "Add `sql:` with a query, or `from:` with a source's name."
        )
        return None
    steps = read_steps(values["steps"], reading)
    text = None if sql is None else _QUERY.read(sql, reading.document, reading.problems)
    return Query(
        sql=text or "",
        origin="" if origin is None or sql is not None else _name(origin, reading),
        steps=steps,
        sql_places=_places(sql, text, reading),
        place=reading.place(origin if origin is not None else sql if sql is not None else node),
    )


def _name(node: Node, reading: Reading) -> str:
    text = scalar_text(node)
    if not text:
        reading.complain(node, "'from' must be the name of a source, view or table.")
    return text or ""


def _places(node: Node | None, sql: str | None, reading: Reading) -> tuple[tuple[str, Place], ...]:
    if not isinstance(node, ScalarNode) or not sql:
        return ()
    single = [each for each in tables_read(sql) if len(each.parts) == 1]
    return tuple((each.name, reading.document.place_within(node, each.offset)) for each in single)
