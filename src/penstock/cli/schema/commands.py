"""``penstock schema list|show|register|check|diff|delete|config|mode|export|import``."""

from typing import Annotated, Any

import typer

from penstock.cli.failure import ExitCode
from penstock.cli.options import Json, examples, new_app
from penstock.cli.output import print_json, print_table
from penstock.cli.schema.asking import (
    DEFAULT_REGISTRY,
    RegistryClient,
    RegistryUrl,
    subject_path,
)
from penstock.cli.schema.files import References, SchemaFile, SchemaType, pretty, request_body

Subject = Annotated[str, typer.Argument(metavar="SUBJECT", help="The subject, such as orders-value.")]
Version = Annotated[str, typer.Option("--version", metavar="N", help="A version, or latest.")]
ForSubject = Annotated[str, typer.Option("--subject", metavar="SUBJECT", help="The subject to compare with.")]
Normalize = Annotated[bool, typer.Option("--normalize", help="Order and ways of writing do not matter.")]

schema_app = new_app(
    "Register, compare, show and move schemas.",
    "penstock schema register orders-value order.avsc",
    "penstock schema check order.avsc --subject orders-value",
)


def attach(app: typer.Typer) -> None:
    """Add the group to the tree; its other commands are in modules of their own."""
    from penstock.cli.schema.settings import add_settings
    from penstock.cli.schema.transfer import add_transfer

    add_settings(schema_app)
    add_transfer(schema_app)
    app.add_typer(schema_app, name="schema")


@schema_app.command(
    "list", epilog=examples("penstock schema list", "penstock schema list --prefix orders --deleted --json")
)
def list_schemas(
    prefix: Annotated[str, typer.Option("--prefix", help="Only subjects that begin like this.")] = ":*:",
    deleted: Annotated[bool, typer.Option("--deleted", help="Show what is deleted softly, too.")] = False,
    registry: RegistryUrl = DEFAULT_REGISTRY,
    as_json: Json = False,
) -> None:
    """List subjects with their versions."""
    query = {} if prefix == ":*:" else {"subjectPrefix": prefix}
    found = RegistryClient(registry).get("/schemas", deleted=deleted, **query)
    subjects: dict[str, list[dict[str, Any]]] = {}
    for schema in found:
        subjects.setdefault(schema["subject"], []).append(schema)
    if as_json:
        print_json([_summary(name, versions) for name, versions in subjects.items()])
    elif subjects:
        rows = [_row(name, versions) for name, versions in subjects.items()]
        print_table(("SUBJECT", "TYPE", "VERSIONS", "LATEST ID"), rows, numbers=(3,))


@schema_app.command(
    epilog=examples(
        "penstock schema show orders-value", "penstock schema show orders-value --version 2 --json"
    )
)
def show(
    subject: Subject,
    version: Version = "latest",
    deleted: Annotated[bool, typer.Option("--deleted", help="Also if it is deleted softly.")] = False,
    registry: RegistryUrl = DEFAULT_REGISTRY,
    as_json: Json = False,
) -> None:
    """Show one version of a subject."""
    found = RegistryClient(registry).get(subject_path(subject, "versions", version), deleted=deleted)
    if as_json:
        print_json(found)
        return
    kind = found.get("schemaType", "AVRO")
    state = ", deleted" if found.get("deleted") else ""
    print(f"{found['subject']} version {found['version']}, id {found['id']}, {kind.lower()}{state}")
    for reference in found.get("references") or ():
        print(f"uses {reference['name']}: {reference['subject']} version {reference['version']}")
    print(f"\n{pretty(found['schema'], kind)}")


@schema_app.command(
    epilog=examples(
        "penstock schema register orders-value order.avsc",
        "penstock schema register orders-value order.proto --reference shop/line.proto=line:1",
    )
)
def register(
    subject: Subject,
    file: SchemaFile,
    kind: SchemaType = None,
    reference: References = None,
    normalize: Normalize = False,
    registry: RegistryUrl = DEFAULT_REGISTRY,
    as_json: Json = False,
) -> None:
    """Make a file's schema the newest version of a subject, unless it is a version already."""
    body = request_body(file, kind, reference)
    told = RegistryClient(registry).post(subject_path(subject, "versions"), body, normalize=normalize)
    if as_json:
        print_json(told)
    else:
        version = f" version {told['version']}," if "version" in told else ""
        print(f"{subject}:{version} id {told['id']}")


