"""How a run ended."""

from dataclasses import dataclass


class BrokenPromise(Exception):
    """Storage did what it must never do; the run ends here."""

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
    operations: int
    starts: int
    faults: int
    #: A checksum of everything that happened: equal for equal runs.
    digest: int

    @property
    def is_good(self) -> bool:
        """Whether nothing was broken."""
        return self.rule is None
