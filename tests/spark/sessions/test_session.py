import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import penstock.spark
from penstock.spark import explain, session
from penstock.spark.sessions.errors import ConnectNotInstalledError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LIFE_SECONDS_MAX = 400


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.timeout(LIFE_SECONDS_MAX)
def test_session_begins_is_found_and_ends_without_leaving_anything_behind(
    spark: "SparkSession", tmp_path: Path
) -> None:
    """In a process of its own; an archive is made, if none was yet, and kept for all later runs."""
    program = Path(__file__).with_name("life_of_a_session.py")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=LIFE_SECONDS_MAX - 10,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told: dict[str, Any] = json.loads(done.stdout)

    assert told["mapped"], "Java did not take the archive"
    assert told["archive"] in told["explained"]
    assert told["changed"] == []
    assert Path(told["worker"][0]) == Path(sys.executable)
    assert "zip" not in told["worker"][1]
    assert told["is_same"]
    assert told["unapplied_active"] == ["spark.driver.memory=2g"]
    assert told["unapplied_stopped"] == ["spark.driver.memory=2g"]
    assert told["again"] == ["again", "5"]
    assert told["begun"] > 0
    assert told["left"] == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spark
def test_session_that_runs_is_returned_and_what_cannot_be_had_is_told(
    spark: "SparkSession", caplog: pytest.LogCaptureFixture
) -> None:
    partitions = spark.conf.get("spark.sql.shuffle.partitions")

    with caplog.at_level(logging.INFO, logger="penstock.spark"):
        assert session() is spark
        assert (
            session("another", conf={"spark.sql.shuffle.partitions": 11, "spark.ui.enabled": False}) is spark
        )

    assert spark.conf.get("spark.sql.shuffle.partitions") == partitions
    assert [str(each) for each in explain().unapplied] == [
        "spark.app.name=another",
        "spark.sql.shuffle.partitions=11",
    ]
    quiet, loud = caplog.records
    assert (quiet.levelno, loud.levelno) == (logging.INFO, logging.WARNING)
    assert "spark.sql.shuffle.partitions=11" in loud.message


@pytest.mark.spark
def test_shared_session_is_tuned(spark: "SparkSession") -> None:
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
    assert "FileSystemBased" in str(spark.conf.get("spark.sql.streaming.checkpointFileManagerClass"))
    assert spark.sparkContext.uiWebUrl is None
    assert spark.sparkContext.master == "local[2,4]"


def run_python(program: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.stdout + done.stderr


@pytest.mark.slow
def test_there_is_nothing_to_explain_before_a_session() -> None:
    said = run_python("from penstock.spark import explain\nexplain()")
    assert "UsageError: There is nothing to explain yet" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "environment", "said"),
    [
        ("archive='maybe'", {}, "archive is 'maybe', but must be one of auto, existing, off"),
        ("", {"PENSTOCK_SPARK_ARCHIVE": "no"}, "PENSTOCK_SPARK_ARCHIVE is 'no', but must be one of"),
        ("remote='host:15002'", {}, "remote='host:15002' is no address of Spark Connect"),
    ],
)
def test_wishes_that_make_no_sense_are_refused(call: str, environment: dict[str, str], said: str) -> None:
    output = run_python(f"from penstock.spark import session\nsession({call})", **environment)

    assert "UsageError" in output
    assert said in output


@pytest.mark.slow
def test_spark_elsewhere_needs_no_java_but_the_packages_of_connect() -> None:
    program = (
        "import sys\n"
        "sys.modules['grpc'] = None\n"
        "from penstock.spark import session\n"
        "session(remote='sc://127.0.0.1:1')\n"
    )
    output = run_python(program, PATH="", JAVA_HOME="")

    assert ConnectNotInstalledError.__name__ in output
    assert "pip install 'pyspark[connect]'" in output


@pytest.mark.slow
def test_missing_pyspark_is_told_with_its_remedy() -> None:
    program = "import sys\nsys.modules['pyspark'] = None\nfrom penstock.spark import session\nsession()\n"

    output = run_python(program)

    assert "SparkNotInstalledError" in output
    assert "pip install 'penstock[spark]'" in output


def test_public_names_are_there_and_others_are_not() -> None:
    for name in penstock.spark.__all__:
        assert getattr(penstock.spark, name).__name__ == name
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(penstock.spark, "no_such_name")  # noqa: B009


def test_importing_the_package_imports_no_pyspark() -> None:
    program = "import sys, penstock, penstock.spark\nprint('pyspark' in sys.modules)"

    assert run_python(program).strip() == "False"
