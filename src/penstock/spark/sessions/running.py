"""What of Spark already runs in this process, and ending it.

PySpark keeps its Java for the life of the process, also after ``stop()``, and says so only in attributes of
its own; they are looked at here and nowhere else.
"""

import os
import subprocess
from typing import TYPE_CHECKING, Any

from penstock.spark.sessions.errors import SparkStartError
from penstock.spark.sessions.setting import Origin, Setting

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_END_SECONDS_MAX = 60.0


def active_session() -> "SparkSession | None":
    """The session of this thread, or else of this process."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    made = SparkSession._instantiatedSession
    return made if made is not None and made._sc._jsc is not None else None


def is_jvm_running() -> bool:
    """Whether a Java was started by us, or started us, as ``spark-submit`` does."""
    from pyspark import SparkContext

    return SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ


def running_settings() -> dict[str, Setting]:
    """What a running Java was started with."""
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    return {
        name: Setting(name=name, value=value, origin=Origin.RUNNING) for name, value in SparkConf().getAll()
    }


def shutdown(*, timeout_seconds: float = _END_SECONDS_MAX) -> None:
    """Stop the session of this process and its Java, so that the next may have a Java with other settings.

    Spark's own ``stop()`` leaves Java running until the program ends. A session of Spark Connect only ends.
    """
    from pyspark import SparkContext

    active = active_session()
    if active is not None:
        active.stop()
    gateway: Any = SparkContext._gateway
    if gateway is None or gateway.proc is None:
        return
    SparkContext._gateway = SparkContext._jvm = None
    gateway.shutdown()
    _end(gateway.proc, timeout_seconds)


def _end(process: "subprocess.Popen[bytes]", timeout_seconds: float) -> None:
    """Java ends when what it reads ends."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(timeout_seconds)
    except subprocess.TimeoutExpired as error:
        process.kill()
        process.wait()
        raise SparkStartError(
            f"Spark's Java (process {process.pid}) did not end within {timeout_seconds:g} s, and was killed."
        ) from error
