"""Whether whoever asks knows the token: as a bearer or a password in a header, or by the cookie of a login.

The cookie is made from the token and is not the token: it opens the gateway, and tells nobody how to log in
elsewhere. It ends when the token is changed. Its name has the port, since browsers share cookies between all
ports of a machine.
"""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie

from penstock.gateway.errors import GatewayError

COOKIE_SECONDS = 30 * 24 * 3600
_COOKIE_RULES = "Path=/; HttpOnly; SameSite=Strict"
_PURPOSE = b"cookie of a penstock gateway"


class TokenCheck:
    """Compares what is brought with what is known; without a token everybody gets in."""

    def __init__(self, token: str | None) -> None:
        self._token = token
        self._cookie = "" if token is None else hmac.new(token.encode(), _PURPOSE, hashlib.sha256).hexdigest()

    @property
    def is_needed(self) -> bool:
        """Whether there is a token at all."""
        return self._token is not None

    def accepts(self, token: str) -> bool:
        """Whether this is the token; takes as long for a near miss as for nonsense."""
        return self._token is None or _is_same(token, self._token)

    def check(self, headers: Mapping[str, str], port: int) -> None:
        """Refuse with 401 unless the headers prove that the token is known."""
        if self._token is None or self._has_token(headers) or self._has_cookie(headers, port):
            return
        raise GatewayError(
            401,
            "This gateway wants its token: send `Authorization: Bearer TOKEN`, or log in.",
            error_code=40101,
        )

    def set_cookie(self, port: int) -> str:
        """The header that logs a browser in."""
        return f"{_cookie_name(port)}={self._cookie}; {_COOKIE_RULES}; Max-Age={COOKIE_SECONDS}"

    def end_cookie(self, port: int) -> str:
        """The header that logs it out."""
        return f"{_cookie_name(port)}=; {_COOKIE_RULES}; Max-Age=0"

    def _has_token(self, headers: Mapping[str, str]) -> bool:
        scheme, _, brought = headers.get("authorization", "").partition(" ")
        match scheme.lower():
            case "bearer":
                return self.accepts(brought.strip())
            case "basic":  # Many clients of schema registries know nothing else.
                return self.accepts(_password(brought.strip()))
        return False

    def _has_cookie(self, headers: Mapping[str, str], port: int) -> bool:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(_cookie_name(port))
        except CookieError:
            return False
        return found is not None and _is_same(found.value, self._cookie)


def _cookie_name(port: int) -> str:
    return f"penstock-gateway-{port}"


def _password(credentials: str) -> str:
    """What stands behind the user's name, whatever that is."""
    try:
        return base64.b64decode(credentials, validate=True).decode().partition(":")[2]
    except ValueError:
        return ""


def _is_same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())
