"""Compaction keeps the newest value of every key, and deleted keys stay deleted."""

from collections.abc import Iterator

from penstock.records.record import Record, decode_records
from penstock.sim.storage.model import PartitionModel
from penstock.sim.storage.observation import Observation


class NewestKept:
    """Of what was promised and not deleted since, each key's newest record is served.

    A tombstone may be gone, after its time; then nothing older of its key may be there. Where compaction
    has not been, everything is served.
    """

    name = "newest values are kept"

    def check(self, model: PartitionModel, seen: Observation) -> Iterator[str]:
        """Look for each key's newest promised record."""
        yield from self._check_ends(model, seen)
        served = {
            record.offset: record for header, data in seen.batches for record in decode_records(data, header)
        }
        for record in _newest(model):
            if record.offset in served or record.offset < model.log_start:
                continue
            if record.value is not None:
                yield f"the newest record of key {record.key!r}, at offset {record.offset}, is not served"
            elif not model.tombstone_may_be_gone(record.offset):
                yield f"the tombstone of key {record.key!r}, at offset {record.offset}, went too early"
            else:
                yield from self._check_gone(record, served)
        yield from self._check_untouched(model, seen)

    def _check_ends(self, model: PartitionModel, seen: Observation) -> Iterator[str]:
        if seen.log_end < model.acknowledged_end:
            yield f"the log ends at {seen.log_end}, acknowledged was up to {model.acknowledged_end}"
        if seen.log_start > model.log_start:
            yield f"the log begins at {seen.log_start}, nothing from {model.log_start} on was deleted"
        if seen.log_start < model.kept_log_start:
            yield f"the log begins at {seen.log_start}, deleted for good was up to {model.kept_log_start}"

    def _check_gone(self, tombstone: Record, served: dict[int, Record]) -> Iterator[str]:
        for offset, record in served.items():
            if record.key == tombstone.key and offset < tombstone.offset:
                yield f"key {record.key!r} is back: its tombstone is gone, its value at {offset} is served"

    def _check_untouched(self, model: PartitionModel, seen: Observation) -> Iterator[str]:
        served = {batch.header.base_offset for batch in seen.batches}
        start = max(model.untouched_from, model.log_start)
        for entry in model.entries:
            is_promised = start <= entry.base_offset and entry.next_offset <= model.acknowledged_end
            if is_promised and entry.base_offset not in served:
                yield f"the batch at offset {entry.base_offset}, where compaction never was, is not served"


def _newest(model: PartitionModel) -> list[Record]:
    newest: dict[bytes | None, Record] = {}
    for entry in model.entries:
        if entry.next_offset <= model.acknowledged_end:
            newest.update((record.key, record) for record in decode_records(entry.data, entry.header))
    return list(newest.values())
