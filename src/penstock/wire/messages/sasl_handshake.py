"""SaslHandshake (key 17): which way of proving who one is. Only clients of ours speak it.

Version notes: after 0 the proof would follow without headers, so that it is not spoken; after 1 it comes in
SaslAuthenticate. Never made flexible.
"""

from penstock.wire.primitives import INT16, STRING
from penstock.wire.schema import Struct, array, field


class SaslHandshakeRequest(Struct):
    """The mechanism that the client wants."""

    mechanism: str = field(STRING)


class SaslHandshakeResponse(Struct):
    """All is well, or which mechanisms there are."""

    error_code: int = field(INT16)
    mechanisms: tuple[str, ...] = array(STRING)
