"""``penstock schema export`` and ``penstock schema import``: a whole registry in one file.

A registry that is not ours is exported through the API that all have, and comes out as the same file.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.failure import CommandFailed
from penstock.cli.options import Json, examples
from penstock.cli.output import print_json
from penstock.cli.progress import advancing
from penstock.cli.schema.asking import (
    DEFAULT_REGISTRY,
    RegistryClient,
    RegistryRefusal,
    RegistryUrl,
    quoted,
)
from penstock.cli.words import counted

PART_ENTRIES_MAX = 200
PART_BYTES_MAX = 1024 * 1024
TRIED_ENTRIES_MAX = 1_000
_NOT_SERVED = (404, 405, 40400)


def add_transfer(app: typer.Typer) -> None:
    """Add both commands to the group."""
    app.command(
        "export",
        epilog=examples(
            "penstock schema export --output schemas.jsonl",
            "penstock schema export --registry http://confluent:8081 --output schemas.jsonl",
        ),
    )(export_schemas)
    app.command(
        "import",
        epilog=examples(
            "penstock schema import schemas.jsonl", "penstock schema import schemas.jsonl --dry-run"
        ),
    )(import_schemas)


def export_schemas(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Unless given, standard output.")
    ] = None,
    registry: RegistryUrl = DEFAULT_REGISTRY,
) -> None:
    """Write everything a registry has into one file: also deleted versions, settings and modes."""
    entries = list(exported(RegistryClient(registry)))
    try:
        with nullcontext(sys.stdout) if output is None else output.open("w") as file:
            for entry in entries:
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
    except OSError as error:
        raise CommandFailed(
            f"Cannot write {str(output)!r}: {(error.strerror or str(error)).lower()}."
        ) from error
    if output is not None:
        schema_count = sum(entry["type"] == "schema" for entry in entries)
        print(f"{output}: {counted(schema_count, 'version')}, {counted(len(entries), 'entry')}")


def import_schemas(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What export wrote.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done.")] = False,
    registry: RegistryUrl = DEFAULT_REGISTRY,
    as_json: Json = False,
) -> None:
    """Bring an export into a registry, ids and versions kept; what is there already is skipped."""
    client, entries = RegistryClient(registry), _read(file)
    if dry_run and len(entries) > TRIED_ENTRIES_MAX:
        raise CommandFailed(
            f"--dry-run looks at {TRIED_ENTRIES_MAX} entries at most; there are {len(entries)}."
        )
    added = unchanged = 0
    with advancing("importing schemas", len(entries)) as advance:
        # What refers to an earlier part cannot be tried without it, so what is only tried is one part.
        for part in [entries] if dry_run else _parts(entries):
            told = client.post("/penstock/schemas/import", {"entries": part}, dryRun=dry_run)
            added += told["added"]
            unchanged += told["unchanged"]
            advance(len(part))
    if as_json:
        print_json({"added": added, "unchanged": unchanged, "dry_run": dry_run})
    else:
        print(f"{added} {'would be ' if dry_run else ''}added, {unchanged} there already")


def exported(client: RegistryClient) -> Iterator[dict[str, Any]]:
    """The entries of any registry."""
    try:
        text = client.text("GET", "/penstock/schemas/export")
    except RegistryRefusal as refusal:
        if refusal.error_code not in _NOT_SERVED:
            raise
        yield from _asked_one_by_one(client)
        return
    for line in text.splitlines():
        yield json.loads(line)


def _asked_one_by_one(client: RegistryClient) -> Iterator[dict[str, Any]]:
    schemas = client.get("/schemas", deleted=True, subjectPrefix=":*:")
    yield {"type": "registry", "format": 1, "highestIds": {}}
    for schema in _in_order(schemas):
        left_out = {"guid", "ts", *(["schemaType"] if schema.get("schemaType") == "AVRO" else [])}
        kept = {key: value for key, value in schema.items() if key not in left_out}
        yield {"type": "schema", "deleted": False, **kept}
    yield {"type": "config", "subject": None, "config": client.get("/config")}
    subjects = sorted({schema["subject"] for schema in schemas})
    with advancing("reading settings", len(subjects)) as advance:
        for subject in subjects:
            if config := _own(client, f"/config{quoted(subject)}"):
                yield {"type": "config", "subject": subject, "config": config}
            if mode := _own(client, f"/mode{quoted(subject)}"):
                yield {"type": "mode", "subject": subject, **mode}
            advance(1)


def _in_order(schemas: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every schema after those it refers to; what refers to something that is not there comes last."""
    ordered: list[dict[str, Any]] = []
    placed: set[tuple[str, int]] = set()
    waiting = sorted(schemas, key=lambda each: each["id"])
    while waiting:
        ready = [each for each in waiting if _references(each) <= placed] or waiting
        ordered += ready
        placed |= {(each["subject"], each["version"]) for each in ready}
        waiting = [each for each in waiting if each not in ready]
    return ordered


def _references(schema: dict[str, Any]) -> set[tuple[str, int]]:
    """Places of references; names without a context are meant in that of the schema."""
    subject = schema["subject"]
    context = f":{subject[1:].partition(':')[0]}:" if subject.startswith(":.") else ""
    return {
        (each["subject"] if each["subject"].startswith(":.") else context + each["subject"], each["version"])
        for each in schema.get("references") or ()
    }


def _own(client: RegistryClient, path: str) -> dict[str, Any] | None:
    try:
        own: dict[str, Any] = client.get(path)
    except RegistryRefusal as refusal:
        if refusal.error_code // 100 != 404:
            raise
        return None
    return own


def _read(file: Path) -> list[dict[str, Any]]:
    try:
        entries = [json.loads(line) for line in file.read_text().splitlines() if line.strip()]
    except OSError as error:
        raise CommandFailed(
            f"Cannot read {str(file)!r}: {(error.strerror or str(error)).lower()}."
        ) from error
    except ValueError as error:
        raise CommandFailed(f"{str(file)!r} is no export of a registry: {error}.") from error
    if not entries or not isinstance(entries[0], dict) or entries[0].get("type") != "registry":
        raise CommandFailed(f"{str(file)!r} is no export of a registry: its first line does not say so.")
    return entries


def _parts(entries: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    part: list[dict[str, Any]] = []
    size = 0
    for entry in entries:
        entry_bytes = len(json.dumps(entry))
        if part and (len(part) == PART_ENTRIES_MAX or size + entry_bytes > PART_BYTES_MAX):
            yield part
            part, size = [], 0
        part.append(entry)
        size += entry_bytes
    if part:
        yield part
