"""The commands of the simulator."""

import pytest

from penstock.sim.cluster import reporting
from penstock.sim.cluster.bugs import BUGS, planted
from penstock.sim.cluster.outcome import Outcome
from penstock.sim.cluster.reporting import Choice, bug_table_row, summary
from penstock.sim.cluster.stories import STORIES, UNSEEN
from penstock.sim.command import main


def outcome(seed: int, rule: str | None = None) -> Outcome:
    return Outcome(
        seed=seed,
        rule=rule,
        what="what",
        simulated_seconds=30.0,
        steps=1,
        operations=5,
        acknowledged=3,
        faults=2,
        digest=1,
    )


@pytest.mark.slow
def test_replay_of_a_shortened_seed_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "--seed", "3", "--faults", "none", "--workloads", "0,1"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("python -m penstock.sim cluster --seed 3 --faults none --workloads 0,1\n")
    assert "FAULT" not in told
    assert told.endswith("good\n")


@pytest.mark.slow
def test_failing_seed_prints_the_command_that_replays_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["cluster", "--seeds", "1", "--first", "1", "--nodes", "1", "--bug", "shown-before-flush"]) == 1
    )
    told = capsys.readouterr().out
    assert "FAILED seed 1: the ends of a log are in order" in told
    assert "replay: python -m penstock.sim cluster --seed 1 --nodes 1 --bug shown-before-flush" in told


def test_choice_makes_the_plan_that_its_command_names() -> None:
    choice = Choice(faults=(1, 2), workloads=(0,))
    assert len(choice.plan(4).faults) == 2
    assert choice.command(4).endswith("--faults 1,2 --workloads 0")


def test_choice_of_a_size_is_part_of_the_command() -> None:
    assert Choice(node_count=1).command(4) == "python -m penstock.sim cluster --seed 4 --nodes 1"


def test_size_that_is_not_simulated_is_refused() -> None:
    with pytest.raises(SystemExit, match="1 to 5"):
        main(["cluster", "--nodes", "6"])


def test_summary_counts_and_tells_how_fast_it_was() -> None:
    line = summary([outcome(1), outcome(2, "rule")], 3.0)
    assert line.startswith("1 of 2 seeds good; 4 faults, 10 operations, 6 acknowledged records")
    assert line.endswith("20 simulated seconds per CPU-second")


def test_row_of_the_table_names_the_first_seed_and_the_commonest_symptom() -> None:
    row = bug_table_row("ack-before-flush", [outcome(1), outcome(2, "a"), outcome(3, "b"), outcome(4, "b")])
    assert row.endswith("| 3 of 4 | 2 | b | power_is_lost_after_a_flush |")
    assert bug_table_row(None, [outcome(1)]) == "| none | 0 of 1 | - | - | - |"


def test_row_of_a_bug_that_no_seed_can_notice_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(UNSEEN, "ack-before-flush", "nobody waits for it")
    monkeypatch.delitem(STORIES, "ack-before-flush")
    row = bug_table_row("ack-before-flush", [outcome(1)])
    assert row.endswith("| 0 of 1 | - | - | - (no seed can: nobody waits for it) |")


@pytest.mark.parametrize(("is_told", "code"), [(True, 0), (False, 1)])
def test_table_is_bad_only_if_a_bug_is_neither_noticed_nor_told(
    is_told: bool, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reporting, "run_seed", lambda seed, choice: outcome(seed))
    if not is_told:
        monkeypatch.delitem(STORIES, "ack-before-flush")
    assert main(["cluster-bugs", "--seeds", "2", "--only", "ack-before-flush"]) == code
    head, *_, row = capsys.readouterr().out.splitlines()
    assert head == "clusters: 2 seeds from 0 for each bug"
    assert row.count("|") == 6


@pytest.mark.parametrize("name", BUGS)
def test_planted_bug_is_there_and_gone_again(name: str) -> None:
    swaps = BUGS[name].swaps
    before = [vars(swap.owner)[swap.name] for swap in swaps]
    with planted(name):
        assert all(vars(swap.owner)[swap.name] is not one for swap, one in zip(swaps, before, strict=True))
    assert [vars(swap.owner)[swap.name] for swap in swaps] == before
