"""``penstock pipeline list|status``: what run files and the topic of progress say."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from penstock.cli.durations import format_duration
from penstock.cli.instants import format_instant
from penstock.cli.librdkafka import require_reachable
from penstock.cli.output import print_json, print_table
from penstock.cli.pipeline.checking import load_checked
from penstock.cli.pipeline.running import with_servers
from penstock.cli.pipeline.screen import shown_state, shown_watermark
from penstock.model.flow_states import heard_state
from penstock.spark.options.librdkafka import librdkafka_settings
from penstock.spark.pipelines.model import Pipeline
from penstock.spark.pipelines.reporting.progress import FlowProgress
from penstock.spark.pipelines.running.run_files import RunFile, RunState, read_run_file
from penstock.spark.pipelines.running.storage import storage_of

States = Mapping[str, dict[str, Any]]


def list_all(files: Sequence[Path], bootstrap_server: str, *, as_json: bool) -> None:
    """Every pipeline that the cluster knows of, and those of the files."""
    pipelines = [load_checked(file) for file in files]
    now_ms = time.time_ns() // 1_000_000
    found = _by_pipeline(_states(bootstrap_server), now_ms)
    for pipeline in pipelines:
        run = read_run_file(storage_of(pipeline).run_file)
        found[pipeline.name] = {**found.get(pipeline.name, {}), **_of_run(pipeline, run)}
    rows = [found[name] for name in sorted(found)]
    if as_json:
        print_json(rows)
    elif rows:
        print_table(
            ("PIPELINE", "STATE", "FLOWS", "LAG", "HOST", "PROCESS", "STARTED"),
            [
                (
                    row["pipeline"],
                    row["state"],
                    row["flows"],
                    "-" if row.get("lag") is None else f"{row['lag']:,}",
                    row.get("host") or "-",
                    row.get("pid") or "-",
                    format_instant(row.get("started_ms")),
                )
                for row in rows
            ],
            numbers=(2, 3, 5),
        )


def show_status(file: Path, bootstrap_server: str | None, *, as_json: bool) -> None:
    """Whether a pipeline runs, and the last that was heard of each flow."""
    pipeline = with_servers(load_checked(file), bootstrap_server)
    run = read_run_file(storage_of(pipeline).run_file)
    states = _states(pipeline.kafka["bootstrap.servers"], librdkafka_settings(pipeline.topic_options))
    now_ms = time.time_ns() // 1_000_000
    flows = {name: states.get(f"{pipeline.name}/{name}") for name in pipeline.flows}
    if as_json:
        print_json({**_of_run(pipeline, run), "failures": _failures(run), "flows": flows})
        return
    print(_headline(pipeline, run, now_ms))
    for failure in _failures(run):
        print(f"  {failure}")
    print_table(
        ("FLOW", "STATE", "BATCH", "ROWS/S", "LAG", "WATERMARK", "KEPT", "ASIDE", "HEARD OF"),
        [_flow_row(name, state, run, now_ms) for name, state in flows.items()],
        numbers=(2, 3, 4, 7),
    )


def _states(bootstrap_server: str, kafka: Mapping[str, str] | None = None) -> States:
    from penstock.spark.pipelines.reporting.progress_topic import read_states

    require_reachable(bootstrap_server)
    return read_states(bootstrap_server, kafka)


def _by_pipeline(states: States, now_ms: int) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for state in states.values():
        row = found.setdefault(state["pipeline"], {"pipeline": state["pipeline"], "flows": 0, "lag": None})
        row["flows"] += 1
        lag = (state.get("progress") or {}).get("lag")
        if lag is not None:
            row["lag"] = (row["lag"] or 0) + lag
        row["state"] = _worse(row.get("state"), heard_state(state, now_ms=now_ms))
        row |= {name: state.get(name) for name in ("host", "pid", "started_ms", "file")}
    return found


def _worse(one: str | None, other: str) -> str:
    order = ("failed", "silent", "running", "ended")
    return min((each for each in (one, other) if each is not None), key=order.index)


def _of_run(pipeline: Pipeline, run: RunFile | None) -> dict[str, Any]:
    row: dict[str, Any] = {"pipeline": pipeline.name, "flows": len(pipeline.flows)}
    if run is None:
        return {**row, "state": "never ran"}
    return {
        **row,
        "state": run.state.value,
        "host": run.host,
        "pid": run.pid,
        "started_ms": run.started_ms,
        "file": run.file,
    }


def _failures(run: RunFile | None) -> Sequence[str]:
    return () if run is None else run.failures


def _headline(pipeline: Pipeline, run: RunFile | None, now_ms: int) -> str:
    if run is None:
        return f"{pipeline.name}: never ran"
    if run.state is RunState.RUNNING:
        since = format_duration(now_ms - run.started_ms)
        return f"{pipeline.name}: running for {since}, process {run.pid} on {run.host}"
    began = f"started {format_instant(run.started_ms)} as process {run.pid} on {run.host}"
    return f"{pipeline.name}: {run.state}, {began}"


def _flow_row(name: str, state: dict[str, Any] | None, run: RunFile | None, now_ms: int) -> Sequence[str]:
    if state is None:
        return (name, "never ran", *("-" for _ in range(7)))
    report = state.get("progress")
    progress = None if report is None else FlowProgress(**report)
    return (
        name,
        _flow_state(state, run, now_ms),
        "-" if progress is None else str(progress.batch),
        "-" if progress is None else f"{progress.rows_per_second:,.0f}",
        "-" if progress is None or progress.lag is None else f"{progress.lag:,}",
        "-" if progress is None else shown_watermark(progress),
        "-" if progress is None else shown_state(progress),
        f"{sum(state.get('side_records', {}).values()):,}",
        f"{format_duration(now_ms - state['at_ms'])} ago",
    )


def _flow_state(state: Mapping[str, Any], run: RunFile | None, now_ms: int) -> str:
    """A flow cannot run in a process that is gone, whatever it said last."""
    heard = heard_state(state, now_ms=now_ms)
    if run is None or run.state is RunState.RUNNING or heard not in ("running", "silent"):
        return heard
    return run.state.value
