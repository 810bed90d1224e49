"""``penstock pipeline init``: files to start from."""

from collections.abc import Mapping
from pathlib import Path

from penstock.cli.failure import CommandFailed
from penstock.cli.output import print_json
from penstock.model.errors import UsageError
from penstock.spark.pipelines.templates import (
    PYTHON_NAME,
    PYTHON_TEMPLATE,
    YAML_NAME,
    YAML_TEMPLATE,
    declarative_project,
)


def write_template(
    path: Path | None, *, is_python: bool, is_declarative: bool, is_forced: bool, as_json: bool
) -> None:
    """Write the files that were asked for, and say what to do next."""
    if is_python and is_declarative:
        raise UsageError("Give either --python or --sdp; the project of --sdp is in Python anyway.")
    texts = _declarative(path) if is_declarative else _single(path, is_python=is_python)
    _refuse_existing(texts, is_forced=is_forced)
    for target, text in texts.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    if as_json:
        print_json({"written": [str(target) for target in texts]})
        return
    for target in texts:
        print(f"{target}: written")
    print(f"Next: {_next_step(texts, is_declarative=is_declarative)}")


def _single(path: Path | None, *, is_python: bool) -> Mapping[Path, str]:
    target = path or Path(PYTHON_NAME if is_python else YAML_NAME)
    suffixes = (".py",) if is_python else (".yml", ".yaml")
    if target.suffix not in suffixes:
        kind = "--python, and" if is_python else "no --python, but"
        raise UsageError(
            f"{target} does not fit: there is {kind} the file must end in {' or '.join(suffixes)}."
        )
    return {target: PYTHON_TEMPLATE if is_python else YAML_TEMPLATE}


def _declarative(path: Path | None) -> Mapping[Path, str]:
    directory = path or Path("orders-pipeline")
    storage = (directory / "pipeline-storage").resolve().as_uri()
    files = declarative_project(directory.name, storage)
    return {directory / name: text for name, text in files.items()}


def _refuse_existing(texts: Mapping[Path, str], *, is_forced: bool) -> None:
    existing = [target for target in texts if target.exists()]
    if existing and not is_forced:
        raise CommandFailed(
            f"{existing[0]} is already there.", hint="Choose another name, or write over it with --force."
        )


def _next_step(texts: Mapping[Path, str], *, is_declarative: bool) -> str:
    first = next(iter(texts))
    if is_declarative:
        return f"cd {first.parent} && spark-pipelines run --remote 'local[*]'"
    return f"penstock pipeline validate {first}"
