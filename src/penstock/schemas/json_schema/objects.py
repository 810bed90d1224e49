"""Objects: properties by their names, by patterns, and the others; which must be there, and how many.

An object that lets pass properties which it does not name is an *open* content model, one that does not a
*closed* one, and one that demands a schema of them a partially open one. A property can be added to a closed
model, since nobody could have written it, and removed from an open one, since readers let it pass.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from penstock.schemas.json_schema.parts import Part, applied, default_of, is_plain
from penstock.schemas.json_schema.patterns import matches
from penstock.schemas.json_schema.prover import Prover
from penstock.schemas.json_schema.reasons import Found, escaped, reason
from penstock.schemas.json_schema.scalars import least_reasons, most_reasons
from penstock.schemas.json_schema.written import Written, written


def object_reasons(part: Part, known: Written, path: str, prover: Prover) -> Found:
    """Of everything that a reader demands of objects."""
    if "object" not in known.types():
        return []
    names = required_names(known)
    return (
        _property_reasons(part, known, path, prover)
        + _pattern_reasons(part, known, path, prover)
        + _additional_reasons(part, known, path, prover)
        + _required_reasons(part, known, path)
        + _dependency_reasons(part, known, path, prover)
        + _name_reasons(part, known, path, prover)
        + most_reasons(part, known, "maxProperties", path=path, promised=_closed_size(known))
        + least_reasons(part, known, "minProperties", path=path, promised=len(names))
    )


def required_names(known: Written) -> set[str]:
    """The properties that are always there."""
    return {name for names in known.all("required") if isinstance(names, list) for name in names}


def property_of(known: Written, name: str, assumed: Mapping[str, bool] | None = None) -> Written:
    """What is known of a property; ``assumed`` says whether it fits patterns that are not understood."""
    return written([each for part in known.parts for each in _promised(part, name, assumed or {})])


def named_properties(known: Written) -> dict[str, None]:
    """The properties that are named, in order."""
    return {name: None for part in known.parts for name in part.get("properties") or ()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Demand:
    """A schema that a property must fit, the way to it, and what is assumed of patterns where it must."""

    way: str
    wanted: Part
    assumed: Mapping[str, bool] = field(default_factory=dict)


def _fitting(part: Part, name: str) -> dict[str, bool | None]:
    return {pattern: matches(pattern, name) for pattern in part.get("patternProperties") or ()}


def _promised(part: Part, name: str, assumed: Mapping[str, bool]) -> Iterator[Part]:
    """The schemas that a property surely fits."""
    own = part.member("properties", name)
    fitting = {
        pattern: assumed.get(pattern) if fits is None else fits
        for pattern, fits in _fitting(part, name).items()
    }
    if own is not None:
        yield own
    yield from (
        part.at(part.schema["patternProperties"][pattern]) for pattern, fits in fitting.items() if fits
    )
    if own is None and all(fits is False for fits in fitting.values()):
        yield from _others(part, name)


def _demanded(part: Part, name: str) -> Iterator[_Demand]:
    """The schemas that a property must fit, perhaps only if it fits a pattern."""
    own, fitting = part.member("properties", name), _fitting(part, name)
    if own is not None:
        yield _Demand(way=f"properties/{escaped(name)}", wanted=own)
    for pattern, fits in fitting.items():
        if fits is not False:
            wanted = part.at(part.schema["patternProperties"][pattern])
            yield _Demand(way=f"patternProperties/{escaped(pattern)}", wanted=wanted, assumed={pattern: True})
    if own is None and True not in fitting.values():
        assumed = dict.fromkeys(fitting, False)
        for wanted in _demanded_others(part):
            yield _Demand(way=_others_word(part), wanted=wanted, assumed=assumed)


def _others(part: Part, name: str | None = None) -> Iterator[Part]:
    """The schema that a writer's other property of that name surely fits, or all that nothing names."""
    if part.has("additionalProperties"):
        yield part.at(part.get("additionalProperties"))
    elif part.has("unevaluatedProperties") and is_plain(part):
        # Where there are branches, what one of them describes counts as evaluated, and which is not known.
        parts = list(applied([part], surely=True))
        if not any(each.has("additionalProperties") or _may_describe(each, name) for each in parts):
            yield part.at(part.get("unevaluatedProperties"))


