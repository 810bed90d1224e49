"""A rotten bit is noticed, and a sound log is not called rotten."""

from collections.abc import Iterator

from penstock.sim.storage.model import PartitionModel
from penstock.sim.storage.observation import Observation


class DamageReported:
    """Damage to acknowledged bytes is said, and only damage is."""

    name = "damage is reported, and nothing else"

    def check(self, model: PartitionModel, seen: Observation) -> Iterator[str]:
        """See whether the log speaks up exactly when it should."""
        damaged = [damage for damage in model.damages if self._is_inside(damage.offset, model, seen)]
        if not damaged and not model.damages:
            for refusal in seen.refusals:
                yield f"a read at offset {refusal.offset} was refused though nothing rots: {refusal.reason}"
            if seen.offline_reason is not None:
                yield f"the log is offline though nothing rots: {seen.offline_reason}"
        for damage in damaged:
            if not seen.reports_damage and not self._passes_for_torn(damage.offset, model, seen):
                yield (
                    f"byte {damage.position} of {damage.path} rots in the batch at offset {damage.offset}, "
                    f"and nobody said so (the log goes from {seen.log_start} to {seen.log_end})"
                )

    def _passes_for_torn(self, offset: int, model: PartitionModel, seen: Observation) -> bool:
        """A rotten last batch that nobody had noted as durable looks like a torn one, and may be cut."""
        is_last = not any(
            offset < entry.base_offset and entry.next_offset <= model.acknowledged_end
            for entry in model.entries
        )
        is_cut = seen.log_end <= offset and offset >= model.sealed_end and is_last
        return is_cut and (seen.truncation_reported or model.start_was_interrupted)

    def _is_inside(self, offset: int, model: PartitionModel, seen: Observation) -> bool:
        entry = model.entry_at(offset)
        return entry is not None and entry.next_offset > seen.log_start
