"""Which metrics and labels an expression of Prometheus speaks of, without a whole parser.

It knows the words that our own expressions use, and refuses others, so that nothing is overlooked.
"""

import re
from dataclasses import dataclass

FUNCTIONS = frozenset(
    {
        *("sum", "max", "min", "count", "topk", "rate", "increase", "changes", "histogram_quantile"),
        *("max_over_time", "predict_linear", "time", "label_values"),
    }
)
OPERATORS = frozenset({"and", "or", "unless", "bool"})

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_RANGE = re.compile(r"\[[^\]]*\]")
_GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
_SELECTOR = re.compile(r"([a-zA-Z_:][\w:]*)\s*\{([^}]*)\}")
_MATCHER = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)")
_WORD = re.compile(r"([a-zA-Z_:][\w:]*)(\s*\()?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What an expression speaks of."""

    metrics: dict[str, frozenset[str]]
    """Names of series, with the labels that are asked of each."""

    groupings: frozenset[str]
    """Labels by which results are put together."""


def spoken_of(expression: str) -> Spoken:
    """Take an expression apart; ``ValueError`` names a function that is not known here."""
    text = _RANGE.sub("", _STRING.sub('""', expression))
    groupings = {name.strip() for found in _GROUPING.findall(text) for name in found.split(",")}
    text = _GROUPING.sub(" ", text)
    metrics: dict[str, frozenset[str]] = {}
    for name, matchers in _SELECTOR.findall(text):
        metrics[name] = metrics.get(name, frozenset()) | frozenset(_MATCHER.findall(matchers))
    for name, is_called in _WORD.findall(_SELECTOR.sub(" ", text)):
        if is_called and name not in FUNCTIONS | OPERATORS:
            raise ValueError(f"unknown function {name} in {expression}")
        if not is_called and name not in OPERATORS:
            metrics.setdefault(name, frozenset())
    return Spoken(metrics=metrics, groupings=frozenset(groupings))
