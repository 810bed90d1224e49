"""Schemas over several lines, as people write them."""

import json

from penstock.schemas import SchemaKind


def laid_out(kind: str, text: str) -> str:
    """JSON with a line for every part; Protobuf, which has lines of its own, as it is."""
    if kind == SchemaKind.PROTOBUF:
        return text
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text  # Somebody else's registry may have kept what is no schema.
