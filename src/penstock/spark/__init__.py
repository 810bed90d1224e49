"""Topics as tables of Spark: the data source, and the pipelines made of it. Only here pyspark is imported.

What people use is here by name, and loaded when it is first used: nothing of Spark is imported before.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.spark.registry.address import Registry
    from penstock.spark.registry.decoded_column import from_registry
    from penstock.spark.registry.encoded_column import to_registry
    from penstock.spark.sessions.archive_making import make_archive
    from penstock.spark.sessions.errors import JavaNotFoundError, SparkStartError
    from penstock.spark.sessions.explanation import Explanation
    from penstock.spark.sessions.kafka_format import use_kafka_format
    from penstock.spark.sessions.running import shutdown
    from penstock.spark.sessions.session import explain, session
    from penstock.spark.sessions.topic import topic

__all__ = [
    "Explanation",
    "JavaNotFoundError",
    "Registry",
    "SparkStartError",
    "explain",
    "from_registry",
    "make_archive",
    "session",
    "shutdown",
    "to_registry",
    "topic",
    "use_kafka_format",
]

_HOMES = {
    "Explanation": "sessions.explanation",
    "JavaNotFoundError": "sessions.errors",
    "Registry": "registry.address",
    "SparkStartError": "sessions.errors",
    "explain": "sessions.session",
    "from_registry": "registry.decoded_column",
    "make_archive": "sessions.archive_making",
    "session": "sessions.session",
    "shutdown": "sessions.running",
    "to_registry": "registry.encoded_column",
    "topic": "sessions.topic",
    "use_kafka_format": "sessions.kafka_format",
}


def __getattr__(name: str) -> Any:
    """A function or class for people; its home is imported only now."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
