"""``format("kafka")`` for programs that already say so: the name is taken by a connector that is not there.

Spark keeps the name for its own connector, a jar that pip does not bring, and refuses it before it asks for
other sources. So it is replaced where Python hands it over, in the readers and writers of PySpark, if and
while a program wishes so.

Spark's connector also appends when no mode is asked for, where other sources are refused by Spark: batch
writers are told to append then. ``overwrite`` and ``ignore`` stay what they are, and are refused.
"""

import functools
import importlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from penstock.spark.sessions.connect import missing_packages

ALIAS = "kafka"
FORMAT = "penstock"

_CLASSIC = ("pyspark.sql.readwriter", "pyspark.sql.streaming.readwriter")
_CONNECT = ("pyspark.sql.connect.readwriter", "pyspark.sql.connect.streaming.readwriter")
_NAMES = ("DataFrameReader", "DataFrameWriter", "DataStreamReader", "DataStreamWriter")
_APPENDING = frozenset({None, "append", "error", "errorifexists", "default"})

_originals: dict[tuple[type, str], Callable[..., Any]] = {}


def use_kafka_format() -> Callable[[], None]:
    """Let ``format("kafka")`` mean ``format("penstock")`` in this process; returns what undoes it.

    To say it twice does no harm. Only Python is changed: ``USING kafka`` in SQL still means Spark's own.
    """
    if not _originals:
        for each in _classes():
            _replace(each, "format", _format(each))
            if each.__name__ == "DataFrameWriter":
                _replace(each, "mode", _mode(each))
                _replace(each, "save", _save(each))
    return undo


def undo() -> None:
    """Give ``format("kafka")`` back to Spark."""
    for (owner, name), original in _originals.items():
        setattr(owner, name, original)
    _originals.clear()


def _classes() -> Iterator[type]:
    modules = itertools.chain(_CLASSIC, () if missing_packages() else _CONNECT)
    for module, name in itertools.product(map(importlib.import_module, modules), _NAMES):
        found = getattr(module, name, None)
        if found is not None and found.__module__ == module.__name__:
            yield found


def _replace(owner: type, name: str, replacement: Callable[..., Any]) -> None:
    _originals[owner, name] = getattr(owner, name)
    setattr(owner, name, replacement)


def _format(owner: Any) -> Callable[..., Any]:
    original = owner.format

    @functools.wraps(original)
    def format(self: Any, source: str) -> Any:
        self._penstock_alias = source.lower() == ALIAS
        return original(self, FORMAT if self._penstock_alias else source)

    return format


def _mode(owner: Any) -> Callable[..., Any]:
    original = owner.mode

    @functools.wraps(original)
    def mode(self: Any, saveMode: str | None) -> Any:
        if saveMode is not None:
            self._penstock_mode = saveMode.lower()
        return original(self, saveMode)

    return mode


def _save(owner: Any) -> Callable[..., Any]:
    original, set_mode = owner.save, _originals[owner, "mode"]

    @functools.wraps(original)
    def save(
        self: Any,
        path: str | None = None,
        format: str | None = None,
        mode: str | None = None,
        *others: Any,
        **options: Any,
    ) -> Any:
        self.mode(mode)
        if format is not None:
            self.format(format)
        if getattr(self, "_penstock_alias", False) and getattr(self, "_penstock_mode", None) in _APPENDING:
            set_mode(self, "append")
        return original(self, path, None, None, *others, **options)

    return save
