"""No acknowledged batch is lost."""

from collections.abc import Iterator

from penstock.sim.storage.model import PartitionModel
from penstock.sim.storage.observation import Observation


class AcknowledgedKept:
    """Everything promised, and not deleted since, is served."""

    name = "acknowledged records are kept"

    def check(self, model: PartitionModel, seen: Observation) -> Iterator[str]:
        """Look for each promised batch."""
        if model.has_restarted(seen.log_start, seen.log_end):
            return
        end = model.acknowledged_end
        if model.first_damage is not None:
            end = min(end, model.first_damage)
        elif seen.log_end < end:
            yield f"the log ends at {seen.log_end}, acknowledged was up to {end}"
        if seen.log_start > model.log_start:
            yield f"the log begins at {seen.log_start}, nothing from {model.log_start} on was deleted"
        if seen.log_start < model.kept_log_start and not seen.reports_damage:
            yield f"the log begins at {seen.log_start}, deleted for good was up to {model.kept_log_start}"
        served = {batch.header.base_offset for batch in seen.batches}
        for entry in model.entries:
            is_promised = entry.next_offset <= end and entry.next_offset > model.log_start
            if is_promised and entry.base_offset not in served:
                yield f"the acknowledged batch at offset {entry.base_offset} is not served"
