"""The jars of Spark's own Kafka connector: from a directory that is named, or, in the long run, from Maven.

The connector is of another release than Spark where its own is not to be had; it works all the same.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.chaos.vitals import IS_LONG_RUN

VARIABLE = "PENSTOCK_SPARK_KAFKA_JARS"
FETCH_SECONDS_MAX = 180
ARTIFACTS = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.1",
    "org.apache.commons:commons-pool2:2.12.1",
)


def connector_jars(directory: Path) -> list[Path]:
    """All jars that the connector needs; skips the test where there is no way to them."""
    named = os.environ.get(VARIABLE)
    if named:
        return _found(Path(named))
    maven = shutil.which("mvn") if IS_LONG_RUN else None
    if maven is None:
        pytest.skip(f"{VARIABLE} names no directory of jars; only the long run fetches them, with mvn")
    for artifact in ARTIFACTS:
        _fetch(maven, artifact, directory)
    return _found(directory)


def _fetch(maven: str, artifact: str, directory: Path) -> None:
    order = [
        *(maven, "--batch-mode", "--quiet", "dependency:copy"),
        *(f"-Dartifact={artifact}", f"-DoutputDirectory={directory}"),
    ]
    try:
        done = subprocess.run(
            order, capture_output=True, text=True, timeout=FETCH_SECONDS_MAX, check=False, cwd=directory
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"Maven has not brought {artifact} within {FETCH_SECONDS_MAX} s")
    if done.returncode:
        pytest.skip(f"Maven has no {artifact}")


def _found(directory: Path) -> list[Path]:
    jars = sorted(directory.glob("*.jar"))
    assert len(jars) >= len(ARTIFACTS), f"{directory} has only {[jar.name for jar in jars]}"
    return jars
