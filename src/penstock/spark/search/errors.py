"""Mistakes in expressions, each told in one sentence with its position, where Spark writes a page."""

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from penstock.model.errors import UsageError
from penstock.spark.search.expressions import Expression

if TYPE_CHECKING:
    from pyspark.errors import PySparkException

_LINE_AND_POSITION = re.compile(r"\(line (\d+), pos (\d+)\)")
_PREFIX = re.compile(r"^\[[A-Z0-9_.]+\]\s*")
_SUFFIX = re.compile(r"\s*SQLSTATE: \w+.*$", re.DOTALL)


class ExpressionError(UsageError):
    """An expression that Spark does not understand; ``position`` counts characters from 1, 0 for none."""

    def __init__(self, message: str, position: int = 0) -> None:
        super().__init__(message)
        self.position = position


def expression_error(
    error: "PySparkException", expression: Expression, *, lead: int, columns: Collection[str]
) -> ExpressionError:
    """What is wrong with ``expression``, before which Spark was given ``lead`` other characters."""
    index = _index(error, expression, lead)
    reason = _reason(error, columns)
    if index is None:
        return ExpressionError(f"The expression cannot be used: {reason}.")
    position = expression.position(index)
    if position >= len(expression.written.rstrip()):
        return ExpressionError(
            f"The expression has a mistake at its end: {reason}.", len(expression.written.rstrip()) + 1
        )
    return ExpressionError(
        f"The expression has a mistake at position {position + 1}: {reason}.", position + 1
    )


def _index(error: "PySparkException", expression: Expression, lead: int) -> int | None:
    """Where in the rewritten text; None if Spark does not say."""
    for context in error.getQueryContext() or ():
        if context.contextType().name == "SQL" and context.startIndex() >= 0:
            return max(0, context.startIndex() - lead)
    match = _LINE_AND_POSITION.search(str(error))
    if match is None:
        return None
    line, position = int(match[1]), int(match[2])
    lines = expression.text.split("\n")
    before = sum(len(one) + 1 for one in lines[: line - 1])
    return before + position - (lead if line == 1 else 0)


def _reason(error: "PySparkException", columns: Collection[str]) -> str:
    condition, parameters = error.getCondition() or "", error.getMessageParameters() or {}
    match condition.split(".")[0]:
        case "UNRESOLVED_COLUMN":
            name = parameters.get("objectName", "").replace("`", "")
            return f"there is no column {name!r}, there are {', '.join(columns)}"
        case "UNRESOLVED_ROUTINE":
            return f"Spark has no function {parameters.get('routineName', '').replace('`', '')!r}"
        case "PARSE_SYNTAX_ERROR":
            return f"Spark cannot read it from here on{_found(parameters)}"
    if condition == "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN":
        kind = parameters.get("type", "").strip('"')
        return f"it is of type {kind} and so never true or false; compare it with something"
    return _plain(str(error))


def _found(parameters: "dict[str, str]") -> str:
    found = parameters.get("error", "")
    return "" if found in ("", "')'", "end of input") else f", there is {found}"


def _plain(text: str) -> str:
    first = _PREFIX.sub("", text.strip()).split("\n")[0]
    return _SUFFIX.sub("", first).rstrip(".") or "Spark says no more"
