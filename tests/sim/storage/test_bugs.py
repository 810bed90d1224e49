"""Planting leaves no trace, and what is planted is noticed."""

import pytest

from penstock.sim.storage.bugs import BUGS, planted
from penstock.sim.storage.reporting import run_seed

SEEDS_MAX = 40


def functions_of(name: str) -> list[object]:
    return [vars(swap.owner)[swap.name] for swap in BUGS[name].swaps]


@pytest.mark.parametrize("name", sorted(BUGS))
def test_planted_bug_is_gone_afterwards(name: str) -> None:
    before = functions_of(name)
    with planted(name):
        assert all(one is not other for one, other in zip(before, functions_of(name), strict=True))
    assert functions_of(name) == before


def test_planted_bug_is_gone_after_an_error() -> None:
    before = functions_of("no-seal")
    with pytest.raises(KeyError), planted("no-seal"):
        raise KeyError
    assert functions_of("no-seal") == before


def test_planting_nothing_changes_nothing() -> None:
    with planted(None):
        assert run_seed(0).is_good


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "ack-before-flush",
        "no-crc-at-recovery",
        "directories-unsynced",
        "cleaned-unflushed",
        "tombstones-go-at-once",
        "first-record-wins",
    ],
)
def test_planted_bug_is_noticed_within_a_few_seeds(name: str) -> None:
    workload = BUGS[name].workload
    assert any(not run_seed(seed, bug=name, workload=workload).is_good for seed in range(SEEDS_MAX))
