"""What was chosen when a session began: nobody should have to guess why Spark is as it is."""

from dataclasses import dataclass

from penstock.spark.sessions.setting import Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The choices, in words; ``print`` it."""

    session: str
    """Started, found running, or reached elsewhere."""

    java: str = ""
    python: str = ""
    archive: str = ""
    """These three are left empty where they were not for us to choose."""

    settings: tuple[Setting, ...] = ()
    """Ours, and those that we were asked for; what Spark has by itself is not repeated."""

    unapplied: tuple[Setting, ...] = ()
    """Asked for, but too late: Spark, or its Java, was already running."""

    def rows(self) -> list[tuple[str, str, str]]:
        """Name, who chose it, and what."""
        told = {"session": self.session, "java": self.java, "python": self.python, "archive": self.archive}
        rows = [(name, "", text) for name, text in told.items() if text]
        rows += [(each.name, each.origin.value, each.value) for each in self.settings]
        return rows + [(each.name, "not applied", each.value) for each in self.unapplied]

    def summary(self) -> str:
        """One line."""
        text = "; ".join(filter(None, [self.session, self.java, self.archive and f"archive: {self.archive}"]))
        if self.unapplied:
            text += f"; could not be applied any more: {', '.join(map(str, self.unapplied))}"
        return text

    def __str__(self) -> str:
        rows = self.rows()
        widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
        return "\n".join(f"{name:<{widths[0]}}  {who:<{widths[1]}}  {what}" for name, who, what in rows)
