"""What is lent is bounded, used again, and not used again after trouble."""

import threading

import pytest

from penstock.gateway.errors import GatewayError
from penstock.gateway.kafka.pool import Pool


class Thing:
    """Something that can be closed."""

    def __init__(self) -> None:
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


def test_what_comes_back_is_lent_again() -> None:
    pool = Pool(Thing, count_max=2, name="things")
    with pool.lend() as first:
        pass
    with pool.lend() as second:
        assert second is first

    pool.close()
    assert first.is_closed


def test_what_was_used_in_trouble_is_closed() -> None:
    pool = Pool(Thing, count_max=1, name="things")
    with pytest.raises(KeyError), pool.lend() as bad:
        raise KeyError

    assert bad.is_closed
    with pool.lend() as good:
        assert good is not bad


def test_more_than_there_may_be_are_refused() -> None:
    pool = Pool(Thing, count_max=1, name="things")
    with (
        pool.lend(),
        pytest.raises(GatewayError, match="All 1 things") as refused,
        pool.lend(wait_seconds=0.01),
    ):
        pass

    assert refused.value.status == 503


def test_whoever_waits_gets_the_next() -> None:
    pool = Pool(Thing, count_max=1, name="things")
    got = threading.Event()

    def wait() -> None:
        with pool.lend():
            got.set()

    with pool.lend():
        waiting = threading.Thread(target=wait)
        waiting.start()
        assert not got.wait(0.05)
    waiting.join(5)

    assert got.is_set()


def test_what_comes_back_to_a_closed_pool_is_closed() -> None:
    pool = Pool(Thing, count_max=1, name="things")
    with pool.lend() as thing:
        pool.close()

    assert thing.is_closed
