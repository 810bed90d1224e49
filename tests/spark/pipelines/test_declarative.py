"""The project that ``init --sdp`` writes, run by Spark's Declarative Pipelines itself."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import UniqueName
from tests.spark.pipelines.running.pipeline_runs import Topics

from penstock.spark.pipelines.templates import declarative_project

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]


def test_topics_are_tables_and_sinks_of_declarative_pipelines(
    bootstrap: str, unique: UniqueName, tmp_path: Path
) -> None:
    for package in ("pandas", "grpc_status"):
        pytest.importorskip(package, reason="Declarative Pipelines need pip install 'pyspark[pipelines]'")
    topics, name = Topics(bootstrap), unique("declarative")
    topics.create(name, f"{name}.large")
    for path, text in declarative_project("shop", (tmp_path / "state").as_uri()).items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        placed = text.replace("127.0.0.1:9092", bootstrap).replace('"orders.large"', f'"{name}.large"')
        (tmp_path / path).write_text(placed.replace('"subscribe", "orders"', f'"subscribe", "{name}"'))
    topics.put(
        name, [{"order_id": 1, "product": "a", "amount": 5}, {"order_id": 2, "product": "b", "amount": 5000}]
    )

    command = [str(Path(sys.executable).with_name("spark-pipelines")), "run", "--remote", "local[2]"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert [(record.key, record.json()["order_id"]) for record in topics.read(f"{name}.large")] == [("b", 2)]
