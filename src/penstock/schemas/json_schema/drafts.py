"""Which draft of JSON Schema a schema follows."""

from enum import IntEnum
from typing import Any


class Draft(IntEnum):
    """The drafts in use, the later the larger."""

    DRAFT_4 = 4
    DRAFT_6 = 6
    DRAFT_7 = 7
    DRAFT_2019_09 = 2019
    DRAFT_2020_12 = 2020


_BY_WORD = {
    "draft-04": Draft.DRAFT_4,
    "draft-06": Draft.DRAFT_6,
    "draft-07": Draft.DRAFT_7,
    "2019-09": Draft.DRAFT_2019_09,
    "2020-12": Draft.DRAFT_2020_12,
}


def draft_of(schema: Any) -> Draft:
    """What ``$schema`` says; draft 7 if it says nothing, or what nobody knows."""
    given = schema.get("$schema") if isinstance(schema, dict) else None
    if isinstance(given, str):
        for word, draft in _BY_WORD.items():
            if word in given:
                return draft
    return Draft.DRAFT_7
