from random import Random

import pytest

from penstock.storage.memory_machine import (
    OPERATIONS_KEPT_MAX,
    FlushFault,
    MachineStopped,
    MemoryMachine,
    Operation,
)


@pytest.fixture
def machine() -> MemoryMachine:
    return MemoryMachine(Random(1))


def test_record_keeps_operations_in_order(machine: MemoryMachine) -> None:
    machine.record(Operation("create", "/a"))
    machine.record(Operation("flush", "/a"))
    assert list(machine.operations) == [("create", "/a"), ("flush", "/a")]
    assert machine.operation_count == 2


def test_operations_kept_are_bounded(machine: MemoryMachine) -> None:
    assert machine.operations.maxlen == OPERATIONS_KEPT_MAX


def test_stop_before_lets_earlier_operations_pass_and_nothing_after(machine: MemoryMachine) -> None:
    machine.stop_before(1)
    machine.record(Operation("create", "/a"))
    with pytest.raises(MachineStopped, match="operation 1"):
        machine.record(Operation("write", "/a"))
    with pytest.raises(MachineStopped):
        machine.record(Operation("write", "/a"))
    with pytest.raises(MachineStopped):
        machine.check_running()
    assert machine.operation_count == 1


def test_stop_before_performs_the_midway_part_once(machine: MemoryMachine) -> None:
    parts = []
    machine.stop_before(0)
    with pytest.raises(MachineStopped):
        machine.record(Operation("write", "/a"), lambda: parts.append("half"))
    with pytest.raises(MachineStopped):
        machine.record(Operation("write", "/a"), lambda: parts.append("again"))
    assert parts == ["half"]


def test_machine_stopped_is_no_ordinary_exception() -> None:
    assert not issubclass(MachineStopped, Exception)


def test_restart_forgets_orders_and_changes_the_incarnation(machine: MemoryMachine) -> None:
    machine.stop_before(0)
    machine.fail_flush(FlushFault(path_part="", after=0, count=5))
    with pytest.raises(MachineStopped):
        machine.record(Operation("write", "/a"))
    before = machine.incarnation
    machine.restart()
    machine.record(Operation("write", "/a"))
    assert not machine.takes_flush_fault("/a")
    assert machine.incarnation == before + 1


def test_flush_fault_strikes_matching_paths_after_the_given_number(machine: MemoryMachine) -> None:
    machine.fail_flush(FlushFault(path_part="orders", after=1, count=2))
    strikes = [
        machine.takes_flush_fault(f"/{name}") for name in ("other", "orders-0", "orders-0", "orders-1")
    ]
    assert strikes == [False, False, True, True]
    assert not machine.takes_flush_fault("/orders-0")
