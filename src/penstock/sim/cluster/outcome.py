"""How a run ended."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One run of one plan."""

    seed: int
    #: None when every promise was kept; otherwise the rule and what happened.
    rule: str | None
    what: str
    #: How much was simulated.
    simulated_seconds: float
    steps: int
    operations: int
    acknowledged: int
    faults: int
    #: A checksum of everything that happened: equal for equal runs.
    digest: int

    @property
    def is_good(self) -> bool:
        """Whether nothing was broken."""
        return self.rule is None
