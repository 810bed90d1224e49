"""What a replay does, decided once: which offsets, in which chunks.

A replay that is interrupted goes on by the plan that it began with, whatever was archived or produced
meanwhile. Chunk by chunk, each partition goes on by the same share of its offsets, so that they stay about as
far as they were beside each other. A chunk is a function of the plan and a number, so that a chunk that is
tried again is the same.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from penstock.spark.archive.errors import DamagedArchiveError
from penstock.spark.archive.intervals import Interval

FORMAT = 1


class Phase(NamedTuple):
    """What is replayed of one incarnation of a topic; all of it comes before the next."""

    incarnation: int
    ranges: Mapping[int, Interval]
    """By partition; none of them empty."""

    @property
    def size(self) -> int:
        """Offsets in it; records are fewer where there are gaps."""
        return sum(end - start for start, end in self.ranges.values())


class Chunk(NamedTuple):
    """One piece of work: written whole, or not at all."""

    number: int
    phase: Phase
    """The ranges of it that this chunk has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayPlan:
    """All that has to be the same when a replay goes on."""

    source: Mapping[str, Any]
    """What ``Source.identity`` says."""
    target: str
    """The topic that is written to."""
    phases: tuple[Phase, ...]
    chunk_size: int
    """How many offsets of all partitions go together."""
    task_count: int
    """In how many tasks a chunk is written."""
    keeps_partitions: bool
    name: str = ""
    """What the sink knows the replay by; empty in plans of those who did not say."""

    @property
    def size(self) -> int:
        """Offsets of all phases."""
        return sum(phase.size for phase in self.phases)

    @property
    def chunk_count(self) -> int:
        """How many chunks there are."""
        return sum(self._counts())

    def chunk(self, number: int) -> Chunk:
        """A chunk by its number, from 0."""
        before = 0
        for phase, count in zip(self.phases, self._counts(), strict=True):
            if number < before + count:
                return Chunk(number, _share(phase, number - before, count))
            before += count
        raise IndexError(f"There is no chunk {number}, only {before}.")

    def _counts(self) -> list[int]:
        return [-(-phase.size // self.chunk_size) for phase in self.phases]


def encode_plan(plan: ReplayPlan) -> bytes:
    """The file of a plan."""
    phases = [
        {
            "incarnation": phase.incarnation,
            "ranges": {str(number): list(phase.ranges[number]) for number in sorted(phase.ranges)},
        }
        for phase in plan.phases
    ]
    document = {
        "format": FORMAT,
        "source": plan.source,
        "target": plan.target,
        "phases": phases,
        "chunk_size": plan.chunk_size,
        "task_count": plan.task_count,
        "keeps_partitions": plan.keeps_partitions,
        "name": plan.name,
    }
    return (json.dumps(document, indent=1) + "\n").encode()


def decode_plan(data: bytes, *, path: str) -> ReplayPlan:
    """What ``encode_plan`` wrote."""
    document = json.loads(data)
    if document.get("format") != FORMAT:
        raise DamagedArchiveError(
            f"{path} has format {document.get('format')}, and this version of Penstock knows {FORMAT}: "
            "use a newer one."
        )
    return ReplayPlan(
        source=document["source"],
        target=document["target"],
        phases=tuple(
            Phase(
                phase["incarnation"],
                {int(number): Interval(*one) for number, one in phase["ranges"].items()},
            )
            for phase in document["phases"]
        ),
        chunk_size=document["chunk_size"],
        task_count=document["task_count"],
        keeps_partitions=document["keeps_partitions"],
        name=document.get("name", ""),
    )


def replay_name(source: Mapping[str, Any], target: str) -> str:
    """A name for whoever gives none: the same for the same request, so that repeating it goes on with it."""
    request = json.dumps([source, target], sort_keys=True).encode()
    return f"{source['topic']}-{hashlib.sha256(request).hexdigest()[:12]}"


def _share(phase: Phase, number: int, count: int) -> Phase:
    """The part with that number when a phase is cut into ``count`` parts."""
    cut = {
        partition: Interval(
            start + (end - start) * number // count, start + (end - start) * (number + 1) // count
        )
        for partition, (start, end) in phase.ranges.items()
    }
    return Phase(phase.incarnation, {number: one for number, one in cut.items() if not one.is_empty})
