"""Endings that are no query: work that is done once, in a thread of its own, and that looks like a query to
whoever watches it.

The thread that starts flows also watches and stops them and writes side outputs, so nothing that takes hours
may run in it. The work has a session of its own, a copy of the pipeline's with the settings of its flow:
flows that start meanwhile change those of the one that it came from.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

IsStopped = Callable[[], bool]
Work = Callable[["SparkSession", IsStopped], None]
"""Takes a session and asks, wherever it may end early, whether it is to."""

BREAK_OFF_SECONDS = 10.0
"""How long ``stop`` waits for work whose jobs were cancelled."""
_CANCEL_AGAIN_SECONDS = 0.2
_STATUS = "work in a thread of its own"


class Errand:
    """A piece of work that goes on by itself from now on."""

    def __init__(self, spark: "SparkSession", name: str, work: Work) -> None:
        self._name = name
        self._work = work
        self._origin = spark
        self._spark = _copy_of(spark)
        self._error: BaseException | None = None
        self._must_end = threading.Event()
        self._is_broken_off = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def isActive(self) -> bool:
        """Whether there is still something to do."""
        return self._thread.is_alive()

    @property
    def status(self) -> dict[str, Any]:
        """In Spark's words; there is no time when it would wait for more to do."""
        is_active = self.isActive
        return {"message": _STATUS, "isDataAvailable": is_active, "isTriggerActive": is_active}

    @property
    def lastProgress(self) -> None:
        """It makes no micro-batches that could be told of."""
        return None

    @property
    def recentProgress(self) -> Sequence[Any]:
        """It makes no micro-batches that could be told of."""
        return ()

    def exception(self) -> BaseException | None:
        """What it failed with by itself."""
        return self._error

    def ask_to_end(self) -> None:
        """Let it end as soon as it can without leaving something half done."""
        self._must_end.set()

    def stop(self) -> None:
        """End it wherever it is, and wait for that, though not for ever."""
        self.ask_to_end()
        deadline = time.monotonic() + BREAK_OFF_SECONDS
        while self.isActive and time.monotonic() < deadline:
            self._is_broken_off = True
            self._cancel_jobs()
            self._thread.join(_CANCEL_AGAIN_SECONDS)

    def _run(self) -> None:
        try:
            if not _is_remote():
                self._enter()
            self._work(self._spark, self._must_end.is_set)
        except BaseException as error:
            if not self._is_broken_off:
                self._error = error
        finally:
            self._leave()

    def _enter(self) -> None:
        """Let Java know whose thread this is: it looks for formats in the session of the thread that asks."""
        spark: Any = self._spark
        spark._get_j_spark_session_class(spark._jvm).setActiveSession(spark._jsparkSession)
        spark.sparkContext.setJobGroup(self._name, self._name, interruptOnCancel=True)

    def _leave(self) -> None:
        """PySpark takes the session that last made rows of values for everybody's active one."""
        session: Any = type(self._spark)
        if not _is_remote() and session._activeSession is self._spark:
            session._activeSession = self._origin

    def _cancel_jobs(self) -> None:
        """Those that run now: between two of them there are none, so it takes more than one call."""
        if not _is_remote():
            self._spark.sparkContext.cancelJobGroup(self._name)


def _copy_of(spark: "SparkSession") -> "SparkSession":
    """A session with the settings, names and formats of another as they are now, as queries get one too."""
    if _is_remote():
        return spark
    made: Any = type(spark)
    return made(spark.sparkContext, spark._jsparkSession.cloneSession())  # type: ignore[no-any-return]


def _is_remote() -> bool:
    from pyspark.sql.utils import is_remote

    return is_remote()
