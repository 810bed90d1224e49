from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.spark.sessions.fake_java import write_java

from penstock.spark.sessions.archive import ArchiveUse
from penstock.spark.sessions.choices import Choices, Wishes, choose
from penstock.spark.sessions.errors import SparkStartError
from penstock.spark.sessions.setting import Origin, Setting
from penstock.spark.sessions.surroundings import Surroundings
from penstock.spark.sessions.tuning import CHECKPOINT_FILE_MANAGER


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    """A machine with a Java 17 that could have an archive, and none made yet."""
    home = tmp_path / "jdk"
    write_java(home, specification="17", full="17.0.1+2")
    (home / "lib" / "server").mkdir(parents=True)
    (home / "lib" / "server" / "classes.jsa").touch()
    (tmp_path / "spark" / "jars").mkdir(parents=True)
    (tmp_path / "cache").mkdir()
    return Surroundings(
        environment={"JAVA_HOME": str(home), "PATH": ""},
        directory=tmp_path / "cache",
        spark_home=tmp_path / "spark",
        spark_version="4.3.0",
    )


def chosen(
    around: Surroundings, wishes: Wishes, *, given: Mapping[str, str] | None = None, is_running: bool = False
) -> Choices:
    origin = Origin.RUNNING if is_running else Origin.DEFAULTS_FILE
    settings = {name: Setting(name=name, value=value, origin=origin) for name, value in (given or {}).items()}
    return choose(wishes, around, given=settings, is_jvm_running=is_running)


def settings_of(choices: Choices) -> dict[str, str]:
    return {setting.name: setting.value for setting in choices.explanation.settings}


