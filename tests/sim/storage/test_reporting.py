"""What a person sees of a run."""

import pytest

from penstock.sim.command import main
from penstock.sim.storage.outcome import Outcome
from penstock.sim.storage.reporting import bug_table_row, summary


def outcome(seed: int, rule: str | None = None) -> Outcome:
    return Outcome(seed=seed, rule=rule, what="", operations=100, starts=2, faults=3, digest=0)


def test_summary_counts_everything() -> None:
    text = summary([outcome(1), outcome(2, "a rule")], seconds=2.0)
    assert text == "1 of 2 seeds good; 4 starts, 6 faults, 200 operations in 2.0 s, 100 operations/s"


def test_bug_row_names_the_first_seed_and_the_usual_symptom() -> None:
    outcomes = [outcome(0), outcome(1, "rare"), outcome(2, "usual"), outcome(3, "usual")]
    assert bug_table_row(None, outcomes) == "| none | 3 of 4 | 1 | usual |"
    assert bug_table_row(None, outcomes[:1]) == "| none | 0 of 1 | - | - |"


def test_storage_command_prints_its_seeds_first_and_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["storage", "--seeds", "3"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "storage: seeds 0 to 2"
    assert printed[-1].startswith("3 of 3 seeds good")


def test_storage_command_with_a_bug_prints_how_to_replay_it(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--bug", "directories-unsynced"]
    assert main(["storage", "--seeds", "20", *arguments]) == 1
    line = next(each for each in capsys.readouterr().out.splitlines() if "replay:" in each)
    seed = line.split("--seed ")[1].split()[0]
    assert line.strip() == f"replay: python -m penstock.sim storage --seed {seed} --bug directories-unsynced"
    assert main(["storage", "--seed", seed, *arguments]) == 1
    told = capsys.readouterr().out
    assert told.startswith(f"seed {seed}, with the bug")
    assert "life 0" in told
    assert f"FAILED seed {seed}" in told


def test_storage_command_tells_the_story_of_one_seed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["storage", "--seed", "2"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("seed 2\n")
    assert "good: " in told


@pytest.mark.slow
def test_bugs_command_prints_a_row_for_each_bug(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bugs", "--seeds", "10", "--only", "directories-unsynced"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in printed[3:]] == [
        "| none | 0 of 10 | - | - |",
        "| directories-unsynced",
    ]