def _may_describe(part: Part, name: str | None) -> bool:
    if name is None:
        return False
    patterns = part.get("patternProperties") or ()
    return name in (part.get("properties") or ()) or any(
        matches(each, name) is not False for each in patterns
    )


def _demanded_others(part: Part) -> Iterator[Part]:
    """The schema that other properties must fit; unevaluated ones are those that nothing describes."""
    if part.has("additionalProperties"):
        yield part.at(part.get("additionalProperties"))
    elif part.has("unevaluatedProperties"):
        parts = list(applied([part], surely=True))
        if not any(each.has("additionalProperties") for each in parts):
            yield part.at(part.get("unevaluatedProperties"))


def _others_word(part: Part) -> str:
    return "additionalProperties" if part.has("additionalProperties") else "unevaluatedProperties"


def _surely_named(part: Part, name: str) -> bool:
    """Whether a property is described by something beside this part, so that it counts as evaluated."""
    return any(
        name in (each.get("properties") or ())
        or any(matches(pattern, name) for pattern in each.get("patternProperties") or ())
        for each in applied([part], surely=True)
    )


def _property_reasons(part: Part, known: Written, path: str, prover: Prover) -> Found:
    found: Found = []
    for name in {**named_properties(known), **dict.fromkeys(part.get("properties") or ())}:
        for demand in _demanded(part, name):
            if demand.way == "unevaluatedProperties" and _surely_named(part, name):
                continue
            value, here = property_of(known, name, demand.assumed), f"{path}/{demand.way}"
            refusals = prover.refusals([demand.wanted], value, here)
            if refusals:
                found += _one_property(part, known, name, wanted=demand.wanted, path=here, refusals=refusals)
    return found


def _one_property(
    part: Part, known: Written, name: str, *, wanted: Part, path: str, refusals: Found
) -> Found:
    is_read, is_written = name in (part.get("properties") or ()), _is_named(known, name)
    if is_read and is_written:
        return refusals
    if is_read and not property_of(known, name).parts:
        return _added_to_open(part, name, path)
    if is_read:
        message = f"property {name!r} is new and is narrower than what other properties were"
        return reason("PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", path, message) + refusals
    if wanted.schema is False:
        message = (
            f"property {name!r} is gone, and additional properties are refused; keep it, or let them pass"
        )
        return reason("PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL", path, message)
    message = (
        f"property {name!r} is gone, and other properties must fit a schema that it need not fit; keep it"
    )
    return reason("PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", path, message)


def _added_to_open(part: Part, name: str, path: str) -> Found:
    is_required = name in (part.get("required") or ())
    own = part.member("properties", name)
    has_default = is_required and own is not None and default_of(own)
    kind = {
        (True, True): "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL",
        (True, False): "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
    }.get((is_required, has_default), "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL")
    message = (
        f"property {name!r} is new, and whoever wrote before may have put anything under that name, since"
        " additional"
        " properties were accepted; close the older schema with additionalProperties: false, or describe"
        " the new"
        " property as true"
    )
    return reason(kind, path, message)


def _pattern_reasons(part: Part, known: Written, path: str, prover: Prover) -> Found:
    found: Found = []
    for pattern, wanted in part.named("patternProperties").items():
        here = f"{path}/patternProperties/{escaped(pattern)}"
        same = [
            each.named("patternProperties")[pattern] for each in known.parts if _has_pattern(each, pattern)
        ]
        values = [written(same)] if same else _unnamed(known)
        if any(prover.refusals([wanted], value, here) for value in values):
            message = (
                f"properties that fit {pattern!r} are narrower than they were; leave the pattern as it was"
            )
            found += reason("PATTERN_PROPERTY_NARROWED", here, message)
    return found


def _has_pattern(part: Part, pattern: str) -> bool:
    return pattern in (part.get("patternProperties") or ())


def _unnamed(known: Written, but: Iterable[str] = ()) -> list[Written]:
    """What is known of properties that nothing names: of those that fit no pattern, and of each pattern's."""
    plain = written([each for part in known.parts for each in _others(part)])
    patterns: dict[str, list[Part]] = {}
    for part in known.parts:
        for pattern, each in part.named("patternProperties").items():
            patterns.setdefault(pattern, []).append(each)
    return [plain, *(written(parts) for pattern, parts in patterns.items() if pattern not in but)]


