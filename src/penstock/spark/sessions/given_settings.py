"""Settings that were made before anybody called us; ours give way to them.

They are in ``spark-defaults.conf``, and in ``PYSPARK_SUBMIT_ARGS``, which notebook servers like to set.
"""

import itertools
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from penstock.spark.sessions.setting import Origin, Setting

_OPTIONS = {
    "--master": "spark.master",
    "--name": "spark.app.name",
    "--driver-memory": "spark.driver.memory",
    "--driver-java-options": "spark.driver.extraJavaOptions",
}
"""The options of spark-submit that are settings in another form, as far as we have opinions on them."""

_LINE = re.compile(r"\s*(?P<name>[^\s#!=:][^\s=:]*)\s*[\s=:]\s*(?P<value>.*?)\s*")
"""A line of a Java properties file, without its escapes and continued lines."""


def given_settings(environment: Mapping[str, str], spark_home: Path) -> dict[str, Setting]:
    """By name; the later of two wins, as with Spark."""
    found = [*_of_file(environment, spark_home), *_of_arguments(environment.get("PYSPARK_SUBMIT_ARGS", ""))]
    return {setting.name: setting for setting in found}


def _of_file(environment: Mapping[str, str], spark_home: Path) -> Iterator[Setting]:
    path = Path(environment.get("SPARK_CONF_DIR") or spark_home / "conf") / "spark-defaults.conf"
    if not path.is_file():
        return
    for line in path.read_text(errors="replace").splitlines():
        if match := _LINE.fullmatch(line):
            yield Setting(name=match["name"], value=match["value"], origin=Origin.DEFAULTS_FILE)


def _of_arguments(text: str) -> Iterator[Setting]:
    words = shlex.split(text)
    for option, value in itertools.pairwise(words):
        if option in ("--conf", "-c"):
            name, _, value = value.partition("=")
        elif option in _OPTIONS:
            name = _OPTIONS[option]
        else:
            continue
        yield Setting(name=name, value=value, origin=Origin.SUBMIT_ARGUMENTS)
