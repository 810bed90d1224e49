import os
from pathlib import Path

import pytest

from penstock.spark.sessions.master import DEFAULT_MASTER, available_core_count, local_core_count


@pytest.mark.parametrize(
    ("master", "count"),
    [("local", 1), ("local[3]", 3), ("local[ 2 , 4 ]", 2), ("yarn", None), ("spark://host:7077", None)],
)
def test_cores_of_a_master_are_counted(master: str, count: int | None) -> None:
    assert local_core_count(master) == count


def test_star_means_what_is_there() -> None:
    assert local_core_count(DEFAULT_MASTER) == available_core_count()


@pytest.mark.parametrize(
    ("text", "granted"), [("150000 100000", 2), ("50000 100000", 1), ("max 100000", None)]
)
def test_container_that_is_granted_less_counts_less(tmp_path: Path, text: str, granted: int | None) -> None:
    here = len(os.sched_getaffinity(0))
    (tmp_path / "cpu.max").write_text(f"{text}\n")

    assert available_core_count(tmp_path / "cpu.max") == min(here, granted or here)
    assert available_core_count(tmp_path / "none") == here
