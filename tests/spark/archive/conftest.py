"""One archived week for all tests of archives, and a copy of it for those that change it."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.conftest import UniqueName
from tests.spark.archive.archived_weeks import PARTITIONS, RECORDS, ArchivedWeek, archive_week
from tests.spark.archive.weeks import week

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def made(
    spark: "SparkSession",
    bootstrap: str,
    unique: UniqueName,
    tmp_path_factory: pytest.TempPathFactory,
) -> ArchivedWeek:
    """Not to be changed by tests, nor its topic."""
    path = tmp_path_factory.mktemp("made") / "archive"
    records = week(RECORDS, partitions=PARTITIONS)
    return archive_week(spark, bootstrap, unique("week"), path, records=records)


@pytest.fixture
def copy(made: ArchivedWeek, tmp_path: Path) -> ArchivedWeek:
    """To be changed by one test; but not its topic."""
    shutil.copytree(made.path, tmp_path / "archive")
    return replace(made, path=tmp_path / "archive")
