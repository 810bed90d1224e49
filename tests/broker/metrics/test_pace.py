import asyncio

from tests.broker.metrics.test_flush_meter import StandingClock

from penstock.broker.metrics.pace import ITEMS_BETWEEN_LOOKS, TURN_SECONDS_MAX, Pace


def test_items_come_in_order_and_others_get_turns_when_the_time_is_over() -> None:
    async def main() -> tuple[list[int], int]:
        clock = StandingClock()
        rests = 0

        def rested() -> None:
            nonlocal rests
            rests += 1

        found: list[int] = []
        async for chunk in Pace(clock).chunks(range(ITEMS_BETWEEN_LOOKS * 3)):
            asyncio.get_running_loop().call_soon(rested)
            found += chunk
            clock.now += TURN_SECONDS_MAX
        return found, rests

    assert asyncio.run(main()) == (list(range(ITEMS_BETWEEN_LOOKS * 3)), 3)


def test_nobody_rests_while_there_is_time() -> None:
    async def main() -> bool:
        is_called = False

        def call() -> None:
            nonlocal is_called
            is_called = True

        asyncio.get_running_loop().call_soon(call)
        chunks = [chunk async for chunk in Pace(StandingClock()).chunks(range(ITEMS_BETWEEN_LOOKS + 1))]
        assert [len(chunk) for chunk in chunks] == [ITEMS_BETWEEN_LOOKS, 1]
        return is_called

    assert not asyncio.run(main())
