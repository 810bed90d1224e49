"""What is written down about a sink: whose it is at present, and which batch was decided last.

A ledger is a small text. It is kept beside a committed offset, where at most 4096 bytes fit, so a long one is
cut into chunks. Each says how many there are and of which writing it is, so that chunks of two writings are
never taken for one.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from penstock.model.errors import OperatingError
from penstock.wire_client.producers import ProducerIdentity

CHUNK_BYTES_MAX = 3_800
"""Of the text itself; brokers take 4096 unless told otherwise (offset.metadata.max.bytes)."""

CHUNKS_MAX = 100
"""Enough for about thirty thousand tasks."""

_VERSION = 2
"""The first did not know how many rows a batch has; it was never in a release, and is not read."""


class LedgerError(OperatingError):
    """A ledger that cannot be read or written."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Part:
    """What one task has written of a batch: its transaction, by the identity that wrote it."""

    task: int
    producer: ProducerIdentity


class Holder(NamedTuple):
    """Who may decide, and since when nobody else might."""

    run: str
    """One run of a query, from its start to its end."""
    tenure: str
    """Another one whenever the sink goes from one run to another, also when it comes back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The state of a sink."""

    holder: Holder
    driver: ProducerIdentity
    """Under which the next decision is made."""
    batch: int | None = None
    """The newest batch that was decided, if there is one."""
    record_count: int = 0
    """How many rows that batch has, so that another one of its number is noticed."""
    parts: tuple[Part, ...] = ()
    """Of that batch: exactly these transactions are committed, or will be. None once all of them are known
    to be committed."""

    def has_decided(self, batch: int) -> bool:
        """Whether that very batch was decided."""
        return self.batch == batch

    def part_of(self, task: int) -> Part | None:
        """What a task has written of the newest batch."""
        return next((part for part in self.parts if part.task == task), None)

    def claimed(self, run: str, driver: ProducerIdentity) -> "Ledger":
        """The same sink in the hands of ``run``; its tenure goes on if it had it before."""
        holder = self.holder if run == self.holder.run else Holder(run, _name(driver))
        return replace(self, holder=holder, driver=driver)


def first_ledger(run: str, driver: ProducerIdentity) -> Ledger:
    """Of a sink that nothing is known of."""
    return Ledger(holder=Holder(run, _name(driver)), driver=driver)


def encode_ledger(ledger: Ledger) -> list[str]:
    """The chunks to write down."""
    document = [
        _VERSION,
        *ledger.holder,
        list(ledger.driver),
        ledger.batch,
        ledger.record_count,
        [[part.task, *part.producer] for part in ledger.parts],
    ]
    text = json.dumps(document, separators=(",", ":"))
    pieces = [text[start : start + CHUNK_BYTES_MAX] for start in range(0, len(text), CHUNK_BYTES_MAX)]
    if len(pieces) > CHUNKS_MAX:
        raise LedgerError(
            f"A batch of {len(ledger.parts)} tasks is more than a sink can keep track of: "
            "write with fewer, for example with coalesce(1000)."
        )
    stamp = f"{_name(ledger.driver)}.{ledger.batch}"
    return [f"{len(pieces)} {stamp} {piece}" for piece in pieces]


def chunk_count(first: str) -> int:
    """How many chunks the ledger has whose first chunk this is."""
    try:
        return int(first.split(" ", 1)[0])
    except ValueError as error:
        raise LedgerError(f"What is written down about the sink is no ledger: {first[:80]!r}.") from error


def decode_ledger(chunks: Sequence[str]) -> Ledger | None:
    """The ledger; None if the chunks are of different writings, and must be read again."""
    if len({chunk.split(" ", 2)[1] for chunk in chunks}) > 1:
        return None
    text = "".join(chunk.split(" ", 2)[2] for chunk in chunks)
    try:
        version, *content = json.loads(text)
        if version != _VERSION:
            raise ValueError(f"it is of version {version}, and this Penstock writes version {_VERSION}")
        run, tenure, driver, batch, record_count, parts = content
        return Ledger(
            holder=Holder(run, tenure),
            driver=ProducerIdentity(*driver),
            batch=batch,
            record_count=record_count,
            parts=tuple(_parts(parts)),
        )
    except (ValueError, TypeError) as error:
        raise LedgerError(f"What is written down about the sink cannot be read ({error}).") from error


def _parts(entries: Sequence[Any]) -> Iterator[Part]:
    for task, producer_id, producer_epoch in entries:
        yield Part(task=task, producer=ProducerIdentity(producer_id, producer_epoch))


def _name(driver: ProducerIdentity) -> str:
    """What no other claim is called: every claim is made under an identity of its own."""
    return f"{driver.producer_id}.{driver.producer_epoch}"
