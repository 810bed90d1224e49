"""``penstock pipeline run``: one process, from reading the file to the last word about it."""

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli.failure import CommandFailed
from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER
from penstock.cli.output import working
from penstock.cli.pipeline.checking import load_checked
from penstock.cli.pipeline.screen import LineScreen, TableScreen, screen_for
from penstock.cli.pipeline.signals import StopSignals, kept_from_children
from penstock.cli.spark_session import require_spark
from penstock.model.errors import UsageError
from penstock.spark.options.librdkafka import librdkafka_settings
from penstock.spark.pipelines.model import Pipeline, Trigger, TriggerKind
from penstock.spark.pipelines.problems import suggestion
from penstock.spark.pipelines.reporting.metrics_server import MetricsFile, serving_metrics
from penstock.spark.pipelines.reporting.progress_topic import ProgressTopic
from penstock.spark.pipelines.reporting.prometheus import MetricsPage
from penstock.spark.pipelines.running.events import Event, Listener
from penstock.spark.pipelines.running.run_files import (
    RunFile,
    RunState,
    only_runner,
    this_run,
    write_run_file,
)
from penstock.spark.pipelines.running.runner import Outcome, Runner
from penstock.spark.pipelines.running.sessions import SessionWishes, start_session
from penstock.spark.pipelines.running.storage import Storage, storage_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BOOTSTRAP = "bootstrap.servers"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWishes:
    """What the command line says of a run."""

    session: SessionWishes
    flows: Sequence[str] = ()
    is_available_now: bool = False
    bootstrap_server: str | None = None
    metrics_address: tuple[str, int] | None = None
    metrics_file: Path | None = None
    has_progress_topic: bool = True
    as_json: bool = False


def run_file(file: Path, wishes: RunWishes) -> None:
    """Run the pipeline of a file; fails when one of its flows has failed."""
    pipeline = with_servers(load_checked(file), wishes.bootstrap_server)
    _check_flows(pipeline, wishes.flows)
    require_spark("A pipeline")
    storage = storage_of(pipeline)
    with only_runner(storage.lock_file, storage.run_file, pipeline.name):
        run = this_run(pipeline.name, str(file.resolve()), started_ms=_now_ms())
        write_run_file(storage.run_file, run)
        try:
            outcome = _run(pipeline, wishes, run)
        except BaseException as error:
            _finish(storage, run, RunState.FAILED, (str(error) or type(error).__name__,))
            raise
        _finish(storage, run, *_state_of(outcome))
    _report(outcome)


def with_servers(pipeline: Pipeline, bootstrap_server: str | None) -> Pipeline:
    """The pipeline with the cluster that the command line names, or that of the file, or the usual one."""
    servers = bootstrap_server or pipeline.kafka.get(_BOOTSTRAP) or DEFAULT_BOOTSTRAP_SERVER
    return replace(pipeline, kafka={**pipeline.kafka, _BOOTSTRAP: servers})


def _check_flows(pipeline: Pipeline, names: Sequence[str]) -> None:
    for name in names:
        if name not in pipeline.flows:
            raise UsageError(f"There is no flow {name!r}. {suggestion(name, pipeline.flows)}".rstrip())


def _run(pipeline: Pipeline, wishes: RunWishes, run: RunFile) -> Outcome:
    from penstock.spark.sessions.running import shutdown

    flows = wishes.flows or tuple(pipeline.flows)
    with ExitStack() as stack:
        page = MetricsPage(pipeline.name)
        listeners: list[Listener] = [page]
        if wishes.metrics_address is not None:
            _serve(stack, page, wishes.metrics_address)
        if wishes.metrics_file is not None:
            file = MetricsFile(page, wishes.metrics_file, warn=_say)
            stack.callback(file.write)
            listeners.append(file)
        if wishes.has_progress_topic:
            listeners.append(_progress_topic(stack, pipeline, run))
        spark = _start_spark(pipeline, wishes)
        stack.callback(shutdown)
        screen: LineScreen | TableScreen = screen_for(flows, as_json=wishes.as_json)
        stack.enter_context(screen)
        listeners.append(screen)
        runner = Runner(
            spark,
            pipeline,
            topic_options=pipeline.topic_options,
            listener=_all(listeners),
            trigger=Trigger(TriggerKind.AVAILABLE_NOW) if wishes.is_available_now else None,
            only=flows,
        )
        with StopSignals() as signals:
            return runner.run(lambda: signals.is_asked)


def _start_spark(pipeline: Pipeline, wishes: RunWishes) -> "SparkSession":
    began = time.monotonic()
    with working("Spark starts"), kept_from_children():
        spark = start_session(pipeline, wishes.session)
    where = wishes.session.remote or spark.sparkContext.master
    seconds = time.monotonic() - began
    _say(f"pipeline {pipeline.name}: Spark {spark.version} at {where}, ready after {seconds:.1f} s")
    return spark


def _serve(stack: ExitStack, page: MetricsPage, address: tuple[str, int]) -> None:
    host, port = address
    chosen = stack.enter_context(serving_metrics(page, host=host, port=port))
    _say(f"metrics at http://{host}:{chosen}/metrics")


def _progress_topic(stack: ExitStack, pipeline: Pipeline, run: RunFile) -> ProgressTopic:
    about = {"host": run.host, "pid": run.pid, "file": run.file, "started_ms": run.started_ms}
    topic = ProgressTopic(
        pipeline.kafka[_BOOTSTRAP],
        pipeline.name,
        about=about,
        warn=_say,
        kafka=librdkafka_settings(pipeline.topic_options),
    )
    stack.callback(topic.close)
    return topic


def _all(listeners: Sequence[Listener]) -> Callable[[Event], None]:
    def tell(event: Event) -> None:
        for listener in listeners:
            listener(event)

    return tell


def _state_of(outcome: Outcome) -> tuple[RunState, tuple[str, ...]]:
    if outcome.failures:
        return RunState.FAILED, tuple(map(str, outcome.failures))
    return (RunState.STOPPED if outcome.was_stopped else RunState.FINISHED), ()


def _finish(storage: Storage, run: RunFile, state: RunState, failures: tuple[str, ...]) -> None:
    write_run_file(storage.run_file, replace(run, state=state, ended_ms=_now_ms(), failures=failures))


def _report(outcome: Outcome) -> None:
    """Every failure with its hint; the last one ends the command."""
    for failure in outcome.failures[:-1]:
        _say(f"Error: {failure}")
        if failure.hint:
            _say(f"Hint: {failure.hint}")
    if outcome.failures:
        last = outcome.failures[-1]
        raise CommandFailed(str(last), hint=last.hint)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
