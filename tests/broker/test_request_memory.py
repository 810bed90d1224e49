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
    memory.hold_whole(1, queued=1)
    assert memory.admit("first")
    memory.hold_whole(1, queued=1)
    assert memory.admit("first")
    assert not memory.admit("second")
    woken: list[str] = []
    memory.wait("second", lambda: woken.append("second"))
    memory.release_whole(0, queued=1)
    assert woken == ["second"]


def test_memory_full_lets_modest_ones_into_the_reserve_and_no_further() -> None:
    memory = RequestMemory(bytes_max=100, queued_max=10)
    memory.hold(110)
    assert memory.admit("privileged")
    assert memory.admit("modest", is_modest=True)
    assert not memory.admit("greedy")
    memory.hold(15)
    assert not memory.admit("modest", is_modest=True)


def test_memory_with_too_many_queued_requests_still_lets_modest_ones_read() -> None:
    memory = RequestMemory(bytes_max=100, queued_max=2)
    memory.hold_whole(10, queued=2)
    assert memory.admit("privileged")
    assert memory.admit("modest", is_modest=True)


def test_memory_wakes_modest_waiters_once_the_reserve_has_room() -> None:
    memory = RequestMemory(bytes_max=100, queued_max=10)
    memory.hold(130)
    woken: list[str] = []
    assert memory.admit("privileged")
    memory.wait("greedy", lambda: woken.append("greedy"))
    memory.wait("modest", lambda: woken.append("modest"), is_modest=True)
    assert memory.is_short
    memory.release(10)
    assert woken == ["modest"]
    memory.release(30)
    assert woken == ["modest", "greedy"]
    assert not memory.is_short


def test_memory_full_of_whole_requests_is_waited_for_without_privilege() -> None:
    memory = RequestMemory(bytes_max=100, queued_max=10)
    memory.hold(30)
    memory.hold_whole(100)
    woken: list[str] = []
    assert not memory.admit("first")
    memory.wait("first", lambda: woken.append("first"))
    memory.release(5)
    assert woken == []
    memory.release_whole(10)
    assert woken == ["first"], "the privileged one"
    assert memory.admit("first")
    assert not memory.admit("second")


def test_memory_lets_only_the_privileged_one_grow_ahead_when_full() -> None:
    memory = RequestMemory(bytes_max=100, queued_max=10)
    assert memory.may_grow("anybody")
    memory.hold(100)
    assert memory.admit("privileged")
    assert memory.may_grow("privileged")
    assert not memory.may_grow("other")
