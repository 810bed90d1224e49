"""How often something is tried when each attempt takes longer than all of them may."""

import pytest

from penstock.wire_client.patience import Patience


@pytest.mark.parametrize("count", [1, 3])
def test_attempts_are_made_even_if_the_first_uses_up_the_time(count: int) -> None:
    patience = Patience(seconds_max=0, attempts_min=count, pause_seconds=0.001)

    assert len(list(patience.attempts())) == count
