"""Names of Avro types: what may be one, and which type one means at its place."""

import re
from collections.abc import Container, Mapping
from typing import Any

PRIMITIVES = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
NAMED = frozenset({"record", "error", "enum", "fixed"})
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def full_names(schema: Mapping[str, Any], namespace: str) -> tuple[str, str]:
    """The full name of a named type's definition, and the namespace of the names within it."""
    name: str = schema["name"]
    if "." in name:
        return name, name.rpartition(".")[0]
    own = schema.get("namespace")
    namespace = namespace if own is None else own
    return (f"{namespace}.{name}" if namespace else name), namespace


def meant(name: str, namespace: str, known: Container[str]) -> str:
    """The full name that a name stands for: of its namespace, or else of none."""
    full_name = name if "." in name or not namespace else f"{namespace}.{name}"
    return name if full_name not in known and name in known else full_name


def aliases(schema: Mapping[str, Any], namespace: str) -> tuple[str, ...]:
    """The full names of a type's aliases."""
    return tuple(
        alias if "." in alias or not namespace else f"{namespace}.{alias}"
        for alias in schema.get("aliases", ())
    )


def is_name(text: Any) -> bool:
    """A name without dots, of letters, digits and ``_``."""
    return isinstance(text, str) and NAME.fullmatch(text) is not None


def is_full_name(text: Any) -> bool:
    """Names between dots."""
    return isinstance(text, str) and all(NAME.fullmatch(part) for part in text.split("."))


def defined_names(schema: Any) -> list[str]:
    """The full names of the types that a whole schema is, or that its branches are."""
    if isinstance(schema, list):
        return [name for branch in schema for name in defined_names(branch)]
    is_named = isinstance(schema, dict) and schema.get("type") in ("record", "error", "enum", "fixed")
    return [full_names(schema, "")[0]] if is_named and isinstance(schema.get("name"), str) else []
