"""TLS around the socket of a connection: whom to believe, and what to say when the two sides do not agree.

A context is made once for the same settings and kept: reading this system's certificates takes longer than
the whole handshake. Loaded only by connections that are encrypted.
"""

import socket
import ssl
from functools import lru_cache
from tempfile import TemporaryFile

from penstock.model.errors import UsageError
from penstock.wire_client.errors import BrokenConnectionError, HandshakeError, WireClientError
from penstock.wire_client.security.security import ClientCertificate, Security

_CONTEXTS_MAX = 16
_NOT_TLS = (
    "WRONG_VERSION_NUMBER",
    "UNKNOWN_PROTOCOL",
    "HTTP_REQUEST",
    "PACKET_LENGTH_TOO_LONG",
    "RECORD_LAYER",
)
"""What OpenSSL says to bytes that are no TLS."""

_NOT_THIS_CLIENT = ("CERTIFICATE_REQUIRED", "BAD_CERTIFICATE", "UNKNOWN_CA", "CERTIFICATE_UNKNOWN", "EXPIRED")
"""What it says when the other side does not take our certificate, or misses one."""


@lru_cache(maxsize=_CONTEXTS_MAX)
def context_for(security: Security) -> ssl.SSLContext:
    """All about TLS that is not of one connection; ``UsageError`` for what is no certificate or key."""
    try:
        context = ssl.create_default_context(cadata=_ascii(security.trusted))
    except (ssl.SSLError, ValueError) as error:
        raise UsageError(f"The certificates to believe are not in PEM: {_said(error)}.") from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # Clusters have certificates that were made by hand. Other clients of Kafka take a broker's own one as
    # something to believe, and ask for no extensions; Python's newest versions differ in both.
    context.verify_flags = (context.verify_flags | ssl.VERIFY_X509_PARTIAL_CHAIN) & ~ssl.VERIFY_X509_STRICT
    context.check_hostname = security.checks_host_name
    if security.certificate is not None:
        _load(context, security.certificate)
    return context


def encrypted(plain: socket.socket, security: Security, *, host: str, address: str) -> ssl.SSLSocket:
    """The socket with TLS around it, within its timeout; the old one is of no more use."""
    try:
        return context_for(security).wrap_socket(plain, server_hostname=host)
    except TimeoutError as error:
        raise BrokenConnectionError(
            f"The broker at {address} did not answer the TLS handshake within {plain.gettimeout():g} s; "
            "one that speaks no TLS there may do so."
        ) from error
    except ssl.SSLEOFError as error:
        raise _hung_up(address) from error
    except ssl.SSLError as error:
        raise explained(error, host=host, address=address) from error
    except OSError as error:
        raise _hung_up(address) from error


def explained(error: ssl.SSLError, *, host: str, address: str) -> WireClientError:
    """What to do about something that OpenSSL said."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return HandshakeError(_distrust(error, host, address))
    reason = error.reason or ""
    if any(word in reason for word in _NOT_TLS):
        return HandshakeError(
            f"The broker at {address} speaks no TLS there: ask its listener for SSL or SASL_SSL, or use "
            "PLAINTEXT or SASL_PLAINTEXT as security protocol."
        )
    if "ALERT" in reason and any(word in reason for word in _NOT_THIS_CLIENT):
        return HandshakeError(
            f"The broker at {address} does not take this client's certificate, or wants one: {_said(error)}. "
            "Give a certificate and its key that the broker's truststore believes."
        )
    return HandshakeError(f"TLS with the broker at {address} failed: {_said(error)}.")


def _distrust(error: ssl.SSLCertVerificationError, host: str, address: str) -> str:
    said = error.verify_message.rstrip(".")
    if "mismatch" in said.lower():
        return (
            f"The certificate of the broker at {address} is not for {host}: {said}. Connect to a name that "
            "is in it, or have the broker advertise one."
        )
    return (
        f"The certificate of the broker at {address} is not trusted: {said}. Give the certificate of the "
        "authority that signed it, in PEM."
    )


def _hung_up(address: str) -> BrokenConnectionError:
    return BrokenConnectionError(
        f"The broker at {address} closed the connection during the TLS handshake; one that speaks no TLS "
        "there does so: then use PLAINTEXT or SASL_PLAINTEXT as security protocol."
    )


def _load(context: ssl.SSLContext, certificate: ClientCertificate) -> None:
    """OpenSSL reads these from files only; ours have no name, so that nobody else can open them."""
    with TemporaryFile() as chain, TemporaryFile() as key:
        chain.write(certificate.chain.encode())
        chain.flush()
        chain.seek(0)
        key.write(certificate.key.encode())
        key.flush()
        key.seek(0)
        password = certificate.key_password or ""  # Without any, OpenSSL would ask at the terminal.
        try:
            context.load_cert_chain(f"/dev/fd/{chain.fileno()}", f"/dev/fd/{key.fileno()}", lambda: password)
        except (ssl.SSLError, OSError) as error:
            raise UsageError(
                f"The client's certificate and key cannot be used: {_said(error)}. Both must be in PEM and "
                "belong together; an encrypted key needs its password."
            ) from error


def _ascii(pem: str | None) -> str | None:
    """Without the names of authorities that stand between certificates in all languages."""
    return None if pem is None else pem.encode("ascii", "ignore").decode()


def _said(error: Exception) -> str:
    """OpenSSL's words, without the places in its sources."""
    reason = getattr(error, "reason", None)
    return reason.replace("_", " ").lower() if isinstance(reason, str) else str(error).lower()
