"""Python files of people's pipelines: loading them, and making Spark's workers understand what is in them.

A file is loaded under a name of its own, so that two pipelines may each have a ``functions.py``. Workers know
nothing of such a name; so classes and functions of these files travel by value.
"""

import importlib.util
import sys
import traceback
from hashlib import sha1
from pathlib import Path
from types import ModuleType
from typing import Any

from penstock.spark.pipelines.problems import PipelineFileError, Place, Problem


class CurrentSession:
    """What files see as ``spark``: the session that is there when something of it is used."""

    def __getattr__(self, name: str) -> Any:
        from pyspark.sql import SparkSession

        from penstock.spark.pipelines.python_steps import session_of_pipeline

        session = session_of_pipeline() or SparkSession.getActiveSession()
        if session is None:
            raise AttributeError(
                f"There is no Spark yet when a pipeline file is read; use spark.{name} inside a decorated "
                f"function."
            )
        return getattr(session, name)


def load_module(path: Path) -> ModuleType:
    """Run a file; ``PipelineFileError`` with its line if that fails."""
    name = f"penstock_pipeline_{path.stem}_{sha1(str(path.resolve()).encode()).hexdigest()[:8]}"
    specification = importlib.util.spec_from_file_location(name, str(path))
    if specification is None or specification.loader is None:
        raise PipelineFileError(
            [Problem(Place(str(path)), "This is no Python file.", "Its name must end in .py.")]
        )
    module = importlib.util.module_from_spec(specification)
    module.__dict__["spark"] = CurrentSession()
    sys.modules[name] = module
    try:
        specification.loader.exec_module(module)
    except PipelineFileError:
        raise
    except SyntaxError as error:
        place = Place(str(path), error.lineno or 0, error.offset or 0)
        raise PipelineFileError([Problem(place, f"This is no Python: {error.msg}.")]) from error
    except Exception as error:
        raise PipelineFileError([_failure(path, error)]) from error
    return module


def load_class(path: str, name: str) -> Any:
    """A class of a file, ready to be sent to workers."""
    from pyspark.cloudpickle import register_pickle_by_value

    module = load_module(Path(path))
    found = getattr(module, name, None)
    if found is None:
        classes = [each for each, value in vars(module).items() if isinstance(value, type)]
        raise PipelineFileError(
            [
                Problem(
                    Place(path),
                    f"There is no class {name!r} here.",
                    f"There is: {', '.join(classes) or 'none'}.",
                )
            ]
        )
    register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    return found


def _failure(path: Path, error: Exception) -> Problem:
    """The innermost line of the file itself that was being run."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno or 0 for frame in frames if frame.filename == str(path)]
    place = Place(str(path), lines[-1] if lines else 0, 1 if lines else 0)
    return Problem(place, f"The file cannot be loaded: {type(error).__name__}: {error}.")