def test_spark_on_this_machine_is_tuned(around: Surroundings, tmp_path: Path) -> None:
    choices = chosen(around, Wishes(conf={}, name="orders", master="local[2]"))

    assert settings_of(choices) == {
        "spark.app.name": "orders",
        "spark.driver.defaultJavaOptions": "-XX:+UseSerialGC",
        "spark.master": "local[2]",
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.streaming.checkpointFileManagerClass": CHECKPOINT_FILE_MANAGER,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    assert choices.variables["JAVA_HOME"] == str(tmp_path / "jdk")
    assert choices.variables["SPARK_LOCAL_IP"] == "127.0.0.1"
    assert Path(choices.variables["PYSPARK_PYTHON"]).parent == around.directory
    assert choices.variables["PYSPARK_DRIVER_PYTHON"] == choices.variables["PYSPARK_PYTHON"]


def test_default_master_tries_tasks_again(around: Surroundings) -> None:
    assert settings_of(chosen(around, Wishes(conf={})))["spark.master"] == "local[*,4]"


def test_wishes_win_over_what_was_given_and_that_over_ours(around: Surroundings) -> None:
    given = {"spark.master": "local[3]", "spark.ui.enabled": "true", "spark.app.name": "given"}
    wishes = Wishes(conf={"spark.sql.shuffle.partitions": "9", "spark.app.name": "conf"}, name="name")

    settings = settings_of(chosen(around, wishes, given=given))

    assert settings["spark.sql.shuffle.partitions"] == "9"
    assert settings["spark.app.name"] == "conf"
    assert "spark.ui.enabled" not in settings
    assert "spark.master" not in settings


def test_spark_elsewhere_is_left_as_it_is(around: Surroundings) -> None:
    choices = chosen(around, Wishes(conf={}, master="spark://host:7077"))

    assert settings_of(choices).keys() == {"spark.app.name", "spark.master", "spark.ui.showConsoleProgress"}
    assert choices.variables.keys() == {"JAVA_HOME"}
    assert choices.archive_to_make is None


@pytest.mark.parametrize(
    ("wishes", "options"),
    [
        (Wishes(conf={}, master="local[2]", is_short=True), "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"),
        (Wishes(conf={}, master="local[8]", is_short=True), "-XX:TieredStopAtLevel=1"),
        (Wishes(conf={}, master="local[8]"), None),
        (
            Wishes(conf={"spark.driver.extraJavaOptions": "-XX:+UseG1GC"}, master="local[2]", is_short=True),
            "-XX:TieredStopAtLevel=1",
        ),
        (Wishes(conf={"spark.driver.defaultJavaOptions": "-Da=b"}, master="local[2]"), "-Da=b"),
    ],
)
def test_java_is_told_what_suits_and_never_of_two_collectors(
    around: Surroundings, wishes: Wishes, options: str | None
) -> None:
    assert settings_of(chosen(around, wishes)).get("spark.driver.defaultJavaOptions") == options


def test_python_and_address_that_were_set_stay(around: Surroundings) -> None:
    set_before = {"PYSPARK_PYTHON": "/own/python", "SPARK_LOCAL_IP": "10.0.0.1"}
    environment = {**around.environment, **set_before}
    own = Surroundings(
        environment=environment,
        directory=around.directory,
        spark_home=around.spark_home,
        spark_version=around.spark_version,
    )

    variables = chosen(own, Wishes(conf={})).variables
    assert variables["PYSPARK_PYTHON"] == variables["PYSPARK_DRIVER_PYTHON"] == "/own/python"
    assert variables["SPARK_LOCAL_IP"] == "10.0.0.1"
    variables = chosen(
        own, Wishes(conf={"spark.pyspark.python": "/conf", "spark.driver.host": "h"})
    ).variables
    assert variables["PYSPARK_PYTHON"] == "/conf"
    assert "SPARK_LOCAL_IP" not in variables


def test_archive_is_made_used_or_left_as_asked(around: Surroundings) -> None:
    first = chosen(around, Wishes(conf={}, master="local[2]"))
    archive = first.archive_to_make
    assert archive is not None
    assert chosen(around, Wishes(conf={}, archive_use=ArchiveUse.EXISTING)).archive_to_make is None

    archive.path.write_bytes(b"x" * 10)
    archive.size_path.write_text("10")
    second = chosen(around, Wishes(conf={}, master="local[2]"))
    assert second.archive_to_make is None
    assert second.archive_in_use == archive
    assert f"-XX:SharedArchiveFile={archive.path}" in settings_of(second)["spark.driver.defaultJavaOptions"]
    off = chosen(around, Wishes(conf={}, master="local[2]", archive_use=ArchiveUse.OFF))
    assert settings_of(off)["spark.driver.defaultJavaOptions"] == "-XX:+UseSerialGC"
    assert off.archive_in_use is None


def test_java_that_runs_is_taken_as_it_is_and_what_comes_too_late_is_told(around: Surroundings) -> None:
    wishes = Wishes(conf={"spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "5"}, is_short=True)

    choices = chosen(around, wishes, given={"spark.driver.memory": "1g"}, is_running=True)

    assert [str(setting) for setting in choices.explanation.unapplied] == ["spark.driver.memory=2g"]
    assert "JAVA_HOME" not in choices.variables
    assert not {"spark.driver.defaultJavaOptions", "spark.driver.memory"} & settings_of(choices).keys()
    assert settings_of(choices)["spark.sql.shuffle.partitions"] == "5"
    same = chosen(around, wishes, given={"spark.driver.memory": "2g"}, is_running=True)
    assert same.explanation.unapplied == ()


def test_java_without_the_vector_module_goes_by_a_script(around: Surroundings, tmp_path: Path) -> None:
    write_java(tmp_path / "jdk", specification="17", has_vector_module=False)

    home = Path(chosen(around, Wishes(conf={})).variables["JAVA_HOME"])

    assert home.parent == around.directory
    assert (home / "bin" / "java").is_file()
    homeless = Surroundings(
        environment=around.environment,
        directory=None,
        spark_home=around.spark_home,
        spark_version=around.spark_version,
    )
    with pytest.raises(SparkStartError, match="PENSTOCK_CACHE_DIR"):
        chosen(homeless, Wishes(conf={}))


def test_explanation_is_a_table_of_what_was_chosen_and_by_whom(around: Surroundings) -> None:
    explanation = chosen(around, Wishes(conf={"spark.a": "b"}, master="local[2]")).explanation
    lines = str(explanation).splitlines()

    assert lines[0].split(maxsplit=1) == ["session", "Spark 4.3.0 on local[2]"]
    assert "Java 17.0.1+2" in lines[1]
    assert ["spark.a", "you", "b"] in [line.split() for line in lines]
    assert ["spark.ui.enabled", "penstock", "false"] in [line.split() for line in lines]
