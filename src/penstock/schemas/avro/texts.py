"""An Avro schema's JSON as one text: the one that registries give back, and others that are asked for.

Attributes stand in one order, names are as short as their namespace lets them be, and what a definition may
leave out is left out, as Avro's own libraries write schemas. What nobody knows the meaning of is kept.
"""

from collections.abc import Container, Mapping
from typing import Any

from penstock.schemas.avro.names import NAMED, PRIMITIVES, full_names, meant
from penstock.schemas.json_text import dump_json

_SCHEMA_WORDS = frozenset(
    {"type", "name", "namespace", "doc", "fields", "items", "values", "size", "symbols", "aliases"}
)
_FIELD_WORDS = frozenset({"name", "type", "doc", "default", "order", "aliases"})


def canonical_text(schema: Any, known: Container[str]) -> str:
    """The text of a schema; ``known`` are the full names that it and its references define."""
    return dump_json(_Writer(known, {}).written(schema, ""))


def resolved_text(schema: Any, known: Container[str], definitions: Mapping[str, Any]) -> str:
    """The text of a schema with the types of its references written out where they are used first."""
    return dump_json(_Writer(known, definitions).written(schema, ""))


def normalized_text(schema: Any, known: Container[str]) -> str:
    """The canonical text with everything that has no order in one order."""
    return canonical_text(_ordered(schema), known)


class _Writer:
    """Knows which definitions of references are still to be written."""

    def __init__(self, known: Container[str], definitions: Mapping[str, Any]) -> None:
        self._known = known
        self._definitions = dict(definitions)

    def written(self, schema: Any, namespace: str) -> Any:
        """A part of the schema where names without dots are of a namespace."""
        if isinstance(schema, str):
            return self._name(schema, namespace)
        if isinstance(schema, list):
            return [self.written(branch, namespace) for branch in schema]
        match schema["type"]:
            case str(kind) if kind in NAMED:
                return self._named(schema, namespace)
            case "array":
                return {"type": "array", "items": self.written(schema["items"], namespace), **_more(schema)}
            case "map":
                return {"type": "map", "values": self.written(schema["values"], namespace), **_more(schema)}
            case str(kind) if kind in PRIMITIVES:
                more = _more(schema)
                return {"type": kind, **more} if more else kind
            case inner:
                return self.written(inner, namespace)

    def _name(self, name: str, namespace: str) -> Any:
        if name in PRIMITIVES:
            return name
        full_name = meant(name, namespace, self._known)
        if full_name in self._definitions:
            return self.written(_qualified(self._definitions.pop(full_name), full_name), namespace)
        return _short(full_name, namespace)

    def _named(self, schema: dict[str, Any], namespace: str) -> dict[str, Any]:
        full_name, inner = full_names(schema, namespace)
        space, _, name = full_name.rpartition(".")
        self._definitions.pop(full_name, None)
        shown: dict[str, Any] = {"type": schema["type"], "name": name}
        if space != namespace:
            shown["namespace"] = space
        if schema.get("doc") is not None:
            shown["doc"] = schema["doc"]
        shown |= self._body(schema, inner)
        shown |= {word: value for word, value in _more(schema).items() if word not in shown}
        if schema.get("aliases"):
            shown["aliases"] = [_short(alias, space) for alias in schema["aliases"]]
        return shown

    def _body(self, schema: dict[str, Any], namespace: str) -> dict[str, Any]:
        match schema["type"]:
            case "enum":
                default = {"default": schema["default"]} if schema.get("default") is not None else {}
                return {"symbols": schema["symbols"], **default}
            case "fixed":
                return {"size": schema["size"]}
        return {"fields": [self._field(field, namespace) for field in schema["fields"]]}

    def _field(self, field: dict[str, Any], namespace: str) -> dict[str, Any]:
        shown = {"name": field["name"], "type": self.written(field["type"], namespace)}
        if field.get("doc") is not None:
            shown["doc"] = field["doc"]
        if "default" in field:
            shown["default"] = field["default"]
        if field.get("order", "ascending").lower() != "ascending":
            shown["order"] = field["order"].lower()
        if field.get("aliases"):
            shown["aliases"] = field["aliases"]
        return shown | {word: value for word, value in field.items() if word not in _FIELD_WORDS}


def _short(full_name: str, namespace: str) -> str:
    space, _, name = full_name.rpartition(".")
    return name if space == namespace and name not in PRIMITIVES else full_name


def _qualified(definition: dict[str, Any], full_name: str) -> dict[str, Any]:
    """A definition out of another schema, with the name it has there."""
    space, _, name = full_name.rpartition(".")
    return {**definition, "name": name, "namespace": space}


def _more(schema: dict[str, Any]) -> dict[str, Any]:
    return {word: value for word, value in schema.items() if word not in _SCHEMA_WORDS}


def _ordered(schema: Any) -> Any:
    """Aliases and unknown attributes sorted; the order of fields, symbols and branches means something."""
    if isinstance(schema, list):
        return [_ordered(branch) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    shown = {word: schema[word] for word in sorted(schema, key=_place)}
    for word in ("type", "items", "values"):
        if word in shown and not isinstance(shown[word], str):
            shown[word] = _ordered(shown[word])
    if isinstance(shown.get("fields"), list):
        shown["fields"] = [_ordered(field) for field in shown["fields"]]
    if shown.get("aliases"):
        shown["aliases"] = sorted(set(shown["aliases"]))
    if not shown.get("doc", "-"):
        del shown["doc"]
    return shown


def _place(word: str) -> tuple[bool, str]:
    return word != "logicalType", word
