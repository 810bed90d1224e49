"""Topics kept as Parquet files, for as long as one likes: archived exactly once, read back, and replayed.

``paths`` says where everything is, ``manifest`` which files count. What people use is here by name, and
loaded when it is first used: nothing of Spark is imported before.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.spark.archive.archiving import ArchiveTrigger, archive_rows
    from penstock.spark.archive.parquet_files import FileSettings
    from penstock.spark.archive.reading import read, read_with_topic
    from penstock.spark.archive.topics import archive_topics

__all__ = [
    "ArchiveTrigger",
    "FileSettings",
    "archive_rows",
    "archive_topics",
    "read",
    "read_with_topic",
]

_HOMES = {
    "ArchiveTrigger": "archiving",
    "FileSettings": "parquet_files",
    "archive_rows": "archiving",
    "archive_topics": "topics",
    "read": "reading",
    "read_with_topic": "reading",
}


def __getattr__(name: str) -> Any:
    """A function or class for people; its home is imported only now."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
