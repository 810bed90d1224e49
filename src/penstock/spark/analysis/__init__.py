"""What topics hold, counted by Spark: sizes, keys, types, compression, what compaction would gain, times.

``sources`` says where records come from, ``tables`` how they are counted, ``topic_report`` what is told. What
people use is here by name, and loaded when it is first used: nothing of Spark is imported before.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.spark.analysis.analysing import analyse
    from penstock.spark.analysis.html.page import html_page
    from penstock.spark.analysis.sources import from_archive, from_brokers, from_directory

__all__ = ["analyse", "from_archive", "from_brokers", "from_directory", "html_page"]

_HOMES = {
    "analyse": "analysing",
    "from_archive": "sources",
    "from_brokers": "sources",
    "from_directory": "sources",
    "html_page": "html.page",
}


def __getattr__(name: str) -> Any:
    """A function for people; its home is imported only now."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
