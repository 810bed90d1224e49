import asyncio

import pytest

from penstock.broker.tasks import Tasks
from penstock.model.errors import InvariantError


class Rig:
    def __init__(self) -> None:
        self.bugs: list[Exception] = []
        self.tasks = Tasks(asyncio.get_running_loop(), on_bug=self.bugs.append)


async def fail() -> None:
    raise InvariantError("two truths")


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_error_of_a_duty_is_told_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        rig = Rig()
        rig.tasks.start_duty(fail(), name="watch")
        await settle()
        assert [str(bug) for bug in rig.bugs] == ["two truths"]

    asyncio.run(run())
    assert [record.getMessage() for record in caplog.records] == ["task failed"]


def test_error_of_another_task_is_logged_only(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        rig = Rig()
        rig.tasks.start(fail(), name="ask")
        await settle()
        assert not rig.bugs

    asyncio.run(run())
    assert [record.getMessage() for record in caplog.records] == ["task failed"]


def test_duty_that_is_stopped_or_has_ended_is_no_bug() -> None:
    async def run() -> None:
        rig = Rig()
        rig.tasks.start_duty(asyncio.sleep(0), name="until it is over")
        rig.tasks.start_duty(asyncio.Event().wait(), name="for ever")
        await settle()
        assert len(rig.tasks) == 1
        await rig.tasks.stop()
        await settle()
        assert not rig.bugs
        assert len(rig.tasks) == 0

    asyncio.run(run())
