"""Whether a reader's JSON Schema accepts every document that a writer's does: a proof, place by place.

Everything that the reader demands must follow from what is known of the writer. Where the writer has
alternatives, they are looked at one by one. What cannot be proved counts as refused: rather a schema too many
is called incompatible than one document is lost.

A place that is met within itself is taken for proved, and the proof repeated if that turns out wrong.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from penstock.model.limits import SCHEMA_COMPARISON_STEPS_MAX
from penstock.schemas.errors import TooComplexError
from penstock.schemas.json_schema.arrays import array_reasons
from penstock.schemas.json_schema.drafts import Draft
from penstock.schemas.json_schema.objects import named_properties, object_reasons, property_of, required_names
from penstock.schemas.json_schema.parts import Part, foreign_reference, opened
from penstock.schemas.json_schema.reasons import Found, reason
from penstock.schemas.json_schema.scalars import number_reasons, text_reasons
from penstock.schemas.json_schema.values import type_words, types_of, value_key
from penstock.schemas.json_schema.written import Key, Written, written
from penstock.schemas.json_text import dump_json

Pair = tuple[frozenset[int], Key]


class Inclusion:
    """One attempt at a proof; ``known`` are the pairs of places that an earlier one could not prove."""

    def __init__(self, known: dict[Pair, Found], steps: int = 0) -> None:
        self._known = known
        self._telling_apart: set[tuple[Key, int]] = set()
        self._under_way: set[Pair] = set()
        self._texts: dict[int, str] = {}
        self.steps = steps
        self.seen: dict[Pair, Found] = {}
        self.has_assumed = False

    def refusals(self, reader: Sequence[Part], known: Written, path: str) -> Found:
        """Why a reader's schemas might refuse a value of which that is known; nothing if they never do."""
        parts = opened(reader)
        pair = frozenset(part.key for part in parts), known.key
        if pair in self._under_way:
            self.has_assumed = True
            return self._known.get(pair, [])[:1]
        if pair not in self.seen:
            self._under_way.add(pair)
            self.seen[pair] = self._refusals(parts, known, path)
            self._under_way.discard(pair)
            return self.seen[pair]
        return self.seen[pair][:1]  # All of them have been told; the first says that there are some.

    def is_apart(self, known: Written, part: Part) -> bool:
        """Whether it is certain that a value of which that is known does not fit into a schema."""
        self._count(known)
        question = known.key, part.key
        if question in self._telling_apart:
            return False  # Within itself: nothing is proved by that.
        self._telling_apart.add(question)
        is_apart = self._is_apart(known, written([part]))
        self._telling_apart.discard(question)
        return is_apart

    def _is_apart(self, known: Written, other: Written) -> bool:
        return (
            self._is_plainly_apart(known, other)
            or self._is_excluded(known, other)
            or self._is_excluded(other, known)
            or self._is_apart_in_all_cases(known, other)
        )

    def _is_plainly_apart(self, known: Written, other: Written) -> bool:
        """What is quickly told: by types, by values that are listed, by a property that is surely there."""
        if known.is_nothing() or other.is_nothing() or not known.types() & other.types():
            return True
        mine, others = known.values(), other.values()
        if mine is not None and others is not None:
            keys = {value_key(value) for value in mine}
            if not keys & {value_key(value) for value in others}:
                return True
        return self._is_apart_by_property(known, other)

    def _refusals(self, parts: tuple[Part, ...], known: Written, path: str) -> Found:
        self._count(known, len(parts))
        if known.is_nothing():
            return []
        found = [each for part in parts for each in self._part_reasons(part, known, path)]
        cases = known.cases() if found else None
        if cases is None:
            return found
        return [each for case in cases for each in self.refusals(parts, case, path)]

    def _part_reasons(self, part: Part, known: Written, path: str) -> Found:
        if part.schema is True or self._is_among(part, known):
            return []
        if part.schema is False:
            return reason("TYPE_NARROWED", path, "nothing is accepted here any more; describe it as it was")
        return (
            _foreign_reasons(part, known, path)
            + _type_reasons(part, known, path)
            + _value_reasons(part, known, path)
            + number_reasons(part, known, path)
            + text_reasons(part, known, path)
            + array_reasons(part, known, path, self)
            + object_reasons(part, known, path, self)
            + self._combination_reasons(part, known, path)
        )

    def _combination_reasons(self, part: Part, known: Written, path: str) -> Found:
        found: Found = []
        if part.has("anyOf"):
            found += self._any_reasons(part, known, path)
        if part.has("oneOf"):
            found += self._one_reasons(part, known, path)
        if part.has("not") and not self.is_apart(known, part.at(part.get("not"))):
            message = "what must not fit is more than it was, or was not said before; leave it as it was"
            found += reason("NOT_TYPE_EXTENDED", f"{path}/not", message)
        if part.has("if") and part.side.draft >= Draft.DRAFT_7:
            found += self._condition_reasons(part, known, path)
        return found

    def _any_reasons(self, part: Part, known: Written, path: str) -> Found:
        branches = part.within("anyOf")
        if any(self._is_among(branch, known) for branch in branches):
            return []
        branches = [each for each in branches if not self._is_plainly_apart(known, written([each]))]
        if any(not self.refusals([branch], known, f"{path}/anyOf") for branch in branches):
            return []
        return self._by_case(part, known, path, word="anyOf")

    def _one_reasons(self, part: Part, known: Written, path: str) -> Found:
        if known.cases() is not None:
            return self._by_case(part, known, path, word="oneOf")
        branches = [
            each for each in part.within("oneOf") if not self._is_plainly_apart(known, written([each]))
        ]
        fitting = [each for each in branches if not self.refusals([each], known, f"{path}/oneOf")]
        for branch in fitting:
            if all(other is branch or self.is_apart(known, other) for other in branches):
                return []
        found = self._by_case(part, known, path, word="oneOf")
        if not found or not fitting:
            return found
        message = (
            "a value that fits one of the branches might fit another one too, and would then be refused;"
            " let branches differ by type or by a required property with a const, or use anyOf"
        )
        return reason("ONE_OF_BRANCHES_OVERLAP", f"{path}/oneOf", message)

    def _by_case(self, part: Part, known: Written, path: str, *, word: str) -> Found:
        """No branch takes all values; perhaps each case has one that takes it."""
        cases = known.cases()
        if cases is None and len(known.types()) > 1:
            cases = known.by_type()
        if cases is not None:
            check = self._any_reasons if word == "anyOf" else self._one_reasons
            return [each for case in cases for each in check(part, case, path)]
        message = (
            f"{type_words(known.types())} is written here that no branch of {word} surely accepts; keep"
            " the branch that"
            " did, or add one"
        )
        return reason("SUM_TYPE_NARROWED", f"{path}/{word}", message)

    def _condition_reasons(self, part: Part, known: Written, path: str) -> Found:
        condition = part.at(part.get("if"))
        then, otherwise = part.at(part.schema.get("then", True)), part.at(part.schema.get("else", True))
        is_then = not self.refusals([then], known, f"{path}/then")
        is_else = not self.refusals([otherwise], known, f"{path}/else")
        if is_then and (is_else or not self.refusals([condition], known, f"{path}/if")):
            return []
        if is_else and self.is_apart(known, condition):
            return []
        if any(self._is_same_condition(part, each, known, path) for each in known.parts if each.has("if")):
            return []
        return reason("CONDITION_CHANGED", f"{path}/if", "if, then and else demand more than they did")

    def _is_same_condition(self, part: Part, other: Part, known: Written, path: str) -> bool:
        mine, theirs = part.at(part.get("if")), other.at(other.get("if"))
        if self.refusals([mine], written([theirs]), path) or self.refusals([theirs], written([mine]), path):
            return False
        for word in ("then", "else"):
            promised = replace(known, parts=opened([*known.parts, other.at(other.schema.get(word, True))]))
            if self.refusals([part.at(part.schema.get(word, True))], promised, f"{path}/{word}"):
                return False
        return True

    def _is_excluded(self, known: Written, other: Written) -> bool:
        """Whether what is known not to hold includes all of the other."""
        excluded = [*known.excluded, *(part.at(part.get("not")) for part in known.parts if part.has("not"))]
        return any(not self.refusals([each], other, "#") for each in excluded)

    def _is_apart_by_property(self, known: Written, other: Written) -> bool:
        """Whether a property that is surely there tells the two apart."""
        if known.types() & other.types() != {"object"}:
            return False
        described = named_properties(known) | named_properties(other)
        for name in sorted((required_names(known) | required_names(other)) & described.keys()):
            mine, others = property_of(known, name), property_of(other, name)
            self._count(mine)
            if mine.is_nothing() or any(self.is_apart(mine, part) for part in others.parts):
                return True
        return self._is_closed_against(known, other) or self._is_closed_against(other, known)

    def _is_closed_against(self, known: Written, other: Written) -> bool:
        """Whether one requires a property that the other one refuses."""
        return any(property_of(other, name).is_nothing() for name in required_names(known))

    def _is_apart_in_all_cases(self, known: Written, other: Written) -> bool:
        cases = other.cases()
        if cases is not None and len(other.parts) == 1:
            branches = [part for word in ("oneOf", "anyOf") for part in other.parts[0].within(word)]
            if all(self.is_apart(known, branch) for branch in branches):
                return True
        return False

    def _is_among(self, part: Part, known: Written) -> bool:
        """Whether the writer says the very same."""
        text = self._text(part)
        if '"$' in text:
            return False  # A reference may lead elsewhere.
        return any(
            part.side.draft == each.side.draft and self._text(each) == text
            for each in known.parts
            if isinstance(each.schema, dict)
        )

    def _text(self, part: Part) -> str:
        if part.key not in self._texts:
            self._texts[part.key] = dump_json(part.schema)
        return self._texts[part.key]

    def _count(self, known: Written, asked: int = 1) -> None:
        self.steps += (1 + len(known.parts)) * asked
        if self.steps > SCHEMA_COMPARISON_STEPS_MAX:
            raise TooComplexError


