"""A broker as a process: limits, signals, the ready line, and how it ends.

The process ends in one of five ways: told to stop (0), sent home by its cluster, which has taken everything
from it (0), unable to start or to go on (1), a bug (1), a failed flush (74).
After a failed flush nothing may be acknowledged, written or tidied up any more, so that end is immediate; so
is the one after a bug in one of the broker's duties, for which others would wait in vain.
"""

import asyncio
import ctypes
import gc
import logging
import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import Protocol

from penstock.broker.broker import Broker
from penstock.broker.clock import SystemClock
from penstock.broker.entropy import SystemEntropy
from penstock.broker.logging.log_settings import log_settings
from penstock.broker.logging.process_log import ProcessLog
from penstock.broker.metrics.service import MetricsService
from penstock.broker.readiness import Readiness, ready_text
from penstock.config.broker_config import BrokerConfig
from penstock.model.errors import OperatingError, StorageError
from penstock.storage.faulty_filesystem import with_failpoints
from penstock.storage.flush_failures import EXIT_CODE as FLUSH_FAILED_EXIT_CODE
from penstock.storage.flush_failures import keeps_from_restarting, record_flush_failure
from penstock.storage.real_filesystem import RealFileSystem

logger = logging.getLogger(__name__)

OPEN_FILES_WANTED = 100_000
KEPT_BYTES_MAX = 128 * 1024 * 1024
KEPT_BUFFER_BYTES_MAX = 4 * 1024 * 1024
M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3
SWITCH_INTERVAL_SECONDS = 0.0005
"""A flush thread that comes back from the disk gets the interpreter within this time, not within 5 ms."""


class Companion(Protocol):
    """Who wants to know when the broker is there and when it goes; neither may take its time."""

    def start(self, address: str) -> None:
        """Clients may connect there."""

    def go(self) -> None:
        """They no longer may in a moment."""


ReadyLine = Callable[[Readiness], str]
"""How it is said on standard output that clients may connect."""


def run_broker(
    config: BrokerConfig, *, companion: Companion | None = None, ready_line: ReadyLine = ready_text
) -> int:
    """Run until a signal says stop; returns the exit code."""
    os.umask(0o077)
    gc.freeze()  # what is imported stays
    gc.enable()
    _raise_open_files_limit()
    _keep_freed_memory()
    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
    # The disk refuses to follow links, which others could have placed; one the user named is meant.
    data_directory = os.path.realpath(config.data_directory)
    log = ProcessLog(log_settings(config, data_directory), SystemClock())
    try:
        return asyncio.run(_run(config, data_directory, log, companion, ready_line))
    except OperatingError as error:
        logger.error("cannot run", extra={"reason": str(error)})
        return 1
    finally:
        log.close()


async def _run(
    config: BrokerConfig,
    data_directory: str,
    log: ProcessLog,
    companion: Companion | None,
    ready_line: ReadyLine,
) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    filesystem = with_failpoints(RealFileSystem(), os.environ)
    clock = SystemClock()

    def end_at_once(error: Exception) -> None:
        if not isinstance(error, StorageError):
            logger.critical("a bug, ending now", exc_info=error)
            log.flush()
            os._exit(1)
        if not keeps_from_restarting(error):
            logger.critical("metadata cannot be read, ending now", extra={"reason": str(error)})
            log.flush()
            os._exit(1)
        logger.critical("flush failed, ending now", extra={"reason": str(error)})
        log.flush()
        record_flush_failure(filesystem, data_directory, clock.wall_ms())
        os._exit(FLUSH_FAILED_EXIT_CODE)

    broker = Broker(
        config,
        data_directory=data_directory,
        loop=loop,
        filesystem=filesystem,
        clock=clock,
        entropy=SystemEntropy(),
        on_fatal=end_at_once,
    )
    broker.on_directory_taken = lambda: log.begin_files(broker.node_id)
    metrics = MetricsService(broker, loop=loop, data_directory=data_directory)
    await metrics.start(config)
    starting = loop.create_task(broker.start(), name="start")
    told = loop.create_task(stop.wait(), name="wait for a signal")
    await asyncio.wait({starting, told}, return_when=asyncio.FIRST_COMPLETED)
    if not starting.done():
        # It may wait for a cluster that is not there. Nothing was promised yet: end as if killed.
        logger.info("stopped before it was ready")
        log.flush()
        os._exit(0)
    starting.result()
    metrics.announce()
    _settle_memory()
    readiness = _readiness(broker, metrics)
    sys.stdout.write(f"{ready_line(readiness)}\n")
    sys.stdout.flush()
    if companion is not None:
        companion.start(readiness.address)
    log.begin_feed(broker)
    sent_home = loop.create_task(broker.membership.was_sent_home.wait(), name="wait to be sent home")
    await asyncio.wait({told, sent_home}, return_when=asyncio.FIRST_COMPLETED)
    logger.info("stopping")
    if companion is not None:
        companion.go()
    metrics.is_stopping = True
    await broker.stop()
    await metrics.stop()
    return 0


def _readiness(broker: Broker, metrics: MetricsService) -> Readiness:
    return Readiness(
        address=str(broker.address),
        node=broker.node_id,
        cluster=broker.cluster_id,
        metrics=metrics.address or None,
    )


def _raise_open_files_limit() -> None:
    """Partitions and clients are file descriptors: take as many as the system grants."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES_WANTED if hard == resource.RLIM_INFINITY else min(OPEN_FILES_WANTED, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _keep_freed_memory() -> None:
    """Have the C library keep what requests gave back, for the next ones.

    By default it returns large buffers to the system at once, and every page of the next one costs a fault:
    at 108 KB a batch these were half of the broker's system time.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        library.mallopt(M_MMAP_THRESHOLD, KEPT_BUFFER_BYTES_MAX)
        library.mallopt(M_TRIM_THRESHOLD, KEPT_BYTES_MAX)


def _settle_memory() -> None:
    """What exists now stays: keep the collector from walking it again and again.

    Requests make few reference cycles, so collections may be rare; each one stops the loop. The little that
    starting has left behind is not worth the time of looking for it.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
