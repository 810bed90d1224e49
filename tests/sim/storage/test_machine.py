"""Appointments of the simulated machine."""

from random import Random

import pytest

from penstock.sim.storage.machine import PlannedMachine
from penstock.sim.storage.plan import Outage, Stop
from penstock.storage.memory_machine import MachineStopped, Operation

WRITE, FLUSH = Operation("write", "a"), Operation("flush", "a")


def stop(operation: str, ordinal: int) -> Stop:
    return Stop(outage=Outage.POWER, operation=operation, ordinal=ordinal)


def test_machine_stops_in_front_of_the_named_operation() -> None:
    machine = PlannedMachine(Random(0))
    machine.arrange(stop("flush", 1))
    for operation in (FLUSH, WRITE, WRITE):
        machine.record(operation)
    with pytest.raises(MachineStopped):
        machine.record(FLUSH)
    with pytest.raises(MachineStopped):
        machine.check_running()
    assert machine.operation_count == 3


def test_machine_counts_any_operation_if_none_is_named() -> None:
    machine = PlannedMachine(Random(0))
    machine.arrange(stop("", 2))
    machine.record(FLUSH)
    machine.record(WRITE)
    with pytest.raises(MachineStopped):
        machine.record(WRITE)


def test_machine_counts_from_each_appointment_anew() -> None:
    machine = PlannedMachine(Random(0))
    machine.arrange(stop("", 1))
    machine.record(WRITE)
    machine.arrange(stop("", 1))
    machine.record(WRITE)
    machine.arrange(None)
    for _ in range(5):
        machine.record(WRITE)
