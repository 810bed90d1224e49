"""The stories in ``tests/scenarios/transactions``.

With PENSTOCK_REWRITE_SCENARIOS set, the files are written anew with what happens today; read the difference.
"""

import os
from pathlib import Path

import pytest
from tests.transactions.scenario_interpreter import play, scenario_files


@pytest.mark.parametrize("path", scenario_files(), ids=lambda path: path.stem)
def test_story_goes_as_it_is_told(path: Path) -> None:
    told = path.read_text()
    played = play(told)
    if os.environ.get("PENSTOCK_REWRITE_SCENARIOS"):
        path.write_text(played)
    else:
        assert played == told


def test_there_are_stories() -> None:
    assert len(scenario_files()) >= 10


def test_wrong_expectation_is_seen() -> None:
    assert (
        play("> P1 inits\n  answer you are 9/9\n") == "> P1 inits\n  log    Empty 0/0\n  answer you are 0/0\n"
    )
