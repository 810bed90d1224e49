"""Options shared by all commands."""

import pytest

from penstock.cli.options import examples
from penstock.cli.words import key_values
from penstock.model.errors import UsageError


def test_key_values_pairs_become_a_mapping_and_values_may_hold_equals_signs() -> None:
    assert key_values(["a=1", "b=x=y", "c="], option="--set") == {"a": "1", "b": "x=y", "c": ""}


def test_key_values_nothing_given_is_empty() -> None:
    assert key_values(None, option="--set") == {}


@pytest.mark.parametrize("pair", ["novalue", "=1", ""])
def test_key_values_malformed_pair_is_refused_naming_the_option(pair: str) -> None:
    with pytest.raises(UsageError, match=r"--set .* KEY=VALUE"):
        key_values([pair], option="--set")


def test_examples_lines_stay_unwrapped() -> None:
    assert examples("penstock a", "penstock b") == "\b\nExamples:\n  penstock a\n  penstock b"
