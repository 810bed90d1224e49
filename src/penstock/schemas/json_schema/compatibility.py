"""Whether documents of one JSON Schema are accepted by another: reasons in the words of Confluent's registry.

The rules are those of its strict mode, and stricter where documents would be refused in spite of it: a branch
is added to ``oneOf`` only if it excludes the others. As there, a required property may be added if it has a
default.
"""

from collections.abc import Mapping

from penstock.schemas.incompatibility import Incompatibility
from penstock.schemas.json_schema.documents import Document
from penstock.schemas.json_schema.inclusion import Inclusion, Pair
from penstock.schemas.json_schema.parts import root_part
from penstock.schemas.json_schema.reasons import Found
from penstock.schemas.json_schema.written import written

Schema = tuple[Document, Mapping[str, Document]]


def json_incompatibilities(*, reader: Schema, writer: Schema) -> list[Incompatibility]:
    """Every place where a reader might refuse what a writer's schema accepts."""
    asked, known = root_part(*reader), written([root_part(*writer)])
    unproved: dict[Pair, Found] = {}
    steps = 0
    while True:
        attempt = Inclusion(unproved, steps)
        found = attempt.refusals([asked], known, "#")
        refused = {pair: reasons for pair, reasons in attempt.seen.items() if reasons}
        if not attempt.has_assumed or refused.keys() == unproved.keys():
            return list(dict.fromkeys(found))
        unproved, steps = refused, attempt.steps