def _additional_reasons(part: Part, known: Written, path: str, prover: Prover) -> Found:
    for wanted in _demanded_others(part):
        word = _others_word(part)
        here = f"{path}/{word}"
        values = _unnamed(known, part.get("patternProperties") or ())
        if all(not prover.refusals([wanted], value, here) for value in values):
            continue
        name = "ADDITIONAL_PROPERTIES" if word == "additionalProperties" else "UNEVALUATED_PROPERTIES"
        kind = f"{name}_REMOVED" if wanted.schema is False else f"{name}_NARROWED"
        message = (
            f"properties that the schema does not name were accepted more widely; leave {word} as it was"
        )
        return reason(kind, here, message)
    return []


def _is_named(known: Written, name: str) -> bool:
    return any(name in (part.get("properties") or ()) for part in known.parts)


def _is_open(known: Written) -> bool:
    return not any(part.has("additionalProperties") for part in known.parts)


def _required_reasons(part: Part, known: Written, path: str) -> Found:
    found: Found = []
    promised = required_names(known)
    for name in part.get("required") or ():
        own = part.member("properties", name)
        if name in promised or (own is not None and default_of(own)):
            continue
        if _is_named(known, name):
            kind = "REQUIRED_ATTRIBUTE_ADDED"
        else:
            kind = f"REQUIRED_PROPERTY_ADDED_TO_{'OPEN' if _is_open(known) else 'UNOPEN'}_CONTENT_MODEL"
        message = f"property {name!r} is required and was not; leave it optional, or give it a default"
        found += reason(kind, f"{path}/required/{escaped(name)}", message)
    return found


def _dependencies(part: Part) -> dict[str, list[str] | Part]:
    """What must hold if a property is there: other properties, or a schema."""
    found: dict[str, list[str] | Part] = {}
    for word in ("dependencies", "dependentRequired", "dependentSchemas"):
        for name, value in (part.get(word) or {}).items():
            found[f"{word}/{name}"] = value if isinstance(value, list) else part.at(value)
    return found


def _dependency_reasons(part: Part, known: Written, path: str, prover: Prover) -> Found:
    found: Found = []
    for way, wanted in _dependencies(part).items():
        name, here = way.partition("/")[2], f"{path}/{way}"
        if property_of(known, name).is_nothing():
            continue
        had = [
            value
            for each in known.parts
            for other, value in _dependencies(each).items()
            if other.endswith(f"/{name}")
        ]
        if isinstance(wanted, list):
            promised = required_names(known) | {
                each for value in had if isinstance(value, list) for each in value
            }
            if not set(wanted) <= promised | {name}:
                kind = "DEPENDENCY_ARRAY_EXTENDED" if had else "DEPENDENCY_ARRAY_ADDED"
                found += reason(
                    kind, here, f"with {name!r} there must be properties that need not have been there"
                )
        elif prover.refusals(
            [wanted], written([*known.parts, *(v for v in had if isinstance(v, Part))]), here
        ):
            message = f"with {name!r} there, the object must fit a schema that it need not have fitted"
            found += reason("DEPENDENCY_SCHEMA_ADDED", here, message)
    return found


def _name_reasons(part: Part, known: Written, path: str, prover: Prover) -> Found:
    if not part.has("propertyNames") or _closed_size(known) == 0:
        return []
    here = f"{path}/propertyNames"
    promised = written(
        [each.at(each.get("propertyNames")) for each in known.parts if each.has("propertyNames")]
    )
    if not prover.refusals([part.at(part.get("propertyNames"))], promised, here):
        return []
    return reason(
        "PROPERTY_NAMES_NARROWED", here, "names of properties must fit what they need not have fitted"
    )


def _closed_size(known: Written) -> int | None:
    """How many properties there can be at most because others are forbidden."""
    sizes = [
        len(part.get("properties") or ())
        for part in known.parts
        if part.get("additionalProperties") is False and not part.get("patternProperties")
    ]
    return min(sizes, default=None)
