"""The Spark that a command of archives works with, for as long as it runs."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.cli.pipeline.signals import kept_from_children
from penstock.cli.spark_session import spark_session, told_in_a_sentence

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkWishes:
    """What the command line says of the session."""

    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    is_short: bool = False
    """Whether it ends soon, so that Java should compile quickly rather than well."""


@contextmanager
def running_spark(wishes: SparkWishes) -> "Iterator[SparkSession]":
    """A session that Ctrl-C does not reach; what it fails with is told in a sentence."""
    with ExitStack() as stack:
        with kept_from_children():
            started = spark_session(
                "penstock archive", master=wishes.master, conf=wishes.conf, is_short=wishes.is_short
            )
            spark = stack.enter_context(started)
        stack.enter_context(told_in_a_sentence())
        yield spark


def say(text: str) -> None:
    """Tell the person at the terminal, beside what goes to standard output."""
    print(text, file=sys.stderr, flush=True)
