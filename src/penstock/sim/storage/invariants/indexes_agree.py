"""Indexes lead to the right batch."""

from bisect import bisect_left
from collections.abc import Iterator

from penstock.records.record import decode_records
from penstock.sim.storage.model import PartitionModel
from penstock.sim.storage.observation import Observation


class IndexesAgree:
    """An offset leads to the batch that holds it (or the next), a time to the first record not older."""

    name = "indexes agree with the log"

    def check(self, model: PartitionModel, seen: Observation) -> Iterator[str]:
        """Answer every question by looking at all batches, and compare."""
        if seen.reports_damage:
            return
        ends = [header.last_offset for header, _ in seen.batches]
        for wanted, found in seen.by_offset:
            number = bisect_left(ends, wanted)
            expected = seen.batches[number].header.base_offset if number < len(ends) else None
            if found != expected:
                yield f"offset {wanted} led to the batch at {found}, it stands in the one at {expected}"
        for wanted, found in seen.by_time:
            expected = _first_at(seen, wanted)
            if found != expected:
                yield f"time {wanted} led to offset {found}, the first record of that time is {expected}"


def _first_at(seen: Observation, timestamp: int) -> int | None:
    for header, data in seen.batches:
        if header.max_timestamp < timestamp:
            continue
        for record in decode_records(data, header):
            if record.timestamp >= timestamp and record.offset >= seen.log_start:
                return record.offset
    return None
