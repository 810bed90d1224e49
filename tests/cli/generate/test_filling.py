"""Templates are filled in, and nothing is left open or guessed."""

from importlib.resources import files
from pathlib import Path

import pytest

from penstock.cli.generate.filling import filled, template
from penstock.cli.generate.plan import FIXED


def test_words_that_are_the_same_everywhere_need_not_be_given() -> None:
    assert f"version: {FIXED['version']}\n" in filled("helm/Chart.yaml")


def test_word_without_a_value_is_named() -> None:
    with pytest.raises(KeyError, match="targets"):
        filled("prometheus/targets.yml")


def test_line_of_one_word_takes_many_lines_and_goes_when_there_are_none() -> None:
    several = filled("prometheus/targets.yml", {"targets": "    - a:1\n    - b:2"})
    none = filled("prometheus/targets.yml", {"targets": ""})

    assert several.endswith("- targets:\n    - a:1\n    - b:2\n")
    assert none.endswith("- targets:\n")


def test_every_template_is_text_that_ends_with_a_line() -> None:
    folder = Path(str(files("penstock.cli.generate").joinpath("templates")))
    paths = [path for path in folder.rglob("*") if path.is_file()]
    assert len(paths) > 25
    for path in paths:
        assert template(path.relative_to(folder).as_posix()).endswith("\n")
