"""What may go wrong with writing exactly once, beyond what may go wrong with writing at all."""

from penstock.model.errors import OperatingError


class ExactlyOnceError(OperatingError):
    """A batch that cannot be written exactly once; nothing was committed that should not be."""


class StaleRunError(ExactlyOnceError):
    """Another run writes to the same sink by now, and this one must not go on."""


class LostPartError(ExactlyOnceError):
    """Part of a batch that was decided is not there."""
