"""Offsets of a compacted log ascend, up to its durable end."""

from collections.abc import Iterator
from itertools import pairwise

from penstock.sim.storage.model import PartitionModel
from penstock.sim.storage.observation import Observation


class OffsetsAscend:
    """Batches do not overlap; gaps are only where compaction was; the last batch ends where the log does."""

    name = "offsets ascend"

    def check(self, model: PartitionModel, seen: Observation) -> Iterator[str]:
        """Walk over the served batches."""
        for earlier, later in pairwise(seen.batches):
            start, end = earlier.header.next_offset, later.header.base_offset
            if end < start or (end > start and end > model.untouched_from):
                yield f"the batch at offset {end} follows one that ends before {start}"
        if seen.flushed > seen.log_end or seen.log_start > seen.log_end:
            yield f"start {seen.log_start}, durable end {seen.flushed}, end {seen.log_end} are out of order"
        if seen.batches and seen.batches[-1].header.next_offset != seen.flushed:
            yield f"the last batch does not end where the durable part does, before {seen.flushed}"
        if not seen.batches and seen.log_start < seen.flushed:
            yield f"nothing is served between start {seen.log_start} and durable end {seen.flushed}"
