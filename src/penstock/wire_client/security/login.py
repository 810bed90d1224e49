"""Logging in over a connection: SaslHandshake names the mechanism, SaslAuthenticate carries its steps.

Brokers want it in this order, before anything but ApiVersions. On a connection that is logged in already the
same is said again when the broker's patience with the old proof ends (KIP-368).
"""

from collections.abc import Callable
from typing import Any

from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.sasl_authenticate import SaslAuthenticateRequest
from penstock.wire.messages.sasl_handshake import SaslHandshakeRequest
from penstock.wire.schema import Struct
from penstock.wire_client.errors import HandshakeError, check
from penstock.wire_client.security.scram import ScramError
from penstock.wire_client.security.security import Login
from penstock.wire_client.security.steps import Step, first_step

Ask = Callable[[ApiKey, Struct], Any]
"""Sends one request, and has its answer."""


def log_in(ask: Ask, login: Login, *, nonce: str, broker: str) -> int:
    """Prove who we are; returns for how many milliseconds that holds, 0 for as long as the connection."""
    _agree_on_mechanism(ask, login, broker)
    step: Step | None = first_step(login, nonce)
    lifetime_ms = 0
    while step is not None:
        answer = ask(ApiKey.SASL_AUTHENTICATE, SaslAuthenticateRequest(auth_bytes=step.message))
        doing = f"log in as {login.username!r} at the broker at {broker}"
        check(answer.error_code, doing=doing, detail=answer.error_message)
        try:
            step = step.follow(answer.auth_bytes)
        except ScramError as error:
            raise HandshakeError(f"Cannot {doing}: it {error}.") from error
        lifetime_ms = answer.session_lifetime_ms
    return lifetime_ms


def _agree_on_mechanism(ask: Ask, login: Login, broker: str) -> None:
    answer = ask(ApiKey.SASL_HANDSHAKE, SaslHandshakeRequest(mechanism=login.mechanism))
    detail = None
    if answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM:
        offered = ", ".join(answer.mechanisms) or "none at all"
        detail = f"it has not enabled that mechanism, but {offered}"
    elif answer.error_code == ErrorCode.ILLEGAL_SASL_STATE:
        detail = "this listener wants no login; use PLAINTEXT or SSL as security protocol"
    doing = f"log in with {login.mechanism} at the broker at {broker}"
    check(answer.error_code, doing=doing, detail=detail)
