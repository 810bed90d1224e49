"""Arrays: items by their places, the others, how many, and what must be among them."""

from dataclasses import dataclass
from typing import Any

from penstock.schemas.json_schema.drafts import Draft
from penstock.schemas.json_schema.parts import Part, applied, is_plain
from penstock.schemas.json_schema.prover import Prover
from penstock.schemas.json_schema.reasons import Found, reason
from penstock.schemas.json_schema.scalars import least_reasons, most_reasons
from penstock.schemas.json_schema.written import Written, written


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Schemas of the first items, and that of all others if there is one; where both are written."""

    part: Part
    first: list[Any]
    rest: Part | None
    first_word: str
    rest_word: str

    def at(self, index: int) -> Part:
        """The schema of one of the first items."""
        return self.part.at(self.first[index])


def array_reasons(part: Part, known: Written, path: str, prover: Prover) -> Found:
    """Of everything that a reader demands of arrays."""
    if "array" not in known.types():
        return []
    single = None if known.least("maxItems") is None or known.least("maxItems") > 1 else 1
    return (
        _item_reasons(_shape(part), known, path, prover)
        + _unevaluated_reasons(part, known, path, prover)
        + most_reasons(part, known, "maxItems", path=path, promised=_closed_length(known))
        + least_reasons(part, known, "minItems", path=path)
        + (_unique_reasons(part, known, path) if single is None else [])
        + _contains_reasons(part, known, path, prover)
    )


def _shape(part: Part) -> Shape:
    """Before 2020-12 ``items`` is a list or a schema, and ``additionalItems`` goes with the list."""
    items = part.get("items")
    if part.side.draft >= Draft.DRAFT_2020_12 and not isinstance(items, list):
        rest = part.at(items) if part.has("items") else None
        return Shape(
            part=part,
            first=part.get("prefixItems") or [],
            rest=rest,
            first_word="prefixItems",
            rest_word="items",
        )
    if isinstance(items, list):
        rest = part.at(part.get("additionalItems")) if part.has("additionalItems") else None
        return Shape(part=part, first=items, rest=rest, first_word="items", rest_word="additionalItems")
    rest = part.at(items) if part.has("items") else None
    return Shape(part=part, first=[], rest=rest, first_word="items", rest_word="items")


def _item_at(known: Written, index: int | None) -> Written:
    """What is known of the item at a place, or of those after all places that are described."""
    parts = []
    for shape in map(_shape, known.parts):
        if index is not None and index < len(shape.first):
            parts.append(shape.at(index))
        elif shape.rest is not None:
            parts.append(shape.rest)
    for part in known.parts:
        parts += _unevaluated(part, index)
    return written(parts)


def _unevaluated(part: Part, index: int | None) -> list[Part]:
    """The schema that an item surely fits because nothing else describes it."""
    if not part.has("unevaluatedItems") or not is_plain(part):
        return []
    others = list(applied([part], surely=True))
    shapes = [_shape(each) for each in others]
    is_described = any(shape.rest is not None or (index or 0) < len(shape.first) for shape in shapes)
    if any(each.has("contains") for each in others) or (is_described and index is not None):
        return []
    return [] if any(shape.rest is not None for shape in shapes) else [part.at(part.get("unevaluatedItems"))]


def _closed_length(known: Written) -> int | None:
    """How many items there can be at most because further ones are forbidden."""
    lengths = [
        len(shape.first)
        for shape in map(_shape, known.parts)
        if shape.rest is not None and shape.rest.schema is False
    ]
    return min(lengths, default=None)


def _places(known: Written) -> int:
    return max((len(_shape(each).first) for each in known.parts), default=0)


def _item_reasons(shape: Shape, known: Written, path: str, prover: Prover) -> Found:
    longest = known.least("maxItems")
    found: Found = []
    count = max(len(shape.first), _places(known))
    for index in range(count):
        if longest is not None and index >= longest:
            return found
        wanted = shape.at(index) if index < len(shape.first) else shape.rest
        way = f"{shape.first_word}/{index}" if index < len(shape.first) else shape.rest_word
        if wanted is not None:
            found += _place_reasons(wanted, _item_at(known, index), f"{path}/{way}", prover)
    if shape.rest is not None and (longest is None or longest > count):
        found += _place_reasons(shape.rest, _item_at(known, None), f"{path}/{shape.rest_word}", prover)
    return found


def _place_reasons(wanted: Part, item: Written, path: str, prover: Prover) -> Found:
    found = prover.refusals([wanted], item, path)
    if not found:
        return []
    if wanted.schema is False:
        return reason(
            "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL", path, "there are no items here any more; let them pass"
        )
    if not item.parts:
        message = "items here could be anything and now have a schema; leave it open, or describe it as true"
        return reason("ITEM_ADDED_TO_OPEN_CONTENT_MODEL", path, message)
    return found


def _unevaluated_reasons(part: Part, known: Written, path: str, prover: Prover) -> Found:
    """``unevaluatedItems`` concerns the items that nothing else surely describes."""
    if not part.has("unevaluatedItems") or part.get("unevaluatedItems") is True:
        return []
    shapes = [_shape(each) for each in applied([part], surely=True)]
    if any(shape.rest is not None for shape in shapes):
        return []
    count = max(len(shape.first) for shape in shapes)
    here = f"{path}/unevaluatedItems"
    wanted = part.at(part.get("unevaluatedItems"))
    items = [_item_at(known, index) for index in range(count, _places(known))] + [_item_at(known, None)]
    longest = known.least("maxItems")
    if (longest is not None and longest <= count) or all(
        not prover.refusals([wanted], each, here) for each in items
    ):
        return []
    kind = "UNEVALUATED_ITEMS_REMOVED" if wanted.schema is False else "UNEVALUATED_ITEMS_NARROWED"
    return reason(kind, here, "items that nothing else describes are no longer accepted; let them pass")


def _unique_reasons(part: Part, known: Written, path: str) -> Found:
    if part.get("uniqueItems") is not True or True in known.all("uniqueItems"):
        return []
    return reason(
        "UNIQUE_ITEMS_ADDED", f"{path}/uniqueItems", "equal items were accepted; leave uniqueItems out"
    )


def _contains_reasons(part: Part, known: Written, path: str, prover: Prover) -> Found:
    if not part.has("contains"):
        return []
    here = f"{path}/contains"
    wanted, least = part.at(part.get("contains")), _least_contained(part)
    alike = [each for each in known.parts if each.has("contains")]
    has_enough = any(
        _least_contained(each) >= least
        and not prover.refusals([wanted], written([each.at(each.get("contains"))]), here)
        for each in alike
    )
    is_all = (known.greatest("minItems") or 0) >= least and not any(
        prover.refusals([wanted], item, here)
        for item in [*(_item_at(known, index) for index in range(_places(known))), _item_at(known, None)]
    )
    found = _too_many_reasons(part, known, path, prover)
    if least == 0 or has_enough or is_all:
        return found
    message = f"{least} items at least must fit a schema that they need not have fitted; leave contains out"
    kind = "MIN_CONTAINS_INCREASED" if alike else "MIN_CONTAINS_ADDED"
    return found + reason(kind, here, message)


def _least_contained(part: Part) -> int:
    least = part.get("minContains")
    return 1 if least is None or part.side.draft < Draft.DRAFT_2019_09 else int(least)


def _too_many_reasons(part: Part, known: Written, path: str, prover: Prover) -> Found:
    most = part.get("maxContains")
    if most is None or part.side.draft < Draft.DRAFT_2019_09:
        return []
    longest = known.least("maxItems")
    contained = written([part.at(part.get("contains"))])
    is_kept = any(
        each.get("maxContains") is not None
        and each.get("maxContains") <= most
        and not prover.refusals([each.at(each.get("contains"))], contained, path)
        for each in known.parts
        if each.has("contains")
    )
    if is_kept or (longest is not None and longest <= most):
        return []
    had = known.least("maxContains")
    kind = "MAX_CONTAINS_ADDED" if had is None else "MAX_CONTAINS_DECREASED"
    return reason(
        kind, f"{path}/maxContains", f"maxContains is {most}; leave it out, or no smaller than it was"
    )
