"""What compaction leaves is what was appended."""

from collections.abc import Iterator

from penstock.records.record import decode_records
from penstock.sim.storage.model import Entry, PartitionModel
from penstock.sim.storage.observation import Observation, Seen


class RecordsUnchanged:
    """Each served record stands where it was appended, with key, value and time, in its producer's batch."""

    name = "served records are appended records"

    def check(self, model: PartitionModel, seen: Observation) -> Iterator[str]:
        """Compare each served batch with the book."""
        yield from seen.nonsense
        entries = {entry.base_offset: entry for entry in model.entries}
        for batch in seen.batches:
            offset = batch.header.base_offset
            entry = entries.get(offset)
            if entry is None:
                yield f"a batch is served at offset {offset}, none was appended there"
            elif offset >= model.untouched_from and entry.data != batch.data:
                yield f"the batch at offset {offset} has other bytes, though compaction never was there"
            else:
                yield from self._compare(entry, batch)

    def _compare(self, entry: Entry, batch: Seen) -> Iterator[str]:
        kept = ("last_offset_delta", "leader_epoch", "producer_id", "producer_epoch", "base_sequence")
        for name in kept:
            before, after = getattr(entry.header, name), getattr(batch.header, name)
            if before != after:
                yield f"the batch at offset {entry.base_offset} has {name} {after}, it had {before}"
        appended = {record.offset: record for record in decode_records(entry.data, entry.header)}
        for record in decode_records(batch.data, batch.header):
            before = appended.get(record.offset)
            if before != record:
                yield f"the record at offset {record.offset} is {record}, it was {before}"
