"""How a run ended."""

from dataclasses import dataclass


class BrokenPromise(Exception):
    """Something happened that must never happen; the run ends here."""

    def __init__(self, rule: str, what: str) -> None:
        super().__init__(f"{rule}: {what}")
        self.rule = rule
        self.what = what


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One seed's run."""

    seed: int
    #: None when every promise was kept; otherwise the rule and what happened.
    rule: str | None
    what: str
    #: Events handled by nodes.
    steps: int
    messages: int
    faults: int
    elections: int
    #: Offsets that were committed, and proposals that were acknowledged.
    committed: int
    acknowledged: int
    simulated_ms: int
    #: A checksum of everything that happened: equal for equal runs.
    digest: int

    @property
    def is_good(self) -> bool:
        """Whether nothing was broken."""
        return self.rule is None
