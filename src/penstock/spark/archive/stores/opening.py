"""Which store a path means."""

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from penstock.model.errors import UsageError
from penstock.spark.archive.stores.local_store import LocalStore
from penstock.spark.archive.stores.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_PATTERN = re.compile(r"[*?\[\]{}\\]")
"""What Spark takes for a pattern of several paths."""


def open_store(path: str, spark: "SparkSession | None" = None) -> Store:
    """The store of a path of this machine, also with ``file://``, or of any URI that Spark can write."""
    if _PATTERN.search(path):
        raise UsageError(f"{path!r} has one of the characters *?[]{{}}\\, which Spark takes for a pattern.")
    if is_local(path):
        return LocalStore(Path(unquote(urlsplit(path).path) if path.startswith("file:") else path))
    if spark is None:
        raise UsageError(f"{path!r} is not on this machine: only Spark can reach it, and none was given.")
    from penstock.spark.archive.stores.hadoop_store import HadoopStore

    return HadoopStore.open(path, spark)


def is_local(path: str) -> bool:
    """Whether a path is one of this machine's own file system."""
    return "://" not in path or path.startswith("file:")
