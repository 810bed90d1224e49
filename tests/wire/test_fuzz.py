from types import SimpleNamespace

import pytest


@pytest.mark.slow
def test_damaged_messages_end_in_a_message_or_in_decode_error(fuzzing: SimpleNamespace) -> None:
    tally = fuzzing.fuzz(20_000, seed=7)
    assert tally.total == 20_000
    assert tally.accepted > 500
    assert tally.refused > 10_000


def test_fuzzing_is_reproduced_by_its_seed(fuzzing: SimpleNamespace) -> None:
    assert fuzzing.fuzz(300, seed=11) == fuzzing.fuzz(300, seed=11)
