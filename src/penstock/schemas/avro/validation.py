"""What the specification asks of an Avro schema beyond having types: names, unions, symbols, orders.

Asked of schemas that somebody registers. Who reads records must take schemas as they are.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from penstock.schemas.avro.names import NAMED, PRIMITIVES, full_names, is_full_name, is_name
from penstock.schemas.errors import InvalidSchema

ORDERS = ("ascending", "descending", "ignore")


def validate(schema: Any, namespace: str = "", path: str = "") -> None:
    """Refuse a schema that parses and yet is none; ``path`` is the way to this part of it."""
    if isinstance(schema, list):
        _validate_union(schema, namespace, path)
    elif isinstance(schema, dict):
        match schema["type"]:
            case str(kind) if kind in NAMED:
                _validate_named(schema, namespace, path)
            case "array":
                validate(schema["items"], namespace, f"{path}/items")
            case "map":
                validate(schema["values"], namespace, f"{path}/values")
            case dict() | list() as inner:
                validate(inner, namespace, f"{path}/type")


def _validate_union(branches: list[Any], namespace: str, path: str) -> None:
    seen: set[str] = set()
    for index, branch in enumerate(branches):
        here = f"{path}/{index}"
        kind = _branch_kind(branch, namespace)
        if kind == "union":
            raise InvalidSchema(
                f"{here}: a union directly within a union; put its branches into the outer one."
            )
        if kind in seen:
            raise InvalidSchema(f"{here}: the union has two branches of {kind}; a type is there once.")
        seen.add(kind)
        validate(branch, namespace, here)


def _branch_kind(branch: Any, namespace: str) -> str:
    """What a value's branch is told by: the kind of a type, or its name if it has one."""
    if isinstance(branch, list):
        return "union"
    if isinstance(branch, dict):
        kind = branch["type"]
        if kind in ("array", "map"):
            return str(kind)
        is_named = isinstance(kind, str) and kind in NAMED
        return full_names(branch, namespace)[0] if is_named else _branch_kind(kind, namespace)
    if branch in PRIMITIVES or "." in branch or not namespace:
        return str(branch)
    return f"{namespace}.{branch}"


def _validate_named(schema: dict[str, Any], namespace: str, path: str) -> None:
    where = path or "/"
    if not is_full_name(schema["name"]):
        raise InvalidSchema(f"{where}: {schema['name']!r} is no Avro name; letters, digits and _ only.")
    if schema["name"] in PRIMITIVES:
        raise InvalidSchema(f"{where}: a type cannot be named {schema['name']!r}, which is a type already.")
    own = schema.get("namespace")
    if own and not is_full_name(own):
        raise InvalidSchema(f"{where}: {own!r} is no namespace; names of letters, digits and _ between dots.")
    _check_names(schema.get("aliases", ()), "alias", where, is_full=True)
    match schema["type"]:
        case "enum":
            _validate_symbols(schema, where)
        case "record" | "error":
            _validate_fields(schema, full_names(schema, namespace)[1], path)


def _validate_symbols(schema: dict[str, Any], where: str) -> None:
    symbols = schema["symbols"]
    _check_names(symbols, "symbol", where)
    _check_once(symbols, "symbol", where)
    if "default" in schema and schema["default"] not in symbols:
        raise InvalidSchema(
            f"{where}: the default {schema['default']!r} of enum {schema['name']} is none of its symbols:"
            f" {', '.join(symbols)}."
        )


def _validate_fields(schema: dict[str, Any], namespace: str, path: str) -> None:
    fields = schema["fields"]
    _check_once([field["name"] for field in fields], f"field of {schema['name']}", path or "/")
    for index, field in enumerate(fields):
        here = f"{path}/fields/{index}"
        _check_names([field["name"]], "field", here)
        _check_names(field.get("aliases", ()), "alias", here)
        order = field.get("order", ORDERS[0])
        if not isinstance(order, str) or order.lower() not in ORDERS:
            raise InvalidSchema(f"{here}: the order {order!r} is none of {', '.join(ORDERS)}.")
        validate(field["type"], namespace, f"{here}/type")


def _check_names(names: Iterable[Any], what: str, where: str, *, is_full: bool = False) -> None:
    for name in names:
        if not (is_full_name(name) if is_full else is_name(name)):
            raise InvalidSchema(f"{where}: {what} {name!r} is no Avro name; letters, digits and _ only.")


def _check_once(names: list[str], what: str, where: str) -> None:
    name, count = Counter(names).most_common(1)[0] if names else ("", 0)
    if count > 1:
        raise InvalidSchema(f"{where}: {what} {name!r} is there {count} times.")
