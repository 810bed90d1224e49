"""``penstock pipeline validate``: everything that is wrong with a file, told at once."""

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from penstock.cli.failure import CommandFailed, ExitCode
from penstock.cli.output import print_json, print_table, working
from penstock.cli.spark_session import require_spark
from penstock.spark.pipelines.loading import load_pipeline
from penstock.spark.pipelines.model import Pipeline
from penstock.spark.pipelines.problems import PipelineFileError, Problem
from penstock.spark.pipelines.running.analysis import AnalysedFlow, analyse


def load_checked(file: Path, load: Callable[[Path], Pipeline] = load_pipeline) -> Pipeline:
    """The pipeline of a file; its mistakes are printed, one a line, before the command fails."""
    try:
        return load(file)
    except PipelineFileError as error:
        raise invalid(file, error.problems) from error


def invalid(file: Path, problems: Sequence[Problem]) -> CommandFailed:
    """Print the problems to standard error; the failure that ends the command."""
    for problem in problems:
        print(problem, file=sys.stderr)
    count = len(problems)
    return CommandFailed(
        f"{file} has {count} mistake{'' if count == 1 else 's'}.",
        hint="docs/pipelines.md has every key and every step with its options.",
        code=ExitCode.USAGE,
    )


def check_file(file: Path, *, is_analysed: bool, as_json: bool) -> None:
    """Check a file, with Spark if asked, and say what came of it."""
    analysed: list[AnalysedFlow] = []
    problems: Sequence[Problem] = ()
    try:
        pipeline = load_pipeline(file)
        if is_analysed:
            analysed, problems = _analysed(pipeline)
    except PipelineFileError as error:
        problems = error.problems
    if as_json:
        _print_json(file, analysed, problems)
    if problems:
        raise invalid(file, () if as_json else problems) if not as_json else _silent(file, problems)
    if not as_json:
        _print_result(file, pipeline, analysed)


def _analysed(pipeline: Pipeline) -> tuple[list[AnalysedFlow], list[Problem]]:
    require_spark("A pipeline")
    from penstock.spark.pipelines.running.sessions import SessionWishes, start_session
    from penstock.spark.sessions.running import shutdown

    with working("Spark looks at the queries"):
        spark = start_session(pipeline, SessionWishes(master="local[1]", is_short=True))
        try:
            return analyse(spark, pipeline)
        finally:
            shutdown()


def _silent(file: Path, problems: Sequence[Problem]) -> CommandFailed:
    """For programs, the mistakes are in the document on standard output already."""
    count = len(problems)
    return CommandFailed(f"{file} has {count} mistake{'' if count == 1 else 's'}.", code=ExitCode.USAGE)


def _print_result(file: Path, pipeline: Pipeline, analysed: Iterable[AnalysedFlow]) -> None:
    flows = len(pipeline.flows)
    print(f"{file}: pipeline {pipeline.name}, {flows} flow{'' if flows == 1 else 's'}, no mistakes found")
    rows = [(flow.flow, flow.columns) for flow in analysed]
    if rows:
        print_table(("FLOW", "COLUMNS"), rows)


def _print_json(file: Path, analysed: Sequence[AnalysedFlow], problems: Sequence[Problem]) -> None:
    print_json(
        {
            "file": str(file),
            "valid": not problems,
            "flows": {flow.flow: flow.columns for flow in analysed},
            "problems": [
                {
                    "file": problem.place.file,
                    "line": problem.place.line,
                    "column": problem.place.column,
                    "message": problem.message,
                    "hint": problem.hint,
                }
                for problem in problems
            ],
        }
    )
