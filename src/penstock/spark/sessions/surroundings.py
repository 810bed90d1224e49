"""What the choices for a session depend on, beside what was asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from penstock.spark.sessions.cache_directory import cache_directory
from penstock.spark.sessions.errors import SparkNotInstalledError


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """This machine, this user, this Spark."""

    environment: Mapping[str, str]
    directory: Path | None
    """For scripts and archives; None if there is no place for them."""

    spark_home: Path
    spark_version: str


def surroundings(environment: Mapping[str, str]) -> Surroundings:
    """Look around; raises :class:`SparkNotInstalledError` if there is no pyspark."""
    try:
        import pyspark
    except ImportError as error:
        raise SparkNotInstalledError(error) from error
    return Surroundings(
        environment=dict(environment),
        directory=cache_directory(environment),
        spark_home=Path(environment.get("SPARK_HOME") or Path(pyspark.__file__).parent),
        spark_version=pyspark.__version__,
    )
