"""``penstock pipeline run`` as a process of its own: Ctrl-C, and on from there; what others see of it."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.cli.terminal import Terminal
from tests.conftest import UniqueName
from tests.spark.pipelines.running.pipeline_runs import Topics

pytestmark = [pytest.mark.spark, pytest.mark.timeout(240)]

QUICK = (
    "--conf",
    "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1",
    "--conf",
    "spark.driver.memory=512m",
)
"""Java compiles quickly rather than well."""

FILE = """
name: NAME
storage: state
configuration: {spark.sql.session.timeZone: UTC}
sources:
  orders:
    options: {subscribe: T.in, startingOffsets: earliest}
    value: {schema: "id int, ts timestamp", deadLetterTopic: T.dlq}
flows:
  minutes:
    from: orders
    steps:
      - window: {time: ts, size: 1 minute, aggregate: {n: count(*), ids: sum(id)}}
    sink: {options: {topic: T.out}}
"""


@contextmanager
def running(terminal: Terminal, file: Path, *more: str) -> Iterator["subprocess.Popen[str]"]:
    """A run with a process group of its own, as a terminal gives it one; its errors go to a file."""
    words = ["pipeline", "run", str(file), "--json", "--master", "local[2,4]", *QUICK, *more]
    with (file.parent / "run.err").open("w") as errors:
        process = subprocess.Popen(
            [str(Path(sys.executable).with_name("penstock")), *words],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=terminal.environment,
            process_group=0,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def next_event(process: "subprocess.Popen[str]", name: str, **wanted: Any) -> dict[str, Any]:
    """Read on until an event of that name has these values."""
    assert process.stdout is not None
    for line in process.stdout:
        event: dict[str, Any] = json.loads(line)
        if event["event"] == name and wanted.items() <= event.items():
            return event
    raise AssertionError(f"the run ended without {name} {wanted}")


def order(number: int, minute: int) -> dict[str, object]:
    return {"id": number, "ts": f"2026-01-01T00:{minute:02}:30Z"}


def test_run_stops_at_ctrl_c_and_goes_on_exactly_where_it_was(
    terminal: Terminal, bootstrap: str, unique: UniqueName, tmp_path: Path
) -> None:
    topics, name = Topics(bootstrap), unique("pipeline")
    topics.create(*(f"{name}.{end}" for end in ("in", "dlq", "out")))
    file = tmp_path / "p.yml"
    file.write_text(FILE.replace("NAME", name).replace("T.", f"{name}."))
    topics.put(f"{name}.in", [*(order(number, number % 3) for number in range(9)), "no order"])

    with running(terminal, file, "--metrics-port", "0") as process:
        next_event(process, "progress", rows=10)
        next_event(process, "side_records", count=1)
        address = next(
            line for line in (tmp_path / "run.err").read_text().splitlines() if "metrics at" in line
        )
        with urllib.request.urlopen(address.removeprefix("metrics at "), timeout=30) as answer:
            assert (
                f'penstock_pipeline_rows_total{{pipeline="{name}",flow="minutes"}} 10'
                in answer.read().decode()
            )
        status = terminal.must("pipeline", "status", str(file), "--json").json()
        assert (status["state"], status["pid"]) == ("running", process.pid)
        refused = terminal.run("pipeline", "run", str(file))
        assert f"is already run by process {process.pid}" in refused.errors

        os.killpg(process.pid, signal.SIGINT)  # As Ctrl-C in a terminal, which reaches Spark's processes too.
        assert next_event(process, "ended", flow="minutes")
        assert process.wait(60) == 0, (tmp_path / "run.err").read_text()

    assert "KeyboardInterrupt" not in (tmp_path / "run.err").read_text()
    assert terminal.must("pipeline", "status", str(file), "--json").json()["state"] == "stopped"
    listed = {row["pipeline"]: row for row in terminal.must("pipeline", "list", "--json").json()}
    assert listed[name]["state"] == "ended"

    topics.put(f"{name}.in", [order(100, 1), order(9, 2), order(10, 5)])
    with running(terminal, file, "--available-now") as process:
        next_event(process, "progress", rows=3)
        next_event(process, "ended", flow="minutes")
        assert process.wait(60) == 0, (tmp_path / "run.err").read_text()

    windows = {row["window_start"][14:16]: (row["n"], row["ids"]) for row in rows(topics, f"{name}.out")}
    assert windows == {"00": (3, 9), "01": (3, 12), "02": (4, 24)}
    assert len(rows(topics, f"{name}.out")) == 3
    assert len(topics.read(f"{name}.dlq")) == 1


def rows(topics: Topics, topic: str) -> list[dict[str, Any]]:
    return [record.json() for record in topics.read(topic)]
