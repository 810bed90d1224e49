"""The disk's appointments."""

from random import Random

import pytest

from penstock.sim.runtime.disk import Appointment, SimulatedDisk
from penstock.storage.memory_machine import MachineStopped


def arranged(operation: str, path_part: str, ordinal: int) -> tuple[SimulatedDisk, list[str]]:
    disk = SimulatedDisk(Random(1))
    disk.make_directory("/data")
    stops: list[str] = []
    disk.appointed.arrange(
        Appointment(
            operation=operation, path_part=path_part, ordinal=ordinal, on_stop=lambda: stops.append("stopped")
        )
    )
    return disk, stops


def test_machine_stops_in_front_of_the_operation_that_was_named() -> None:
    disk, stops = arranged("flush", "log", 1)
    file = disk.open("/data/log", create=True)
    file.write(0, [b"one"])
    file.flush()
    file.write(3, [b"two"])
    with pytest.raises(MachineStopped):
        file.flush()
    assert stops == ["stopped"]
    with pytest.raises(MachineStopped):
        disk.exists("/data/log")


def test_operations_on_other_paths_do_not_count() -> None:
    disk, stops = arranged("flush", "log", 0)
    file = disk.open("/data/other", create=True)
    file.flush()
    assert stops == []


def test_machine_goes_on_after_a_restart_and_keeps_no_appointment_twice() -> None:
    disk, stops = arranged("", "", 0)
    with pytest.raises(MachineStopped):
        disk.open("/data/log", create=True)
    disk.crash()
    disk.open("/data/log", create=True).flush()
    assert stops == ["stopped"]


def test_stopped_machine_refuses_what_its_dead_process_still_wants() -> None:
    disk = SimulatedDisk(Random(1))
    disk.appointed.stop()
    with pytest.raises(MachineStopped):
        disk.make_directory("/data")


def test_faults_that_have_not_happened_can_be_forgotten() -> None:
    disk = SimulatedDisk(Random(1))
    disk.make_directory("/data")
    disk.fail_flush()
    disk.appointed.forget_faults()
    disk.open("/data/log", create=True).flush()
