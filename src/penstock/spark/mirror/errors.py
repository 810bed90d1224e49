"""What can be wrong with a mirror."""

from penstock.client import PenstockClientError
from penstock.model.errors import OperatingError


class MirrorError(OperatingError):
    """A mirror cannot begin, or cannot go on."""


PASSING_ERRORS = (PenstockClientError, MirrorError)
"""With which a look at topics and groups may fail while the stream runs. Brokers may answer the next one; if
not, or if a topic is gone for good, the stream fails by itself, and says why."""
