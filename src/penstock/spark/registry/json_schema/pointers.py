"""Where a ``$ref`` of a JSON Schema leads.

Into its own document, or into one that the registry keeps for it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from penstock.spark.registry.errors import SchemaUnsupportedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A schema with the name that others call it by."""

    name: str
    schema: Any


def documents(text: str, references: Mapping[str, str]) -> tuple[Document, dict[str, Document]]:
    """The schema itself, and all of them by their names and their ``$id``."""
    main = _document("", text)
    known = {name: _document(name, other) for name, other in references.items()}
    known |= {document.name: document for document in [main]}
    for document in list(known.values()):
        if isinstance(document.schema, dict) and isinstance(document.schema.get("$id"), str):
            known.setdefault(document.schema["$id"].rstrip("#"), document)
    return main, known


def follow(reference: str, document: Document, others: Mapping[str, Document]) -> tuple[Document, str, Any]:
    """The document that a reference leads into, the address of the place in it, and the schema there."""
    address, _, pointer = reference.partition("#")
    home = document if not address else others.get(address)
    if home is None:
        known = [name for name in others if name]
        raise SchemaUnsupportedError(
            f"JSON Schema refers to {address!r}, none of its references: {', '.join(known) or 'none'}."
        )
    schema = home.schema
    for word in [part for part in pointer.split("/") if part]:
        key = unquote(word).replace("~1", "/").replace("~0", "~")
        try:
            schema = schema[int(key)] if isinstance(schema, list) else schema[key]
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise SchemaUnsupportedError(f"JSON Schema has nothing at {reference!r}.") from error
    return home, f"{home.name}#{pointer}", schema


def _document(name: str, text: str) -> Document:
    try:
        return Document(name=name, schema=json.loads(text))
    except ValueError as error:
        raise SchemaUnsupportedError(f"This is no JSON Schema ({error}): {text[:80]}") from error
