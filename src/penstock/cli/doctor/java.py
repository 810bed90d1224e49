"""Java, which Spark needs and nothing else does: where it is, which version, how to get it."""

from collections.abc import Mapping, Sequence

from penstock.cli.doctor.finding import Finding, ok, warning
from penstock.spark.sessions.errors import GET_JAVA
from penstock.spark.sessions.java import SUPPORTED, VERSION_MIN, search_java
from penstock.spark.sessions.java_places import DIRECTORIES


def check_java(
    environment: Mapping[str, str], *, is_needed: bool, directories: Sequence[str] = DIRECTORIES
) -> Finding:
    """Look where our sessions of Spark look; a missing one matters only where Spark is installed."""
    search = search_java(environment, directories=directories)
    java = search.found
    if java is None:
        if not is_needed:
            return ok("java", "none found; only Spark needs it")
        seen = f" ({'; '.join(search.rejected)})" if search.rejected else ""
        return warning(
            "java", f"pyspark is installed, but there is no Java {VERSION_MIN} or newer{seen}.", GET_JAVA
        )
    if java.version not in SUPPORTED:
        wanted = ", ".join(map(str, SUPPORTED))
        return warning("java", f"{java.program} is Java {java.version}; Spark supports {wanted}.", GET_JAVA)
    return ok("java", f"Java {java.version}, {java.program}")
