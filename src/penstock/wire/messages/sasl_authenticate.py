"""SaslAuthenticate (key 36): one step of a mechanism. Only clients of ours speak it.

Version notes: 1 says for how long the proof holds (KIP-368); 2 flexible. What is in the steps is never shown:
with PLAIN it is the password.
"""

from penstock.wire.primitives import BYTES, INT16, INT64, STRING
from penstock.wire.schema import Struct, field, nullable

NO_LIFETIME_MS = 0
"""The proof holds for as long as the connection."""


class SaslAuthenticateRequest(Struct):
    """What the mechanism says on the client's side."""

    auth_bytes: bytes = field(BYTES)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(auth_bytes=...)"


class SaslAuthenticateResponse(Struct):
    """What it says on the broker's side."""

    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING)
    auth_bytes: bytes = field(BYTES)
    session_lifetime_ms: int = field(INT64, "1+", default=NO_LIFETIME_MS)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(error_code={self.error_code}, auth_bytes=...)"