@schema_app.command(
    epilog=examples(
        "penstock schema check order.avsc --subject orders-value",
        "penstock schema check order.avsc --subject orders-value --version 1",
    )
)
def check(
    file: SchemaFile,
    subject: ForSubject,
    version: Annotated[
        str | None,
        typer.Option("--version", metavar="N", help="One version alone; unless given, as register."),
    ] = None,
    kind: SchemaType = None,
    reference: References = None,
    registry: RegistryUrl = DEFAULT_REGISTRY,
    as_json: Json = False,
) -> None:
    """Tell whether a file's schema could be registered, and if not, which field is in the way.

    Ends with 1 if it could not.
    """
    path = f"/compatibility{subject_path(subject, 'versions', *([version] if version else []))}"
    told = RegistryClient(registry).post(path, request_body(file, kind, reference), verbose=True)
    if as_json:
        print_json(told)
    elif told["is_compatible"]:
        print(f"{file} is compatible with {subject}")
    else:
        print(f"{file} is not compatible with {subject}:")
        for message in told.get("messages") or ():
            print(f"  {message}")
    if not told["is_compatible"]:
        raise typer.Exit(ExitCode.FAILED)


@schema_app.command(
    epilog=examples("penstock schema diff orders-value", "penstock schema diff orders-value --from 1 --to 3")
)
def diff(
    subject: Subject,
    old: Annotated[
        str | None, typer.Option("--from", metavar="N", help="Unless given, the version before --to.")
    ] = None,
    new: Annotated[str, typer.Option("--to", metavar="N", help="A version, or latest.")] = "latest",
    registry: RegistryUrl = DEFAULT_REGISTRY,
    as_json: Json = False,
) -> None:
    """Show what changed between two versions, line by line, and whether they are compatible."""
    from penstock.cli.schema.difference import compare, print_difference

    compared = compare(RegistryClient(registry), subject, old=old, new=new)
    if as_json:
        print_json(compared.as_json())
    else:
        print_difference(compared)


@schema_app.command(
    epilog=examples(
        "penstock schema delete orders-value",
        "penstock schema delete orders-value --version 1 --permanent",
    )
)
def delete(
    subject: Subject,
    version: Annotated[
        str | None, typer.Option("--version", metavar="N", help="One version; unless given, all.")
    ] = None,
    permanent: Annotated[
        bool, typer.Option("--permanent", help="For good; it must be deleted softly before.")
    ] = False,
    registry: RegistryUrl = DEFAULT_REGISTRY,
    as_json: Json = False,
) -> None:
    """Delete a subject or a version, softly: who knows its id can still read what was written with it."""
    path = subject_path(subject, *(["versions", version] if version else []))
    told = RegistryClient(registry).delete(path, permanent=permanent or None)
    versions = told if isinstance(told, list) else [told]
    if as_json:
        print_json({"subject": subject, "versions": versions, "permanent": permanent})
    else:
        word = "deleted for good" if permanent else "deleted"
        print(f"{subject}: {word}, version {', '.join(map(str, versions))}")


def _summary(subject: str, versions: list[dict[str, Any]]) -> dict[str, Any]:
    latest = versions[-1]
    return {
        "subject": subject,
        "type": latest.get("schemaType", "AVRO"),
        "versions": [each["version"] for each in versions],
        "deleted": [each["version"] for each in versions if each.get("deleted")],
        "latest_id": latest["id"],
    }


def _row(subject: str, versions: list[dict[str, Any]]) -> tuple[object, ...]:
    summary = _summary(subject, versions)
    numbers = (f"({each})" if each in summary["deleted"] else str(each) for each in summary["versions"])
    return subject, summary["type"].lower(), ", ".join(numbers), summary["latest_id"]
