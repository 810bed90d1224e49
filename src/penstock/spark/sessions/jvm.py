"""The Java to start for a session: which, with what options, and whether an archive helps it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from penstock.spark.sessions.archive import Archive, ArchiveUse, archive_for
from penstock.spark.sessions.cache_directory import VARIABLE
from penstock.spark.sessions.errors import SparkStartError
from penstock.spark.sessions.java import VECTOR_MODULE, Java, find_java
from penstock.spark.sessions.jvm_options import jvm_options
from penstock.spark.sessions.scripts import java_home
from penstock.spark.sessions.surroundings import Surroundings

SETTINGS = frozenset(
    {
        "spark.driver.defaultJavaOptions",
        "spark.driver.extraClassPath",
        "spark.driver.extraJavaOptions",
        "spark.driver.memory",
    }
)
"""What only a Java that is yet to start can be given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Jvm:
    """A choice, with its reasons in words."""

    java: str
    archive: str
    variables: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    archive_in_use: Archive | None = None
    archive_to_make: Archive | None = None


RUNNING = Jvm(java="the Java that already runs", archive="no: Java already runs")


def choose_jvm(
    around: Surroundings,
    *,
    core_count: int | None,
    is_short: bool,
    archive_use: ArchiveUse,
    given_options: str,
) -> Jvm:
    """Options and archive are for a Spark on this machine; one elsewhere only needs some Java here."""
    java = find_java(around.environment)
    variables = {"JAVA_HOME": str(_home_for_spark(java, around.directory))}
    if core_count is None:
        return Jvm(java=str(java), archive="no: Spark works elsewhere", variables=variables)
    archive = fitting_archive(java, around) if archive_use is not ArchiveUse.OFF else None
    whole = archive if archive is not None and archive.is_whole() else None
    is_to_be_made = archive_use is ArchiveUse.AUTO and whole is None
    return Jvm(
        java=str(java),
        archive=_words(archive, whole=whole, archive_use=archive_use),
        variables=variables,
        options=jvm_options(core_count=core_count, is_short=is_short, archive=whole, given=given_options),
        archive_in_use=whole,
        archive_to_make=archive if is_to_be_made else None,
    )


def fitting_archive(java: Java, around: Surroundings) -> Archive | None:
    """The one for this Java and this Spark, there or not; None if it cannot be kept."""
    if around.directory is None:
        return None
    return archive_for(
        java,
        spark_home=around.spark_home,
        spark_version=around.spark_version,
        directory=around.directory,
    )


def _home_for_spark(java: Java, directory: Path | None) -> Path:
    if java.has_vector_module:
        return java.home
    home = java_home(java.program, directory) if directory is not None else None
    if home is None:
        raise SparkStartError(
            f"{java} lacks the module {VECTOR_MODULE}; it can run Spark through a script, for which there is "
            f"no place: let {VARIABLE} name a directory that you alone can write and run programs in."
        )
    return home


def _words(archive: Archive | None, *, whole: Archive | None, archive_use: ArchiveUse) -> str:
    if whole is not None:
        return str(whole.path)
    if archive_use is ArchiveUse.OFF:
        return "no: switched off"
    return "no: this Java or system cannot keep one" if archive is None else "none yet"
