"""What a person sees of a run, and that planting leaves no trace."""

import pytest

from penstock.sim.command import main
from penstock.sim.planting import planted
from penstock.sim.raft.bugs import BUGS
from penstock.sim.raft.outcome import Outcome
from penstock.sim.raft.reporting import bug_table_row, run_seed, summary


def outcome(seed: int, rule: str | None = None) -> Outcome:
    return Outcome(
        seed=seed,
        rule=rule,
        what="",
        steps=100,
        messages=50,
        faults=3,
        elections=2,
        committed=10,
        acknowledged=5,
        simulated_ms=4_000,
        digest=0,
    )


def functions_of(name: str) -> list[object]:
    return [vars(swap.owner)[swap.name] for swap in BUGS[name].swaps]


@pytest.mark.parametrize("name", sorted(BUGS))
def test_planted_raft_bug_is_gone_afterwards(name: str) -> None:
    before = functions_of(name)
    with planted(BUGS[name]):
        assert all(one is not other for one, other in zip(before, functions_of(name), strict=True))
    assert functions_of(name) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["ack-before-flush", "leader-counts-unflushed", "half-is-a-majority", "late-report-believed"]
)
def test_planted_raft_bug_is_noticed_within_a_few_seeds(name: str) -> None:
    assert any(not run_seed(seed, bug=name).is_good for seed in range(30))


def test_raft_summary_counts_everything() -> None:
    text = summary([outcome(1), outcome(2, "a rule")], seconds=2.0)
    assert text == (
        "1 of 2 seeds good; 4 elections, 6 faults, 8 simulated seconds, 200 steps in 2.0 CPU-s: "
        "1.0 seeds, 100 steps, 4 simulated seconds per CPU-s"
    )


def test_raft_bug_row_names_the_first_seed_and_the_usual_symptom() -> None:
    outcomes = [outcome(0), outcome(1, "rare"), outcome(2, "usual"), outcome(3, "usual")]
    assert bug_table_row(None, outcomes) == "| none | 3 of 4 | 1 | usual |"


def test_raft_command_prints_its_seeds_first_and_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["raft", "--seeds", "2"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "raft: seeds 0 to 1"
    assert printed[-1].startswith("2 of 2 seeds good")


def test_raft_command_with_a_bug_prints_how_to_replay_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["raft", "--seeds", "5", "--bug", "ack-before-flush"]) == 1
    line = next(each for each in capsys.readouterr().out.splitlines() if "replay:" in each)
    seed = line.split("--seed ")[1].split()[0]
    assert line.strip() == f"replay: python -m penstock.sim raft --seed {seed} --bug ack-before-flush"
    assert main(["raft", "--seed", seed, "--bug", "ack-before-flush"]) == 1
    told = capsys.readouterr().out
    assert told.startswith(f"seed {seed}, with the bug")
    assert f"FAILED seed {seed}" in told


def test_raft_command_tells_the_story_of_one_seed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["raft", "--seed", "1"]) == 0
    assert "good: " in capsys.readouterr().out


@pytest.mark.slow
def test_raft_bugs_command_prints_a_row_for_each_bug(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["raft-bugs", "--seeds", "3", "--only", "ack-before-flush"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in printed[3:]] == ["| none | 0 of 3 | - | - |", "| ack-before-flush"]


@pytest.mark.slow
def test_shortened_seed_fails_the_same_way_with_fewer_faults(capsys: pytest.CaptureFixture[str]) -> None:
    bug = "no-up-to-date-check"
    seed = next(seed for seed in range(100) if not run_seed(seed, bug=bug).is_good)
    rule = run_seed(seed, bug=bug).rule
    assert main(["raft", "--seed", str(seed), "--bug", bug, "--shorten"]) == 1
    line = capsys.readouterr().out.splitlines()[-1]
    command = line.split("python -m penstock.sim ")[1].split()
    assert len(command[-1].split(",")) <= 40
    assert main(command) == 1
    assert f"FAILED seed {seed}: {rule}" in capsys.readouterr().out


def test_good_seed_cannot_be_shortened(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["raft", "--seed", "1", "--shorten"]) == 0
    assert capsys.readouterr().out == "seed 1 is good\n"
