"""From a mapping of a document to typed values, by a table of fields."""

from collections.abc import Sequence
from typing import Any

from yaml.nodes import MappingNode, Node

from penstock.spark.pipelines.document import Document
from penstock.spark.pipelines.fields.field import Field, by_name
from penstock.spark.pipelines.fields.kinds import entries
from penstock.spark.pipelines.problems import Problems, suggestion


def read_fields(
    node: Node, fields: Sequence[Field], *, document: Document, problems: Problems, noun: str
) -> dict[str, Any]:
    """Every field's value or default; unknown and missing keys, and wrong values, are noted."""
    values = {field.name: field.default for field in fields}
    if not isinstance(node, MappingNode):
        problems.add(
            document.place(node), f"{noun} must be a mapping.", hint=f"Its keys are: {', '.join(values)}."
        )
        return values
    table = by_name(fields)
    given = dict(entries(node, document, problems))
    _note_unknown(node, table, document=document, problems=problems, noun=noun)
    for name, value in given.items():
        if name in table:
            read = table[name].kind.read(value, document, problems)
            values[name] = table[name].default if read is None else read
    for field in fields:
        if field.is_required and field.name not in given:
            problems.add(
                document.place(node),
                f"{noun} has no {field.name!r}.",
                hint=f"Add `{field.name}:`, {field.kind.expected}.",
            )
    return values


def _note_unknown(
    node: MappingNode, table: dict[str, Field], *, document: Document, problems: Problems, noun: str
) -> None:
    for key, _ in node.value:
        name = str(key.value)
        if name not in table:
            problems.add(
                document.place(key), f"{noun} has no key {name!r}.", hint=suggestion(name, table, limit=16)
            )
