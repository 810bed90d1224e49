"""``penstock storage analyze --spark``: where the records come from, and where the report goes."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli.failure import CommandFailed
from penstock.cli.output import print_json
from penstock.cli.spark_session import spark_session, tasks_shown, told_in_a_sentence
from penstock.cli.storage.analysing import require_topics
from penstock.cli.wire_session import connected
from penstock.model.errors import UsageError
from penstock.wire_client.topics import find_leaders

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.spark.analysis.sources import AnalysisSource
    from penstock.spark.analysis.topic_report import TopicReport


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkAnalysis:
    """What was asked for."""

    topics: Sequence[str]
    data_directory: Path | None
    archive: str | None
    bootstrap_server: str
    internal: bool
    top: int
    html: Path | None
    parquet: str | None
    master: str | None
    as_json: bool

    def __post_init__(self) -> None:
        if self.data_directory is not None and self.archive is not None:
            raise UsageError("--data-dir and --archive exclude each other: name one of them.")


def analyse_on_spark(wanted: SparkAnalysis) -> None:
    """Count, print, and write what files were asked for."""
    if wanted.archive is None and wanted.data_directory is None:
        _require_topics(wanted)
    with spark_session("penstock storage analyze", master=wanted.master, is_quiet=True) as spark:
        from penstock.spark.analysis import analyse

        with told_in_a_sentence(), tasks_shown(spark, "Counting records"):
            source = _source(spark, wanted)
            reports = analyse(source, top_max=wanted.top, parquet=wanted.parquet)
    if wanted.html is not None:
        _write_page(wanted.html, reports, source.description, wanted.top)
    _print(reports, wanted)


def _require_topics(wanted: SparkAnalysis) -> None:
    """Before Spark is started: a cluster that does not answer is told of at once."""
    with connected(wanted.bootstrap_server) as cluster:
        require_topics(wanted.topics, {each.topic for each in find_leaders(cluster, None)}, "in the cluster")


def _source(spark: "SparkSession", wanted: SparkAnalysis) -> "AnalysisSource":
    from penstock.spark.analysis import from_archive, from_brokers, from_directory

    if wanted.archive is not None:
        return from_archive(spark, wanted.archive, wanted.topics)
    if wanted.data_directory is not None:
        directory = str(wanted.data_directory.absolute())
        return from_directory(spark, directory, wanted.topics, internal=wanted.internal)
    options = {"kafka.bootstrap.servers": wanted.bootstrap_server}
    return from_brokers(spark, wanted.topics, options=options, internal=wanted.internal)


def _write_page(path: Path, reports: "Sequence[TopicReport]", description: str, top_max: int) -> None:
    from penstock.spark.analysis import html_page

    page = html_page(reports, description=description, written_ms=round(time.time() * 1000), top_max=top_max)
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise CommandFailed(f"The report cannot be written: {error}.") from error


def _print(reports: "Sequence[TopicReport]", wanted: SparkAnalysis) -> None:
    from penstock.cli.storage.analysis_report import print_overview
    from penstock.cli.storage.spark_report import print_report

    if wanted.as_json:
        print_json([report.as_json(top_max=wanted.top) for report in reports])
    elif wanted.topics:
        for report in reports:
            print_report(report, top_max=wanted.top)
    elif reports:
        print_overview([report.analysis for report in reports])
