"""Which transaction protocol a request speaks. Both are served side by side, request by request.

In the first (TV0 and TV1, the same to a coordinator) the client names every partition before it writes to it,
and keeps its epoch from one transaction to the next. In the second (TV2, KIP-890) the leaders name them, and
every end of a transaction raises the epoch, so that nothing sent during one transaction can be taken for a
part of the next.
"""

from enum import IntEnum

_END_TXN_TV2 = 5
_ADD_PARTITIONS_TV2 = 4


class TransactionVersion(IntEnum):
    """The number that records and markers carry."""

    TV0 = 0
    TV1 = 1
    TV2 = 2

    @property
    def raises_epoch(self) -> bool:
        """Whether the end of a transaction raises the epoch."""
        return self >= TransactionVersion.TV2


def version_of_end_txn(api_version: int) -> TransactionVersion:
    """What an EndTxn of this version speaks."""
    return TransactionVersion.TV2 if api_version >= _END_TXN_TV2 else TransactionVersion.TV0


def version_of_add_partitions(api_version: int) -> TransactionVersion:
    """What an AddPartitionsToTxn of this version speaks: from 4 on it is leaders who ask, for TV2 clients."""
    return TransactionVersion.TV2 if api_version >= _ADD_PARTITIONS_TV2 else TransactionVersion.TV0
