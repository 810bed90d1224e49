"""What a shard answers with: records to append, replies to send, orders to carry out. In that order.

The contract between a shard and the shell that drives it:

1. The shell gives the shard an event, or the time, and gets an ``Outcome``.
2. It appends ``records`` to the shard's partition as one batch and replays them into the shard at once,
   before the shard is given anything else.
3. It sends ``replies`` and carries out ``effects`` when everything that was appended for this shard so far,
   by this outcome *and by earlier ones*, is committed. An outcome without records may rest on records of an
   earlier one that are still on their way to the disk; to answer it at once would promise what a crash takes
   back.
4. If a batch cannot be appended, the shard is thrown away and loaded from the log again.
"""

from dataclasses import dataclass

from penstock.model.errors import InvariantError
from penstock.wire.schema import Struct


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorRecord:
    """A key and value exactly as they go into the internal topic; without a value, a tombstone."""

    key: bytes
    value: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer to the request that came with this token. Every token is answered exactly once."""

    token: int
    response: Struct


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerEpoch:
    """A producer at one of its epochs."""

    producer_id: int
    producer_epoch: int


class Effect:
    """The base of orders to the shell that are neither records nor replies."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What follows from one event; outcomes of parts of it are added up."""

    #: All or none of them go into the log.
    records: tuple[CoordinatorRecord, ...] = ()
    #: To be sent only when the records of this and of all earlier outcomes are committed.
    replies: tuple[Reply, ...] = ()
    #: Append the records as a transactional batch of this producer: they count once its transaction commits.
    transaction: ProducerEpoch | None = None
    #: To be carried out when replies may be sent.
    effects: tuple[Effect, ...] = ()

    def __add__(self, other: "Outcome") -> "Outcome":
        """Both, the first one first."""
        if self is NOTHING:
            return other
        if other is NOTHING:
            return self
        if self.records and other.records and self.transaction != other.transaction:
            raise InvariantError("records inside and outside of a transaction cannot share a batch")
        return Outcome(
            records=self.records + other.records,
            replies=self.replies + other.replies,
            transaction=self.transaction or other.transaction,
            effects=self.effects + other.effects,
        )


NOTHING = Outcome()
"""Nothing follows."""


def answer(token: int, response: Struct) -> Outcome:
    """A reply and nothing else."""
    return Outcome(replies=(Reply(token=token, response=response),))
