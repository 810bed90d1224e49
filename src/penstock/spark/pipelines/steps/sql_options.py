"""The pieces of SQL among a step's options, found by its table."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from penstock.spark.pipelines.fields.field import Kind
from penstock.spark.pipelines.fields.kinds import ListOf, MappingOf, Sql
from penstock.spark.pipelines.model import StepUse
from penstock.spark.pipelines.sql_text import as_of
from penstock.spark.pipelines.steps import STEPS


def use_as_of(use: StepUse, moment_ms: int) -> StepUse:
    """The same use at a moment: wherever its SQL says the present time, that is meant."""
    kinds = {field.name: field.kind for field in STEPS[use.name].fields}
    options = {
        name: _changed(kinds[name], value, lambda sql: as_of(sql, moment_ms))
        for name, value in use.options.items()
    }
    return replace(use, options=options)


def pieces_of(use: StepUse) -> Iterator[tuple[str, str]]:
    """Each piece, behind the name of its option."""
    for field in STEPS[use.name].fields:
        for sql in _pieces(field.kind, use.options[field.name]):
            yield field.name, sql


def _pieces(kind: Kind, value: Any) -> Iterator[str]:
    if value is None:
        return
    if isinstance(kind, Sql):
        yield value
    elif isinstance(kind, ListOf):
        for each in value:
            yield from _pieces(kind.item, each)
    elif isinstance(kind, MappingOf):
        for each in value.values():
            yield from _pieces(kind.item, each)


def _changed(kind: Kind, value: Any, change: Callable[[str], str]) -> Any:
    if value is None:
        return None
    if isinstance(kind, Sql):
        return change(value)
    if isinstance(kind, ListOf):
        return tuple(_changed(kind.item, each, change) for each in value)
    if isinstance(kind, MappingOf):
        return {name: _changed(kind.item, each, change) for name, each in value.items()}
    return value
