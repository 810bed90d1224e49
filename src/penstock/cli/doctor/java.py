"""Java, which Spark needs and nothing else does: where it is, which version, how to get it."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping

from penstock.cli.doctor.finding import Finding, ok, warning

SUPPORTED = (17, 21, 25)
"""What Spark 4 runs on."""

_ANSWER_SECONDS_MAX = 10.0
_VERSION = re.compile(r'version "(?:1\.)?(\d+)[^"]*"')
_GET_ONE = (
    "For Spark, install Java 17 or newer: `apt install openjdk-17-jre-headless` on Debian and Ubuntu, "
    "`brew install openjdk@17` on a Mac; or set JAVA_HOME."
)


def check_java(environment: Mapping[str, str], *, is_needed: bool) -> Finding:
    """Look where Spark looks: JAVA_HOME, then PATH; a missing one matters only where Spark is installed."""
    path = find_java(environment)
    if path is None:
        if not is_needed:
            return ok("java", "none found; only Spark needs it")
        return warning("java", "pyspark is installed, but there is no Java.", _GET_ONE)
    version = _version_of(path)
    if version is None:
        return warning("java", f"{path} does not tell its version.", _GET_ONE)
    if version not in SUPPORTED:
        wanted = ", ".join(map(str, SUPPORTED))
        return warning("java", f"{path} is Java {version}; Spark supports {wanted}.", _GET_ONE)
    return ok("java", f"Java {version}, {path}")


def find_java(environment: Mapping[str, str]) -> str | None:
    """The program that would be run."""
    if home := environment.get("JAVA_HOME"):
        path = os.path.join(home, "bin", "java")
        if os.access(path, os.X_OK):
            return path
    return shutil.which("java", path=environment.get("PATH"))


def _version_of(path: str) -> int | None:
    try:
        done = subprocess.run(
            [path, "-version"], capture_output=True, text=True, timeout=_ANSWER_SECONDS_MAX, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.search(done.stderr + done.stdout)
    return None if match is None else int(match[1])
