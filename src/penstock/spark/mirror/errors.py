"""What can be wrong with a mirror."""

from penstock.model.errors import OperatingError


class MirrorError(OperatingError):
    """A mirror cannot begin, or cannot go on."""
