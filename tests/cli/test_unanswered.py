"""What commands say when nobody answers over HTTP."""

import errno
import os
from urllib.error import URLError

import pytest

from penstock.cli.unanswered import reason_of

REFUSED = ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (REFUSED, "connection refused"),
        (URLError(REFUSED), "connection refused"),
        (URLError("Unknown url type"), "unknown url type"),
        (TimeoutError("timed out"), "timed out"),
    ],
)
def test_reason_is_in_words(error: Exception, said: str) -> None:
    assert reason_of(error) == said
