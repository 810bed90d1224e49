"""The session that a pipeline runs in: ours with its tuned settings, or one that the command line names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.spark.pipelines.model import Pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SETTINGS = {
    "spark.sql.streaming.numRecentProgressUpdates": "30",
    "spark.sql.streaming.stopTimeout": "60s",
}
"""Reports are read several times a second; a query that does not stop is an error, not a riddle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionWishes:
    """What the command line says of the session."""

    master: str | None = None
    remote: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    packages: Sequence[str] = ()
    is_short: bool = False


def start_session(pipeline: Pipeline, wishes: SessionWishes) -> "SparkSession":
    """A session with the settings of ours, of the file and of the command line, the last one strongest."""
    from penstock.spark.sessions.session import session

    conf = {**_SETTINGS, **pipeline.configuration, **wishes.conf}
    if wishes.packages:
        conf["spark.jars.packages"] = ",".join(wishes.packages)
    spark = session(
        f"penstock pipeline {pipeline.name}",
        wishes.master,
        remote=wishes.remote,
        short=wishes.is_short,
        conf=conf,
    )
    if pipeline.catalog:
        spark.catalog.setCurrentCatalog(pipeline.catalog)
    if pipeline.database:
        spark.catalog.setCurrentDatabase(pipeline.database)
    if not wishes.remote:
        spark.sparkContext.setLogLevel("ERROR")
    return spark
