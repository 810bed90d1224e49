"""The store of other file systems, on the only one of Hadoop's that is everywhere: its own of local files."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.model.errors import UsageError
from penstock.spark.archive.stores.hadoop_store import HadoopStore
from penstock.spark.archive.stores.local_store import LocalStore
from penstock.spark.archive.stores.opening import open_store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(params=[True, False], ids=["renaming", "creating"])
def store(spark: "SparkSession", tmp_path: Path, request: pytest.FixtureRequest) -> HadoopStore:
    configuration = spark._jsc.hadoopConfiguration()
    root = f"file://{tmp_path}/an archive"
    return HadoopStore(spark._jvm, configuration, root, renames_atomically=request.param)


def test_created_file_has_its_bytes_and_its_name_is_taken(store: HadoopStore) -> None:
    assert store.create("_manifest/1.json", bytes(range(256)))
    assert not store.create("_manifest/1.json", b"two")

    assert store.read("_manifest/1.json") == bytes(range(256))
    assert store.names("_manifest") == ["1.json"]


def test_what_is_not_there(store: HadoopStore) -> None:
    assert store.names("nowhere") == store.directories("nowhere") == []
    assert list(store.files("nowhere")) == []
    store.delete("nowhere/1")
    with pytest.raises(FileNotFoundError, match="nowhere/1"):
        store.read("nowhere/1")


def test_moved_files_are_listed_and_deleted(store: HadoopStore, tmp_path: Path) -> None:
    store.create("_staging/x/part-0", b"zero")
    store.create("_staging/x/part-1", b"12345")

    store.move([("_staging/x/part-0", "topic=t/date=d/a"), ("_staging/x/part-1", "topic=t/date=e/b")])

    found = list(store.files(""))
    assert [(file.path, file.size_bytes) for file in found] == [
        ("topic=t/date=d/a", 4),
        ("topic=t/date=e/b", 5),
    ]
    modified_ms = (tmp_path / "an archive/topic=t/date=e/b").stat().st_mtime_ns // 1_000_000
    assert found[1].modified_ms == modified_ms
    store.delete("topic=t/date=d")
    assert store.directories("topic=t") == ["date=e"]


def test_paths_are_recognised_in_what_spark_calls_a_file(store: HadoopStore, tmp_path: Path) -> None:
    assert store.path_of(f"file://{tmp_path}/an%20archive/a/b") == "a/b"


def test_stores_are_chosen_by_their_paths(tmp_path: Path) -> None:
    assert isinstance(open_store(str(tmp_path)), LocalStore)
    assert isinstance(open_store(f"file://{tmp_path}"), LocalStore)
    with pytest.raises(UsageError, match="only Spark can reach it"):
        open_store("s3a://bucket/archive")
    with pytest.raises(UsageError, match="takes for a pattern"):
        open_store(f"{tmp_path}/[a]")
