"""What must hold after every step, one rule a file: Raft's five safety properties, and what rests on them.

A rule sees one node take one event in, and the orders that follow, before they are carried out. It compares
them with the book, and writes there what later ones will need.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from penstock.raft.events import Event
from penstock.raft.output import Output
from penstock.sim.raft.book import Book
from penstock.sim.raft.process import Process


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What has just happened."""

    process: Process
    event: Event
    output: Output


class Invariant(Protocol):
    """One rule."""

    name: str

    def check(self, book: Book, step: Step) -> Iterator[str]:
        """Each way in which the rule is broken."""