def _foreign_reasons(part: Part, known: Written, path: str) -> Found:
    address = foreign_reference(part)
    if address is None or any(foreign_reference(each) == address for each in known.parts):
        return []
    return reason(
        "SCHEMA_ADDED", f"{path}/$ref", f"values must fit {address}, which they need not have fitted"
    )


def _type_reasons(part: Part, known: Written, path: str) -> Found:
    had, accepted = known.types(), types_of(part.get("type"))
    lost = had - accepted
    if not lost:
        return []
    kind = "TYPE_NARROWED" if had & accepted else "TYPE_CHANGED"
    message = f"{type_words(lost)} is written here and only {type_words(accepted)} accepted; add the type"
    return reason(kind, f"{path}/type", message)


def _value_reasons(part: Part, known: Written, path: str) -> Found:
    for word, accepted in (
        ("enum", part.get("enum")),
        ("const", [part.get("const")] if part.has("const") else None),
    ):
        if accepted is None:
            continue
        keys = {value_key(value) for value in accepted}
        values = known.values()
        lost: list[Any] = [value for value in values or () if value_key(value) not in keys]
        if values is not None and not lost:
            continue
        if values is None:
            message = (
                f"only {len(accepted)} values are accepted where others could be written; leave {word} out"
            )
            return reason("ENUM_ARRAY_NARROWED", f"{path}/{word}", message)
        kind = "ENUM_ARRAY_NARROWED" if len(lost) < len(values) else "ENUM_ARRAY_CHANGED"
        shown = ", ".join(dump_json(value) for value in lost[:5])
        return reason(
            kind, f"{path}/{word}", f"{shown} can be written and is not accepted; keep it in {word}"
        )
    return []
