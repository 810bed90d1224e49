"""Whatever is served is what was appended there, byte for byte."""

from collections.abc import Iterator

from penstock.sim.storage.model import PartitionModel
from penstock.sim.storage.observation import Observation


class BytesUnchanged:
    """No batch comes back that never was, or that was cut away, or with other bytes."""

    name = "served bytes are appended bytes"

    def check(self, model: PartitionModel, seen: Observation) -> Iterator[str]:
        """Compare each served batch with the book."""
        yield from seen.nonsense
        entries = {entry.base_offset: entry for entry in model.entries}
        for batch in seen.batches:
            entry = entries.get(batch.header.base_offset)
            if entry is None:
                yield f"a batch is served at offset {batch.header.base_offset}, none was appended there"
            elif entry.data != batch.data:
                yield f"the batch at offset {entry.base_offset} is served with other bytes than it had"
