"""Which Python Spark's workers run: this one, and not what PATH would find, which lacks our packages."""

import importlib.util
import site
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from penstock.spark.sessions.scripts import worker_python

WORKERS = "PYSPARK_PYTHON"
DRIVER = "PYSPARK_DRIVER_PYTHON"
"""Spark runs this one, too: to look up and to plan data sources that are written in Python."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPython:
    """A choice, as variables of the environment and in words."""

    variables: Mapping[str, str]
    why: str


def choose_python(
    environment: Mapping[str, str], settings: Mapping[str, str], *, directory: Path | None
) -> WorkerPython:
    """What was set wins; PySpark itself looks only at the environment, so settings are carried over to it."""
    asked = settings.get("spark.pyspark.python") or environment.get(WORKERS)
    for_driver = settings.get("spark.pyspark.driver.python") or environment.get(DRIVER)
    if asked:
        return WorkerPython(variables={WORKERS: asked, DRIVER: for_driver or asked}, why=f"{asked}, as set")
    script = worker_python(sys.executable, directory) if directory and _is_installed() else None
    chosen = str(script or sys.executable)
    why = f"{sys.executable}, by {script}" if script else f"{sys.executable}, directly"
    return WorkerPython(variables={WORKERS: chosen, DRIVER: for_driver or chosen}, why=why)


def _is_installed() -> bool:
    """Whether this Python finds pyspark and py4j by itself, so that Spark's packed copies can be left out."""
    roots = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), site.getusersitepackages()]
    return all(_is_below(name, roots) for name in ("pyspark", "py4j"))


def _is_below(module: str, roots: list[str]) -> bool:
    specification = importlib.util.find_spec(module)
    origin = specification.origin if specification is not None else None
    return origin is not None and any(Path(origin).is_relative_to(root) for root in roots)
