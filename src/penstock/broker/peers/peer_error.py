"""A peer that did not answer."""

from penstock.model.errors import OperatingError


class PeerError(OperatingError):
    """There is no answer. If the question ``was_sent``, it may have been carried out all the same."""

    def __init__(self, message: str, *, was_sent: bool) -> None:
        super().__init__(message)
        self.was_sent = was_sent
