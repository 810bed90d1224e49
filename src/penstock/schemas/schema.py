"""What a schema is, whatever its kind: a text with what it refers to, and a form by which two are the same.

``ParsedSchema.content`` is what its kind made of the text: a tree of Avro types, documents of JSON,
descriptors.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol

from penstock.schemas.errors import InvalidSchema
from penstock.schemas.incompatibility import Incompatibility


class SchemaKind(StrEnum):
    """How records are written; the values are a registry's ``schemaType``."""

    AVRO = "AVRO"
    JSON = "JSON"
    PROTOBUF = "PROTOBUF"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A schema that another one uses; ``name`` is how its text says so: a type's name, a file, an address."""

    name: str
    subject: str
    version: int


class Content(Protocol):
    """What a kind made of a text."""

    @property
    def text(self) -> str:
        """The text as registries give it back."""

    @property
    def identity(self) -> str:
        """A text in which nothing is left that means nothing: space, comments, ways of writing a name."""

    @property
    def normalized_text(self) -> str:
        """A text in which also the order of what has none is always the same."""

    def formatted_text(self, form: str) -> str:
        """The text in another form, or as it is if this kind does not know the form."""

    def incompatibilities(self, writer: Any) -> list[Incompatibility]:
        """What keeps a reader with this schema from records of a writer; its content is of the same kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedSchema:
    """A valid schema. ``text`` is what registries keep and give back."""

    kind: SchemaKind
    text: str
    references: tuple[Reference, ...] = ()
    resolved: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """The texts of everything that it refers to, directly or not, by the names that references give."""
    content: Content = field(repr=False, compare=False)

    def canonical(self, normalize: bool = False) -> str:
        """By which two schemas of one kind are the same, references included. Not to be parsed again."""
        text = self.content.normalized_text if normalize else self.content.identity
        if not self.references:
            return text
        return f"{text}\n{_written(_in_order(self.references) if normalize else self.references)}"


def normalized(schema: ParsedSchema) -> ParsedSchema:
    """The same schema as ``?normalize=true`` registers it."""
    return replace(schema, text=normalized_text(schema), references=_in_order(schema.references))


def normalized_text(schema: ParsedSchema) -> str:
    """The text that schemas have in common if they differ only in order and in ways of writing."""
    return schema.content.normalized_text


def formatted_text(schema: ParsedSchema, form: str) -> str:
    """As ``?format=`` asks for it.

    ``resolved``: Avro with the types of its references written out; ``serialized``: Protobuf as a descriptor
    in base 64. Any other form, and one that the schema's kind does not have, is its text as it is: registries
    do not refuse forms that are newer than they are.
    """
    try:
        return schema.content.formatted_text(form) if form else schema.text
    except RecursionError as error:
        raise InvalidSchema(f"The schema refers too far to be written as {form!r}.") from error


def _in_order(references: tuple[Reference, ...]) -> tuple[Reference, ...]:
    return tuple(sorted(set(references), key=lambda each: (each.name, each.subject, each.version)))


def _written(references: tuple[Reference, ...]) -> str:
    return json.dumps([[each.name, each.subject, each.version] for each in references])
