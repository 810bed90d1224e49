"""Below the high watermark all replicas of a partition are equal, byte for byte (I6, I15)."""

from collections.abc import Generator, Iterator
from zlib import crc32

from penstock.records.batch import split_batches
from penstock.sim.checkers.watching import Key, Look, PartitionView, Place


class LogsEqual:
    """Remembers every committed batch, and reads each replica once, as far as it calls itself committed.

    A process that starts is read from the beginning: what recovery made of the log must be the same, too. Of
    a compacted log only what no pass of anybody has touched is the same everywhere: who copies from a leader
    gets what its passes have left.
    """

    rule = "replicas are equal below the high watermark"

    def __init__(self) -> None:
        self._batches: dict[Key, dict[int, tuple[str, int]]] = {}
        self._reached: dict[Place, int] = {}
        #: Up to where anybody has compacted a partition.
        self._cleaned: dict[Key, int] = {}

    def look(self, look: Look) -> Iterator[str]:
        """Read on in every log."""
        for view in look.partitions:
            self._cleaned[view.key] = max(self._cleaned.get(view.key, 0), view.cleaned_offset)
        for view in look.partitions:
            if not view.is_leaving:
                reached = max(self._reached.get(view.place, 0), self._cleaned[view.key])
                self._reached[view.place] = yield from self._read_on(view, reached)

    def _read_on(self, view: PartitionView, reached: int) -> Generator[str, None, int]:
        position = max(view.log_start_offset, reached)
        known = self._batches.setdefault(view.key, {})
        while position < view.high_watermark:
            data = view.read(position, view.high_watermark)
            after = position
            for start, header in split_batches(data):
                checksum = crc32(data[start : start + header.size_bytes])
                first, expected = known.setdefault(header.base_offset, (view.node, checksum))
                if checksum != expected:
                    yield f"{view.name}@{header.base_offset} differs between {first} and {view.node}"
                after = header.next_offset
            if after == position:
                break
            position = after
        return position
