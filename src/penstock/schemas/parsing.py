"""A schema's text into a ``ParsedSchema``, by its kind. The one way in: sizes and depths are bounded here."""

from collections.abc import Mapping, Sequence

from penstock.model.limits import SCHEMA_REFERENCES_MAX, SCHEMA_TEXT_LENGTH_MAX
from penstock.schemas.errors import InvalidSchema
from penstock.schemas.schema import Content, ParsedSchema, Reference, SchemaKind


def parse(
    kind: SchemaKind,
    text: str,
    *,
    references: Sequence[Reference] = (),
    resolve: Mapping[str, str] | None = None,
) -> ParsedSchema:
    """A valid schema, or ``InvalidSchema`` with the place and the reason.

    ``resolve`` has the texts of everything that ``references`` lead to, directly or not, by their names.
    """
    resolved = dict(resolve or {})
    _check_sizes(text, references, resolved)
    try:
        content = _content(kind, text, resolved)
        shown = content.text
    except RecursionError as error:
        raise InvalidSchema("The schema is nested too deeply, or refers too far.") from error
    return ParsedSchema(
        kind=kind, text=shown, references=tuple(references), resolved=resolved, content=content
    )


def _check_sizes(text: str, references: Sequence[Reference], resolved: Mapping[str, str]) -> None:
    if len(text) > SCHEMA_TEXT_LENGTH_MAX:
        raise InvalidSchema(
            f"The schema has {len(text)} characters; the limit is {SCHEMA_TEXT_LENGTH_MAX}. Split it with"
            " references."
        )
    if len(resolved) > SCHEMA_REFERENCES_MAX:
        raise InvalidSchema(
            f"The schema refers to {len(resolved)} others, directly or not; the limit is"
            f" {SCHEMA_REFERENCES_MAX}."
        )
    for reference in references:
        if reference.name not in resolved:
            raise InvalidSchema(
                f"Reference {reference.name!r} (version {reference.version} of subject {reference.subject!r})"
                " is not there; register it first."
            )


def _content(kind: SchemaKind, text: str, resolved: Mapping[str, str]) -> Content:
    match kind:
        case SchemaKind.AVRO:
            from penstock.schemas.avro.content import avro_content

            return avro_content(text, resolved)
        case SchemaKind.JSON:
            from penstock.schemas.json_schema.content import json_content

            return json_content(text, resolved)
        case SchemaKind.PROTOBUF:
            from penstock.schemas.protobuf.content import protobuf_content

            return protobuf_content(text, resolved)
