"""Python, and what Penstock needs of it."""

import platform
import sys
from collections.abc import Iterator
from importlib import metadata

from penstock import __version__
from penstock.cli.doctor.finding import Finding, ok, problem

PYTHON_MIN = (3, 11)

REQUIRED = ("confluent-kafka", "cramjam", "crc32c", "google-re2", "PyYAML", "rich", "typer")
OPTIONAL = {"pyspark": "spark", "fastapi": "gateway"}
"""With the extra that brings each."""


def check_runtime() -> Iterator[Finding]:
    """Version of Python, dependencies, extras."""
    version = platform.python_version()
    if sys.version_info < PYTHON_MIN:
        yield problem("python", f"This is Python {version}.", "Penstock needs Python 3.11 or newer.")
    else:
        yield ok("python", f"Python {version}, penstock {__version__}")
    installed = {name: installed_version(name) for name in REQUIRED}
    if missing := [name for name, found in installed.items() if found is None]:
        yield problem("packages", f"Missing: {', '.join(missing)}.", "pip install --force-reinstall penstock")
    else:
        yield ok("packages", ", ".join(f"{name} {found}" for name, found in installed.items()))
    for name, extra in OPTIONAL.items():
        found = installed_version(name)
        yield ok(
            "extras", f"{name} {found}" if found else f"no {name}; pip install 'penstock[{extra}]' brings it"
        )


def installed_version(name: str) -> str | None:
    """The version of a distribution; None if it is not there."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
