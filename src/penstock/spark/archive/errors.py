"""What can be wrong with an archive."""

from penstock.model.errors import OperatingError


class ArchiveError(OperatingError):
    """An archive could not be read or written."""


class DamagedArchiveError(ArchiveError):
    """An archive holds something that nobody can have written on purpose: nothing is changed any more."""
