"""Documents of JSON Schema, and where a ``$ref`` in one leads: into itself, or into one that is kept for it.

Addresses are the names that references give, the ``$id`` of documents and of schemas within them, and what
those make of a relative address. Nothing is ever fetched.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urljoin

from penstock.schemas.errors import InvalidSchema
from penstock.schemas.json_text import load_json

_PLAIN_VALUES = frozenset({"enum", "const", "default", "examples"})
"""What is below these words is no schema, whatever it looks like."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A schema with the name that others call it by, and the address that its references are relative to."""

    name: str
    schema: Any
    base: str = ""


def documents(text: str, references: Mapping[str, str]) -> tuple[Document, dict[str, Document]]:
    """The schema itself, and all of them by their names, their ``$id`` and their anchors."""
    main = _document("", text)
    known = {name: _document(name, other) for name, other in references.items()}
    known |= {document.name: document for document in [main]}
    for document in list(known.values()):
        for address, part in _addressed(document):
            known.setdefault(address, part)
    return main, known


def follow(reference: str, document: Document, others: Mapping[str, Document]) -> tuple[Document, str, Any]:
    """The document that a reference leads into, the address of the place in it, and the schema there."""
    for whole in (f"{document.base}{reference}", urljoin(document.base, reference)):
        if whole.partition("#")[2] and whole in others:  # An anchor.
            return others[whole], whole, others[whole].schema
    address, _, pointer = reference.partition("#")
    home = document if not address else others.get(address) or others.get(urljoin(document.base, address))
    if home is None:
        known = [name for name in others if name and "#" not in name]
        raise InvalidSchema(
            f"JSON Schema refers to {address!r}, none of its references: {', '.join(known) or 'none'}."
        )
    return _at(home, pointer, reference)


def subschemas(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What may be schemas directly below one, each with the way to it."""
    for word, value in schema.items():
        if word in _PLAIN_VALUES:
            continue
        if isinstance(value, list):
            yield from ((f"{word}/{index}", item) for index, item in enumerate(value))
        elif isinstance(value, dict) and word in _MAPS:
            yield from ((f"{word}/{name}", item) for name, item in value.items())
        else:
            yield word, value


_MAPS = frozenset(
    {"properties", "patternProperties", "definitions", "$defs", "dependencies", "dependentSchemas"}
)
"""Words with schemas under names of the author's choice."""


def _at(home: Document, pointer: str, reference: str) -> tuple[Document, str, Any]:
    schema, base = home.schema, home.base
    for word in [part for part in pointer.split("/") if part]:
        key = unquote(word).replace("~1", "/").replace("~0", "~")
        try:
            schema = schema[int(key)] if isinstance(schema, list) else schema[key]
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise InvalidSchema(f"JSON Schema has nothing at {reference!r}.") from error
        base = urljoin(base, _id_of(schema))
    within = home if base == home.base else Document(name=home.name, schema=home.schema, base=base)
    return within, f"{home.name}#{pointer}", schema


def _document(name: str, text: str) -> Document:
    schema = load_json(text, "a JSON Schema")
    return Document(name=name, schema=schema, base=_id_of(schema) or name)


def _id_of(schema: Any) -> str:
    """The address that a schema gives itself; draft 4 calls it ``id``."""
    if not isinstance(schema, dict):
        return ""
    given = schema.get("$id", schema.get("id"))
    return given.partition("#")[0] if isinstance(given, str) else ""


def _addressed(document: Document) -> Iterator[tuple[str, Document]]:
    """Every schema of a document that has an address of its own."""
    waiting = [(document.schema, document.base)]
    while waiting:
        schema, base = waiting.pop()
        if not isinstance(schema, dict):
            continue
        base = urljoin(base, _id_of(schema))
        if _id_of(schema):
            yield (
                base,
                Document(name=document.name if schema is document.schema else base, schema=schema, base=base),
            )
        for anchor in _anchors(schema):
            yield f"{base}#{anchor}", Document(name=document.name, schema=schema, base=base)
        waiting += [(part, base) for _, part in subschemas(schema)]


def _anchors(schema: dict[str, Any]) -> list[str]:
    named = [schema.get("$anchor"), schema.get("$dynamicAnchor")]
    given = schema.get("$id")
    if isinstance(given, str) and given.startswith("#"):
        named.append(given[1:])  # As drafts 6 and 7 spell it.
    return [name for name in named if isinstance(name, str) and name]
