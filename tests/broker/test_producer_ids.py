"""Producer ids come in blocks, and none is given twice."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from penstock.broker.producer_ids import REFILL_BELOW, ProducerIds
from penstock.broker.tasks import Tasks
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError

BLOCK = 2 * REFILL_BELOW


class Controller:
    """Gives out blocks, one after the other; ``refusals`` of them not."""

    def __init__(self) -> None:
        self.allocated = 0
        self.refusals = 0

    async def allocate(self) -> range:
        await asyncio.sleep(0)
        if self.refusals:
            self.refusals -= 1
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
        self.allocated += 1
        return range((self.allocated - 1) * BLOCK, self.allocated * BLOCK)


def run(story: Callable[[ProducerIds, Controller], Coroutine[Any, Any, None]]) -> None:
    async def told() -> None:
        controller = Controller()
        tasks = Tasks(asyncio.get_running_loop())
        await story(ProducerIds(controller.allocate, tasks), controller)
        await tasks.stop()

    asyncio.run(told())


def test_ids_of_many_who_ask_at_once_are_all_different() -> None:
    async def story(ids: ProducerIds, controller: Controller) -> None:
        drawn = await asyncio.gather(*(ids.next() for _ in range(BLOCK + 10)))
        assert sorted(drawn) == list(range(BLOCK + 10))
        assert controller.allocated == 2

    run(story)


def test_nobody_waits_for_an_id_that_is_not_there_but_more_are_fetched() -> None:
    async def story(ids: ProducerIds, controller: Controller) -> None:
        assert ids.next_nowait() is None
        assert ids.next_nowait() is None
        await asyncio.sleep(0.01)
        assert controller.allocated == 1
        assert ids.next_nowait() == 0

    run(story)


def test_more_are_fetched_before_the_last_is_drawn() -> None:
    async def story(ids: ProducerIds, controller: Controller) -> None:
        await ids.wait_available()
        drawn = []
        for _ in range(3 * BLOCK):
            drawn.append(ids.next_nowait())
            await asyncio.sleep(0)
        assert drawn == list(range(3 * BLOCK))

    run(story)


def test_controller_that_gives_nothing_is_asked_again_next_time() -> None:
    async def story(ids: ProducerIds, controller: Controller) -> None:
        controller.refusals = 1
        for _ in range(2):
            assert ids.next_nowait() is None
            await asyncio.sleep(0.01)
        assert ids.next_nowait() == 0

    run(story)
