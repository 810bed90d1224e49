"""The Spark that a command of archives works with, for as long as it runs."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING

from penstock.cli.failure import CommandFailed
from penstock.cli.output import working
from penstock.cli.pipeline.signals import kept_from_children

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
    """A session, ended afterwards unless the program had it before; what it fails with is told shortly."""
    require_spark()
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    from penstock.spark.sessions.running import active_session, shutdown
    from penstock.spark.sessions.session import session

    is_ours = active_session() is None
    with working("Spark starts"), kept_from_children():
        spark = session("penstock archive", wishes.master, short=wishes.is_short, conf=wishes.conf)
    if is_ours:
        spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    except (PySparkException, Py4JError) as error:
        raise failed(error) from error
    finally:
        if is_ours:
            shutdown()


def require_spark() -> None:
    """Fail with advice unless pyspark is installed."""
    if find_spec("pyspark") is None:
        raise CommandFailed(
            "Archives are written and read by Spark, and pyspark is not installed.",
            hint="Install it with `pip install 'penstock[spark]'`; `penstock doctor` looks for Java.",
        )


def failed(error: Exception) -> CommandFailed:
    """What Spark reports in pages, in a sentence."""
    from penstock.spark.pipelines.running.failures import cause_text

    return CommandFailed(cause_text(error))


def say(text: str) -> None:
    """Tell the person at the terminal, beside what goes to standard output."""
    print(text, file=sys.stderr, flush=True)
