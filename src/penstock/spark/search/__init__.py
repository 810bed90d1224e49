"""Finding records: every record of a topic and its archive is looked at, by all cores of a Spark.

``expressions`` says what may be asked, ``searching`` asks it. What people use is here by name, and loaded
when it is first used: nothing of Spark is imported before.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.spark.search.errors import ExpressionError
    from penstock.spark.search.searching import Search, search
    from penstock.spark.search.table import searchable

__all__ = ["ExpressionError", "Search", "search", "searchable"]

_HOMES = {
    "ExpressionError": "errors",
    "Search": "searching",
    "search": "searching",
    "searchable": "table",
}


def __getattr__(name: str) -> Any:
    """A function or class for people; its home is imported only now."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
