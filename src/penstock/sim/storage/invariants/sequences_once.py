"""An idempotent producer's records stand in the log once, in its order."""

from collections.abc import Iterator

from penstock.records.batch import SEQUENCE_MAX
from penstock.sim.storage.model import PartitionModel
from penstock.sim.storage.observation import Observation


class SequencesOnce:
    """Whatever was retried, each sequence follows the one before it."""

    name = "producers' sequences have no gap and no repeat"

    def check(self, model: PartitionModel, seen: Observation) -> Iterator[str]:
        """Follow each producer through the served batches."""
        if model.damages:
            return  # What a log forgot because it could not be read is the disk's fault.
        expected: dict[int, int] = {}
        for header, _ in seen.batches:
            if not header.has_producer_id:
                continue
            wanted = expected.get(header.producer_id, header.base_sequence)
            if header.base_sequence != wanted:
                yield (
                    f"producer {header.producer_id} has sequence {header.base_sequence} at offset "
                    f"{header.base_offset}, expected was {wanted}"
                )
            expected[header.producer_id] = (header.last_sequence + 1) & SEQUENCE_MAX
