"""Many at a time, told in order."""

import os

import pytest

from penstock.sim.parallel import in_order


def told(number: int) -> tuple[int, int]:
    return number, os.getpid()


def test_one_job_stays_in_this_process() -> None:
    assert list(in_order(told, range(3), jobs=1)) == [(number, os.getpid()) for number in range(3)]


@pytest.mark.slow
def test_several_jobs_run_elsewhere_and_answer_in_order() -> None:
    found = list(in_order(told, range(20), jobs=2))
    assert [number for number, _ in found] == list(range(20))
    assert os.getpid() not in {process for _, process in found}
