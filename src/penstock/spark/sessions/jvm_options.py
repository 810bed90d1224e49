"""What Java is told when it starts to run Spark."""

import re
from collections.abc import Mapping

from penstock.spark.sessions.archive import Archive

SERIAL_CORES_MAX = 4
"""With few cores and Spark's heap of a gigabyte, the collector without threads of its own does best."""

_COLLECTOR = re.compile(r"-XX:\+Use\w+GC\b")
_ARCHIVE = re.compile(r"-Xshare|-XX:(?:SharedArchiveFile|ArchiveClassesAtExit|AOT\w+)=")
_ENVIRONMENT = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")


def jvm_options(
    *, core_count: int, is_short: bool, archive: Archive | None, given: str = ""
) -> tuple[str, ...]:
    """Ours, without those that would contradict the ``given``: Java refuses to start with two collectors."""
    options: list[str] = []
    if core_count <= SERIAL_CORES_MAX and not _COLLECTOR.search(given):
        options.append("-XX:+UseSerialGC")
    if is_short:
        # The quick compiler only: half the speed in the end, but who ends soon never gets there.
        options.append("-XX:TieredStopAtLevel=1")
    if archive is not None and not _ARCHIVE.search(given):
        options.extend(archive.options())
    return tuple(options)


def given_options(environment: Mapping[str, str], *settings: str) -> str:
    """All that people tell Java themselves."""
    return " ".join([*(environment.get(name, "") for name in _ENVIRONMENT), *settings])
