"""The shared bound on request bytes."""

from penstock.broker.request_memory import RequestMemory


def test_memory_below_capacity_admits_everybody() -> None:
    memory = RequestMemory(bytes_max=100, queued_max=10)
    memory.hold(99)
    assert memory.admit("a")
    assert memory.admit("b")


def test_memory_full_admits_only_the_privileged_one() -> None:
    memory = RequestMemory(bytes_max=100, queued_max=10)
    memory.hold(100)
    assert memory.admit("first")
    assert not memory.admit("second")
    assert memory.admit("first")


def test_memory_released_wakes_waiters_in_order() -> None:
    memory = RequestMemory(bytes_max=100, queued_max=10)
    memory.hold(150)
    woken: list[str] = []
    assert memory.admit("first")
    for name in ("second", "third"):
        assert not memory.admit(name)
        memory.wait(name, lambda name=name: woken.append(name))  # type: ignore[misc]
    memory.release(60)
    assert woken == ["second", "third"]


def test_memory_privileged_one_leaving_lets_the_next_through() -> None:
    memory = RequestMemory(bytes_max=100, queued_max=10)
    memory.hold(200)
    woken: list[str] = []
    assert memory.admit("first")
    memory.wait("second", lambda: woken.append("second"))
    memory.wait("third", lambda: woken.append("third"))
    memory.leave("first")
    assert woken == ["second"]
    assert memory.admit("second")
    assert not memory.admit("third")


def test_memory_waiter_that_left_is_not_woken() -> None:
    memory = RequestMemory(bytes_max=10, queued_max=10)
    memory.hold(10)
    woken: list[str] = []
    assert memory.admit("first")
    memory.wait("gone", lambda: woken.append("gone"))
    memory.leave("gone")
    memory.release(10)
    assert woken == []


def test_memory_too_many_queued_requests_hold_readers_back() -> None:
    memory = RequestMemory(bytes_max=100, queued_max=2)
    memory.hold(1, queued=1)
    assert memory.admit("first")
    memory.hold(1, queued=1)
    assert memory.admit("first")
    assert not memory.admit("second")
    woken: list[str] = []
    memory.wait("second", lambda: woken.append("second"))
    memory.release(0, queued=1)
    assert woken == ["second"]
