"""Archives of class data: what Java learned of Spark's classes at one start, to be mapped at the next.

Loading and verifying some 20,000 classes is most of what Spark's start costs. Java can write what it has of
them to a file when it ends, and map that file when it starts again (``-XX:SharedArchiveFile``, or
``-XX:AOTCache`` where a Java comes without the basic archive that the former builds on). Java checks that the
file fits it and the jars, and goes on without a word if not. It does not check whether the file is whole, and
dies of one that is cut short: so the size is written down beside it once it is complete, and compared.
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from penstock.spark.sessions.java import Java

_CACHE_VERSION_MIN = 25
"""From here on an AOT cache is made in one step."""

_SUFFIXES = (".jsa", ".aot")


class ArchiveUse(StrEnum):
    """What to do about archives."""

    AUTO = "auto"
    """Use one; if there is none, have it made in the background for the next time."""
    EXISTING = "existing"
    """Use one if it is there."""
    OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """The file for one Java with one Spark, there or not."""

    path: Path
    is_cache: bool
    java_version: int

    @property
    def size_path(self) -> Path:
        """Where the size of the whole file is written down."""
        return self.path.with_name(f"{self.path.name}.size")

    @property
    def log_path(self) -> Path:
        """What was said when it was made, if that failed."""
        return self.path.with_name(f"{self.path.name}.log")

    def is_whole(self) -> bool:
        """Whether it is there, and as long as it was when it was complete."""
        try:
            return self.path.stat().st_size == int(self.size_path.read_text())
        except (OSError, ValueError):
            return False

    def options(self) -> tuple[str, ...]:
        """What to tell Java so that it uses the file."""
        return (f"-XX:{'AOTCache' if self.is_cache else 'SharedArchiveFile'}={self.path}", *self.quiet())

    def making_options(self, draft: Path) -> tuple[str, ...]:
        """What to tell Java so that it writes such a file to ``draft`` when it ends."""
        option = "AOTCacheOutput" if self.is_cache else "ArchiveClassesAtExit"
        return (f"-XX:{option}={draft}", *self.quiet())

    def quiet(self) -> tuple[str, ...]:
        """Java would complain about archives on standard output, which belongs to the program."""
        unwanted = "cds*=off,aot*=off" if self.java_version >= _CACHE_VERSION_MIN else "cds*=off"
        return ("-Xlog:disable", f"-Xlog:all=warning,{unwanted}:stderr")


def archive_for(java: Java, *, spark_home: Path, spark_version: str, directory: Path) -> Archive | None:
    """The one that fits; None if this Java cannot have any."""
    has_base = any((java.home / "lib" / "server").glob("classes*.jsa"))
    jars = spark_home / "jars"
    if not jars.is_dir() or (not has_base and java.version < _CACHE_VERSION_MIN):
        return None
    # The directory's time tells a Spark that was installed anew in the same place.
    changed = jars.stat().st_mtime_ns
    key = hashlib.sha256(f"{java.home} {java.full_version} {spark_home} {changed}".encode()).hexdigest()[:12]
    suffix = ".jsa" if has_base else ".aot"
    name = f"spark-{spark_version}-java-{java.full_version.split('+')[0]}-{key}{suffix}"
    return Archive(path=directory / name, is_cache=not has_base, java_version=java.version)


def archives_in(directory: Path) -> list[Path]:
    """All that are there, the most recently used first."""
    found = [path for path in directory.glob("spark-*") if path.suffix in _SUFFIXES]
    return sorted(found, key=lambda path: path.stat().st_mtime_ns, reverse=True)
