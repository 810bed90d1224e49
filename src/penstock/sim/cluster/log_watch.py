"""What brokers log while they are simulated: a complaint about a bug of their own is a failure of the run."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.sim.runtime.loop import SimulatedLoop
from penstock.sim.runtime.world import World

PACKAGE = "penstock"


class LogWatch(logging.Handler):
    """Reports every record that carries an exception: nobody logs one unless it is unexpected."""

    def __init__(self, world: World) -> None:
        super().__init__(logging.WARNING)
        self._world = world

    def emit(self, record: logging.LogRecord) -> None:
        """Take one record in."""
        loop = asyncio._get_running_loop()
        if not isinstance(loop, SimulatedLoop) or loop.is_dead or record.exc_info is None:
            return
        error = record.exc_info[1]
        self._world.report(f"{loop.name} logs {record.getMessage()!r}: {error!r}")


@contextmanager
def watched_log(world: World) -> Iterator[None]:
    """Watch what is logged inside the block, and show none of it."""
    logger = logging.getLogger(PACKAGE)
    watch = LogWatch(world)
    propagated, logger.propagate = logger.propagate, False
    logger.addHandler(watch)
    try:
        yield
    finally:
        logger.removeHandler(watch)
        logger.propagate = propagated
