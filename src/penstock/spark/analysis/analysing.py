"""``analyse``: everything that is told of topics, counted by Spark in one read."""

from penstock.spark.analysis.assembling import reports
from penstock.spark.analysis.counting import count, kept
from penstock.spark.analysis.parquet_tables import check_free, check_replaceable, write_tables
from penstock.spark.analysis.sources import AnalysisSource
from penstock.spark.analysis.tables import keys_table
from penstock.spark.analysis.topic_report import TopicReport

TOP_MAX = 10


def analyse(
    source: AnalysisSource, *, top_max: int = TOP_MAX, parquet: str | None = None
) -> list[TopicReport]:
    """A report of each topic; ``parquet`` names a directory that gets the aggregates as tables, all keys too.

    Nothing may be in that directory. Everything is exact but the guesses of what values are.
    """
    if parquet is not None:
        check_free(source.facts.sparkSession, parquet)
    return _analysed(source, top_max=top_max, parquet=parquet)


def analyse_anew(
    source: AnalysisSource, *, top_max: int = TOP_MAX, parquet: str | None = None
) -> list[TopicReport]:
    """The same, in place of the tables that an analysis has written there before, or begun to write."""
    if parquet is not None:
        check_replaceable(source.facts.sparkSession, parquet)
    return _analysed(source, top_max=top_max, parquet=parquet)


def _analysed(source: AnalysisSource, *, top_max: int, parquet: str | None) -> list[TopicReport]:
    with kept(source.facts) as facts, kept(keys_table(facts)) as keys:
        counted = count(facts, keys, top_max=top_max)
        if parquet is not None:
            write_tables(facts, keys, counted, parquet)
    return reports(source, counted)
