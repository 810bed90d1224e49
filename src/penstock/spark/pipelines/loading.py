"""From a file on disk to a checked pipeline: YAML with its libraries, or Python alone."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from penstock.spark.pipelines.definitions import Definitions, collecting
from penstock.spark.pipelines.document import Document, node_of
from penstock.spark.pipelines.fields.reading import read_fields
from penstock.spark.pipelines.file_fields import PIPELINE_FIELDS
from penstock.spark.pipelines.model import OnFailure, Pipeline, Trigger
from penstock.spark.pipelines.parsing.context import Reading
from penstock.spark.pipelines.parsing.parts import read_trigger
from penstock.spark.pipelines.parsing.pipeline import parse_pipeline
from penstock.spark.pipelines.problems import PipelineFileError, Place, Problem, Problems
from penstock.spark.pipelines.python_files import load_module
from penstock.spark.pipelines.steps.paths import resolved
from penstock.spark.pipelines.validation import validate

YAML_SUFFIXES = (".yml", ".yaml")


def load_pipeline(path: Path, *, environment: Mapping[str, str] | None = None) -> Pipeline:
    """The pipeline of a file; ``PipelineFileError`` with everything that is wrong with it."""
    problems = Problems()
    pipeline = _read(path, os.environ if environment is None else environment, problems)
    if pipeline is not None:
        validate(pipeline, problems)
    problems.raise_if_any()
    assert pipeline is not None, "no pipeline and no problem"
    return pipeline


def load_whereabouts(path: Path) -> Pipeline:
    """The pipeline of a file that may have mistakes, as long as it tells its name and storage.

    A file that is being edited must not keep anybody from stopping what runs since before.
    """
    problems = Problems()
    pipeline = _read(path, os.environ, problems)
    if pipeline is None or not (pipeline.name and pipeline.storage):
        problems.raise_if_any()
    assert pipeline is not None, "no pipeline and no problem"
    return pipeline


def _read(path: Path, environment: Mapping[str, str], problems: Problems) -> Pipeline | None:
    if not path.is_file():
        hint = "Write one with `penstock pipeline init`."
        raise PipelineFileError([Problem(Place(str(path)), "There is no such file.", hint)])
    if path.suffix == ".py":
        return _load_python(path, problems)
    if path.suffix in YAML_SUFFIXES:
        return _load_yaml(path, problems, environment)
    raise PipelineFileError([Problem(Place(str(path)), "A pipeline file ends in .yml, .yaml or .py.")])


def _load_yaml(path: Path, problems: Problems, environment: Mapping[str, str]) -> Pipeline | None:
    pipeline = parse_pipeline(str(path), _text(path), environment=environment, problems=problems)
    if pipeline is None or not pipeline.libraries:
        return pipeline
    with collecting() as definitions:
        for library in _library_files(pipeline, problems):
            load_module(library)
    _take_over(definitions, problems)
    return _merged(pipeline, definitions, problems)


def _text(path: Path) -> str:
    data = path.read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        message = f"The byte 0x{data[error.start]:02x} here is no UTF-8."
        raise PipelineFileError(
            [Problem(Place(str(path), line, column), message, "Save the file as UTF-8.")]
        ) from error


def _load_python(path: Path, problems: Problems) -> Pipeline:
    with collecting() as definitions:
        load_module(path)
    _take_over(definitions, problems)
    settings = {"name": path.stem, "storage": f".penstock/{path.stem}", **definitions.settings}
    place = definitions.settings_place or Place(str(path), 1, 1)
    reading = Reading(Document(str(path)))
    values = read_fields(
        node_of(settings), _SETTINGS, document=reading.document, problems=reading.problems, noun="pipeline()"
    )
    trigger = read_trigger(values["trigger"], reading)
    for problem in reading.problems:
        problems.add(place, problem.message, hint=problem.hint)
    pipeline = Pipeline(
        name=values["name"] or path.stem,
        storage=resolved(values["storage"] or f".penstock/{path.stem}", str(path.parent)),
        file=str(path),
        configuration=values["configuration"],
        kafka=values["kafka"],
        catalog=values["catalog"],
        database=values["database"],
        trigger=trigger or Trigger(),
        on_failure=OnFailure(values["onFailure"]),
    )
    return _merged(pipeline, definitions, problems)


_SETTINGS = tuple(
    field
    for field in PIPELINE_FIELDS
    if field.name
    in ("name", "storage", "configuration", "kafka", "catalog", "database", "trigger", "onFailure")
)


def _library_files(pipeline: Pipeline, problems: Problems) -> Iterable[Path]:
    """Files in a fixed order; ``directory/**`` is every Python file below it."""
    directory = Path(pipeline.file).parent
    for library in pipeline.libraries:
        path = directory / library.removesuffix("/**")
        if library.endswith("/**"):
            found = sorted(each for each in path.rglob("*.py") if "__pycache__" not in each.parts)
        else:
            found = [path] if path.is_file() else []
        if not found:
            problems.add(
                Place(pipeline.file),
                f"The library {library!r} names no Python file.",
                hint=f"Looked in {path}.",
            )
        yield from found


def _take_over(definitions: Definitions, problems: Problems) -> None:
    for problem in definitions.problems:
        problems.add(problem.place, problem.message, hint=problem.hint)


def _merged(pipeline: Pipeline, definitions: Definitions, problems: Problems) -> Pipeline:
    """What Python files define beside what the YAML file does."""
    for noun, ours, theirs in (
        ("view", pipeline.views, definitions.views),
        ("table", pipeline.tables, definitions.tables),
        ("flow", pipeline.flows, definitions.flows),
        ("sink", pipeline.sinks, definitions.sinks),
    ):
        for name in sorted(ours.keys() & theirs.keys()):
            problems.add(
                theirs[name].place,
                f"There is already a {noun} {name!r}, at {ours[name].place}.",
                hint="Give one of them another name.",
            )
    return replace(
        pipeline,
        views={**definitions.views, **pipeline.views},
        tables={**definitions.tables, **pipeline.tables},
        flows={**definitions.flows, **pipeline.flows},
        sinks={**definitions.sinks, **pipeline.sinks},
    )
