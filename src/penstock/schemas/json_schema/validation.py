"""Whether a document is a JSON Schema: every word that has a meaning has a value that it can have.

Unknown words are let pass, as the drafts demand. Patterns are not compiled: their language is not Python's.
"""

from collections.abc import Callable, Mapping
from typing import Any

from penstock.schemas.errors import InvalidSchema
from penstock.schemas.json_schema.documents import Document, follow, subschemas
from penstock.schemas.json_schema.drafts import Draft, draft_of
from penstock.schemas.json_text import dump_json

TYPES = ("null", "boolean", "object", "array", "number", "string", "integer")
Check = Callable[[Any, Draft], str]
"""Says what a value must be, or nothing if it is that."""


def validate(document: Document, others: Mapping[str, Document]) -> None:
    """Refuse a document that is no schema, with the place, or that refers to what is not there."""
    draft = draft_of(document.schema)
    waiting: list[tuple[Any, Document, str]] = [(document.schema, document, "#")]
    while waiting:
        schema, home, path = waiting.pop()
        if isinstance(schema, bool) and (draft > Draft.DRAFT_4 or path != "#"):
            continue
        if not isinstance(schema, dict):
            raise InvalidSchema(
                f"{path}: a JSON Schema is an object, or true or false, not {_shown(schema)}."
            )
        home = _home(schema, home)
        _check_words(schema, draft, path)
        _check_references(schema, home, others, path=path)
        waiting += [
            (part, home, f"{path}/{way}") for way, part in subschemas(schema) if _is_schema(way, part, draft)
        ]


def _home(schema: dict[str, Any], home: Document) -> Document:
    given = schema.get("$id")
    if not isinstance(given, str) or given.startswith("#") or schema is home.schema:
        return home
    from urllib.parse import urljoin

    return Document(name=home.name, schema=home.schema, base=urljoin(home.base, given.partition("#")[0]))


def _check_words(schema: dict[str, Any], draft: Draft, path: str) -> None:
    for word, check in _CHECKS.items():
        if word in schema:
            wanted = check(schema[word], draft)
            if wanted:
                raise InvalidSchema(f"{path}/{word}: {wanted}, not {_shown(schema[word])}.")


def _check_references(
    schema: dict[str, Any], home: Document, others: Mapping[str, Document], *, path: str
) -> None:
    for word in ("$ref", "$dynamicRef"):
        reference = schema.get(word)
        # A property may well be called $ref; then its value is a schema and no text.
        if isinstance(reference, str) and not _is_of_a_draft(reference):
            try:
                follow(reference, home, others)
            except InvalidSchema as error:
                raise InvalidSchema(f"{path}/{word}: {error}") from error


def _is_of_a_draft(reference: str) -> bool:
    """The drafts' own schemas, which everybody has."""
    return reference.startswith(("http://json-schema.org/", "https://json-schema.org/"))


def _is_schema(way: str, value: Any, draft: Draft) -> bool:
    word, _, rest = way.partition("/")
    if word == "items":
        return True
    if word in ("dependencies", "dependentRequired") and isinstance(value, list):
        return False
    if word in _LISTS or word in _MAPS:
        return bool(rest)
    return word in _SCHEMAS and (draft > Draft.DRAFT_4 or isinstance(value, dict | bool))


_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_MAPS = frozenset(
    {"properties", "patternProperties", "definitions", "$defs", "dependencies", "dependentSchemas"}
)
_SCHEMAS = frozenset(
    {
        *(
            "not",
            "if",
            "then",
            "else",
            "contains",
            "propertyNames",
            "additionalProperties",
            "additionalItems",
        ),
        *("unevaluatedProperties", "unevaluatedItems", "contentSchema"),
    }
)


def _shown(value: Any) -> str:
    return dump_json(value)[:80]


def _count(value: Any, _: Draft) -> str:
    is_count = _is_number(value) and value >= 0 and value == int(value)
    return "" if is_count else "it is a whole number from 0 on"


def _number(value: Any, _: Draft) -> str:
    return "" if _is_number(value) else "it is a number"


def _factor(value: Any, _: Draft) -> str:
    return "" if _is_number(value) and value > 0 else "it is a number above 0"


def _exclusive(value: Any, draft: Draft) -> str:
    if draft is Draft.DRAFT_4:
        return "" if isinstance(value, bool) else "in draft 4 it is true or false"
    return _number(value, draft)


def _text(value: Any, _: Draft) -> str:
    return "" if isinstance(value, str) else "it is a text"


def _truth(value: Any, _: Draft) -> str:
    return "" if isinstance(value, bool) else "it is true or false"


def _object(value: Any, _: Draft) -> str:
    return "" if isinstance(value, dict) else "it is an object"


def _list(value: Any, _: Draft) -> str:
    return "" if isinstance(value, list) else "it is a list"


def _schemas(value: Any, _: Draft) -> str:
    return "" if isinstance(value, list) and value else "it is a list of schemas, one at least"


def _type(value: Any, _: Draft) -> str:
    kinds = value if isinstance(value, list) and value else [value]
    is_known = all(isinstance(kind, str) and kind in TYPES for kind in kinds)
    is_once = is_known and len(set(kinds)) == len(kinds)
    return "" if is_once else f"it is one or several of {', '.join(TYPES)}, each once"


def _names(value: Any, _: Draft) -> str:
    is_names = isinstance(value, list) and all(isinstance(name, str) for name in value)
    return "" if is_names and len(set(value)) == len(value) else "it is a list of names, each once"


def _dependencies(value: Any, draft: Draft) -> str:
    if not isinstance(value, dict):
        return "it is an object"
    return next((_names(each, draft) for each in value.values() if isinstance(each, list)), "")


def _required_names(value: Any, draft: Draft) -> str:
    if not isinstance(value, dict):
        return "it is an object"
    wrong = [wanted for each in value.values() if (wanted := _names(each, draft))]
    return f"each of its members, {wrong[0]}" if wrong else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_CHECKS: dict[str, Check] = {
    "type": _type,
    "required": _names,
    "enum": _list,
    "pattern": _text,
    "multipleOf": _factor,
    "exclusiveMaximum": _exclusive,
    "exclusiveMinimum": _exclusive,
    "uniqueItems": _truth,
    "dependencies": _dependencies,
    "dependentRequired": _required_names,
    "$ref": _text,
    **dict.fromkeys(("maximum", "minimum"), _number),
    **dict.fromkeys(("properties", "patternProperties", "definitions", "$defs", "dependentSchemas"), _object),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), _schemas),
    **dict.fromkeys(
        ("maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"), _count
    ),
    **dict.fromkeys(("maxContains", "minContains"), _count),
}
