"""kill -9 in the middle of producing, over and over: nothing acknowledged is ever lost.

``PENSTOCK_KILL_ROUNDS`` says how often. The moments are drawn from a fixed seed, as numbers of
acknowledgements to wait for, so that a slow machine is killed at the same points of its work as a fast one.
"""

import random
import time

import pytest
from tests.broker_process import Server
from tests.chaos.ledger import Ledger, make_writers
from tests.chaos.vitals import KILL_ROUNDS, TRACEBACK
from tests.chaos.writers import wait_for_progress
from tests.conftest import MakeServer

pytestmark = [pytest.mark.chaos, pytest.mark.slow, pytest.mark.timeout(900)]

ACKNOWLEDGEMENTS_MAX = 400


def test_killed_broker_has_every_acknowledged_record_after_each_restart(make_server: MakeServer) -> None:
    server = make_server()
    dice = random.Random("kill -9")
    writers = make_writers(server)
    ledger = Ledger(server, writers)
    for writer in writers:
        writer.start()

    for round_number in range(KILL_ROUNDS):
        wait_for_progress(writers, dice.randint(1, ACKNOWLEDGEMENTS_MAX))
        server.kill()
        if round_number % 3 == 2:
            kill_while_it_recovers(server, seconds=dice.uniform(0.05, 0.6))
        server.restart()
        ledger.check_new()

    wait_for_progress(writers, 1)
    for writer in writers:
        writer.finish()
    ledger.check_all()
    assert server.stop() == 0
    server.restart()
    ledger.check_all()
    assert TRACEBACK not in server.stderr_text()


def kill_while_it_recovers(server: Server, *, seconds: float) -> None:
    """A second crash while the first is being mended; the delay is the fault that is injected."""
    server.launch()
    time.sleep(seconds)
    server.kill()


def test_killed_at_every_kind_of_disk_operation_it_recovers(make_server: MakeServer) -> None:
    """Failpoints end the process by SIGKILL right before a flush, a rename, the creation of a segment."""
    server = make_server()
    dice = random.Random("failpoints")
    writers = make_writers(server)
    ledger = Ledger(server, writers)
    for writer in writers:
        writer.start()
    wait_for_progress(writers, 50)
    server.kill()

    for operation, after_max in (("flush", 300), ("write", 300), ("open", 6), ("rename", 3), ("flush", 20)):
        order = f"{operation}:kill:after={dice.randint(1, after_max)}"
        server.environment["PENSTOCK_FAILPOINTS"] = order
        server.launch()
        assert server.wait_exit(seconds=60) == -9, f"{order} did not strike"
        del server.environment["PENSTOCK_FAILPOINTS"]
        server.restart()
        ledger.check_new()
        wait_for_progress(writers, 20)
        server.kill()

    server.restart()
    for writer in writers:
        writer.finish()
    ledger.check_all()
