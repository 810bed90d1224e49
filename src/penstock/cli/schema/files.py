"""Schemas in files: of which kind they are, and what they refer to."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.failure import CommandFailed, ExitCode

SUFFIXES = {".avsc": "AVRO", ".avro": "AVRO", ".json": "JSON", ".jsonschema": "JSON", ".proto": "PROTOBUF"}

SchemaFile = Annotated[Path, typer.Argument(metavar="FILE", help="A schema; - is standard input.")]
SchemaType = Annotated[
    str | None,
    typer.Option("--type", metavar="TYPE", help="avro, json or protobuf; unless given, by the file's name."),
]
References = Annotated[
    list[str] | None,
    typer.Option(
        "--reference", metavar="NAME=SUBJECT:VERSION", help="A schema that the file uses; repeatable."
    ),
]


def request_body(file: Path, kind: str | None, references: Sequence[str] | None) -> dict[str, Any]:
    """The body with which a file is registered or compared."""
    body: dict[str, Any] = {"schema": _text(file), "schemaType": _kind(file, kind)}
    if references:
        body["references"] = [_reference(each) for each in references]
    return body


def pretty(text: str, kind: str) -> str:
    """A schema for people: JSON with a line for each part."""
    if kind == "PROTOBUF":
        return text.rstrip("\n")
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text


def _text(file: Path) -> str:
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise CommandFailed(f"Cannot read {str(file)!r}: {(reason or str(error)).lower()}.") from error


def _kind(file: Path, kind: str | None) -> str:
    found = kind.upper() if kind is not None else SUFFIXES.get(file.suffix.lower())
    if found is None or found not in SUFFIXES.values():
        raise CommandFailed(
            f"Of which kind is {str(file)!r}?" if kind is None else f"There is no type {kind!r}.",
            hint="Give --type avro, --type json or --type protobuf.",
            code=ExitCode.USAGE,
        )
    return found


def _reference(text: str) -> dict[str, Any]:
    name, has_name, rest = text.partition("=")
    subject, has_version, version = rest.rpartition(":")
    if not (has_name and has_version and version.isdecimal()):
        raise CommandFailed(
            f"--reference {text!r} is not of the form NAME=SUBJECT:VERSION.", code=ExitCode.USAGE
        )
    return {"name": name, "subject": subject, "version": int(version)}
