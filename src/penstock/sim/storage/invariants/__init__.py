"""What must hold after every start, one rule a file.

An invariant only looks: it compares what a log shows with what was promised and says in a sentence what is
wrong. Where a bit was turned over on the disk, rules speak only about what lies before it; that the damage is
noticed has its own rule.
"""

from collections.abc import Iterator
from typing import Protocol

from penstock.sim.storage.invariants.acknowledged_kept import AcknowledgedKept
from penstock.sim.storage.invariants.bytes_unchanged import BytesUnchanged
from penstock.sim.storage.invariants.compacted_epochs import EpochsCover
from penstock.sim.storage.invariants.compacted_offsets import OffsetsAscend
from penstock.sim.storage.invariants.compacted_records import RecordsUnchanged
from penstock.sim.storage.invariants.damage_reported import DamageReported
from penstock.sim.storage.invariants.epochs_agree import EpochsAgree
from penstock.sim.storage.invariants.indexes_agree import IndexesAgree
from penstock.sim.storage.invariants.newest_kept import NewestKept
from penstock.sim.storage.invariants.offsets_contiguous import OffsetsContiguous
from penstock.sim.storage.invariants.producers_agree import ProducersAgree
from penstock.sim.storage.invariants.sequences_once import SequencesOnce
from penstock.sim.storage.model import PartitionModel
from penstock.sim.storage.observation import Observation


class Invariant(Protocol):
    """One rule."""

    name: str

    def check(self, model: PartitionModel, seen: Observation) -> Iterator[str]:
        """Each way in which the rule is broken."""


INVARIANTS: tuple[Invariant, ...] = (
    AcknowledgedKept(),
    OffsetsContiguous(),
    BytesUnchanged(),
    SequencesOnce(),
    ProducersAgree(),
    EpochsAgree(),
    IndexesAgree(),
    DamageReported(),
)

COMPACTED_INVARIANTS: tuple[Invariant, ...] = (
    NewestKept(),
    OffsetsAscend(),
    RecordsUnchanged(),
    ProducersAgree(),
    EpochsCover(),
    IndexesAgree(),
    DamageReported(),
)
"""For compacted topics, where records may be missing, but not just any."""
