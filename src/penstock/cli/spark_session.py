"""The Spark that a command works with: started for it, ended with it, quiet, and with a bar of its tasks."""

import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stderr
from importlib.util import find_spec
from typing import TYPE_CHECKING

from penstock.cli.failure import CommandFailed
from penstock.cli.output import working

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POLL_SECONDS = 0.3
_NOISY_LOGGER = "SQLQueryContextLogger"
"""PySpark's own, which repeats every error of a query in pages before it is raised."""


def require_spark(who: str) -> None:
    """Fail with advice unless pyspark is installed; ``who`` begins the sentence."""
    if find_spec("pyspark") is None:
        raise CommandFailed(
            f"{who} runs on Spark, and pyspark is not installed.",
            hint="Install it with `pip install 'penstock[spark]'`; `penstock doctor` looks for Java.",
        )


@contextmanager
def spark_session(
    name: str,
    *,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    is_short: bool = False,
    is_quiet: bool = False,
) -> "Iterator[SparkSession]":
    """A session, ended afterwards unless the program had it before.

    ``is_short`` is for commands that end within a minute: Java then compiles quickly rather than well.
    ``is_quiet`` keeps away what Java and workers write by themselves, for commands that soon end.
    """
    require_spark(name)
    from penstock.spark.sessions.running import active_session, shutdown
    from penstock.spark.sessions.session import session

    is_ours = active_session() is None
    with _children_muted() if is_ours and is_quiet else nullcontext(), working("Starting Spark"):
        spark = session(name, master, short=is_short, conf=dict(conf or {}))
    if is_ours:
        spark.sparkContext.setLogLevel("ERROR")
    try:
        with _without_pages():
            yield spark
    finally:
        if is_ours:
            shutdown()


@contextmanager
def told_in_a_sentence() -> Iterator[None]:
    """What Spark reports in pages fails the command with one sentence."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        from penstock.spark.pipelines.running.failures import cause_text

        raise CommandFailed(cause_text(error)) from error


@contextmanager
def tasks_shown(spark: "SparkSession", title: str) -> Iterator[None]:
    """A bar of Spark's tasks on a terminal, for as long as the block takes."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    stopping = threading.Event()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(title, total=None)
        watching = threading.Thread(
            target=_watch,
            args=(spark, lambda done, total: bars.update(bar, completed=done, total=total), stopping),
            name="spark-tasks",
            daemon=True,
        )
        watching.start()
        try:
            yield
        finally:
            stopping.set()
            watching.join()


def _watch(spark: "SparkSession", show: Callable[[int, int], None], stopping: threading.Event) -> None:
    tracker = spark.sparkContext.statusTracker()
    while not stopping.wait(POLL_SECONDS):
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        known = [stage for stage in stages if stage is not None]
        if known:
            done = sum(stage.numCompletedTasks for stage in known)
            show(done, sum(stage.numTasks for stage in known))


@contextmanager
def _children_muted() -> Iterator[None]:
    """Processes that are started meanwhile write their errors to a file, for as long as they live.

    Java warns of its own modules, and workers of Spark tell that they were ended. What goes wrong comes back
    as an exception; only if nothing starts at all is the file shown.
    """
    with (
        tempfile.TemporaryFile() as errors,
        os.fdopen(os.dup(2), "w") as terminal,
        redirect_stderr(terminal),
    ):
        os.dup2(errors.fileno(), 2)
        try:
            yield
        except BaseException:
            errors.seek(0)
            terminal.write(errors.read().decode(errors="replace"))
            raise
        finally:
            os.dup2(terminal.fileno(), 2)


@contextmanager
def _without_pages() -> Iterator[None]:
    from pyspark.logger import PySparkLogger

    # Made by PySpark's own class: a plain logger of that name would stay, and fail where PySpark uses it.
    logger = PySparkLogger.getLogger(_NOISY_LOGGER)
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before
