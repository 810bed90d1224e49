from pathlib import Path

from penstock.spark.sessions.given_settings import given_settings
from penstock.spark.sessions.setting import Origin, as_texts

FILE = """\
# spark.ui.enabled  true
spark.master            spark://host:7077
spark.sql.shuffle.partitions=7
  spark.driver.extraJavaOptions   -Da=b -Dc="d e"

spark.lonely
"""


def test_settings_of_spark_defaults_are_read(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text(FILE)

    found = given_settings({}, tmp_path)

    assert {name: setting.value for name, setting in found.items()} == {
        "spark.master": "spark://host:7077",
        "spark.sql.shuffle.partitions": "7",
        "spark.driver.extraJavaOptions": '-Da=b -Dc="d e"',
    }
    assert {setting.origin for setting in found.values()} == {Origin.DEFAULTS_FILE}


def test_arguments_of_submission_win_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.master yarn\nspark.app.name file\n")
    arguments = "--master 'local[3]' --conf spark.a=b=c --driver-memory 2g pyspark-shell"

    found = given_settings(
        {"SPARK_CONF_DIR": str(tmp_path), "PYSPARK_SUBMIT_ARGS": arguments}, tmp_path / "nowhere"
    )

    assert {name: setting.value for name, setting in found.items()} == {
        "spark.master": "local[3]",
        "spark.app.name": "file",
        "spark.a": "b=c",
        "spark.driver.memory": "2g",
    }
    assert found["spark.master"].origin is Origin.SUBMIT_ARGUMENTS


def test_values_of_python_become_those_of_spark() -> None:
    assert as_texts({"a": True, "b": 2, "c": "True"}) == {"a": "true", "b": "2", "c": "True"}
