"""What deciding on a request comes to."""

from dataclasses import dataclass

from penstock.transactions.metadata import TransactionMetadata
from penstock.wire.schema import Struct


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The next values of transactional ids, and the answer for when they are committed."""

    values: tuple[TransactionMetadata, ...] = ()
    response: Struct
