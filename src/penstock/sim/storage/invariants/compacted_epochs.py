"""Leader epochs of a compacted log: some have no batch left, but no batch has another than the table says."""

from collections.abc import Iterator

from penstock.sim.storage.model import PartitionModel
from penstock.sim.storage.observation import Observation


class EpochsCover:
    """The table gives every served batch the epoch that it carries."""

    name = "leader epochs equal the log"

    def check(self, model: PartitionModel, seen: Observation) -> Iterator[str]:
        """Ask the table about each batch."""
        for header, _ in seen.batches:
            offset = max(header.base_offset, seen.log_start)
            named = [epoch for epoch, start in seen.epochs if start <= offset]
            if not named or named[-1] != header.leader_epoch:
                yield f"the batch at {offset} has epoch {header.leader_epoch}, the table is {seen.epochs}"
