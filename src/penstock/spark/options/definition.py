"""What a line of the option tables is: a name, what it takes, where it counts, and one sentence about it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from penstock.model.errors import UsageError

KAFKA_PREFIX = "kafka."
"""What Kafka's own properties begin with, so that they are told from options of the data source."""


class OptionError(UsageError):
    """An option that is unknown, out of place, or set to something that it does not take."""


class Use(StrEnum):
    """What a DataFrame is made for; an option counts in some of these."""

    BATCH_READ = "batch read"
    STREAM_READ = "stream read"
    BATCH_WRITE = "batch write"
    STREAM_WRITE = "stream write"


READS = frozenset({Use.BATCH_READ, Use.STREAM_READ})
WRITES = frozenset({Use.BATCH_WRITE, Use.STREAM_WRITE})
EVERYWHERE = READS | WRITES


class Effect(StrEnum):
    """What becomes of an option that was given."""

    ACTS = "acts"
    IGNORED = "no effect"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What an option takes. ``parse`` raises ``ValueError`` for everything else."""

    name: str
    parse: Callable[[str], Any]
    expected: str
    """Completes the sentence "It takes ..."."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option."""

    name: str
    kind: Kind
    default: str | None
    """As it would be written; None where leaving it out means something of its own."""
    uses: frozenset[Use]
    meaning: str
    effect: Effect = Effect.ACTS
    is_ours: bool = False
    """Whether Spark's Kafka connector knows nothing of it."""
    is_secret: bool = False
    """Whether no message may repeat what was given."""
