"""SCRAM (RFC 5802, RFC 7677): a password that never travels, and a broker that proves to know it, too.

``ScramStart`` is the client's first message, ``ScramProof`` its second. Pure: the nonce is given. As in
Kafka, names and passwords are taken as they are in UTF-8, without SASLprep. Invariant: whoever gets to the
end has seen a signature that only somebody can make who knows the password.
"""

import base64
import binascii
import hashlib
import hmac
import re
from dataclasses import dataclass, field

from penstock.model.errors import OperatingError
from penstock.wire_client.security.security import Login, Mechanism

ITERATIONS_MIN = 4096
"""RFC 7677, section 4: fewer make a password cheap to guess for who listens or poses as the broker."""

ITERATIONS_MAX = 262_144
"""Sixteen times the most that Kafka stores: a tenth of a second. A broker must not cost more."""

_DIGESTS = {Mechanism.SCRAM_SHA_256: "sha256", Mechanism.SCRAM_SHA_512: "sha512"}
_NO_BINDING = "n,,"
"""RFC 5802, section 7: no channel binding, nobody to act for."""

_SERVER_FIRST = re.compile(
    r"r=(?P<nonce>[\x21-\x2b\x2d-\x7e]+),s=(?P<salt>[^,]+),i=(?P<count>[1-9]\d{0,9})(?:,.*)?"
)
_SERVER_FINAL = re.compile(r"(?P<kind>[ev])=(?P<value>[^,]+)(?:,.*)?")


class ScramError(OperatingError):
    """What the broker said is not what a broker says that knows the password.

    The message completes the sentence "The broker ...".
    """


@dataclass(frozen=True, slots=True)
class ScramStart:
    """Who wants to log in."""

    login: Login
    nonce: str = field(repr=False)

    @property
    def message(self) -> bytes:
        """The client's first message."""
        return f"{_NO_BINDING}{self._bare}".encode()

    def follow(self, challenge: bytes) -> "ScramProof":
        """The proof, made with what the broker's first message says."""
        text = _text(challenge)
        match = _SERVER_FIRST.fullmatch(text)
        if match is None:
            raise ScramError("began with something else than SCRAM")
        if not match["nonce"].startswith(self.nonce) or match["nonce"] == self.nonce:
            raise ScramError("answered with a nonce that is not ours and its own")
        iterations = _iterations(match["count"])
        salt = _decoded(match["salt"])
        without_proof = f"c={_encoded(_NO_BINDING.encode())},r={match['nonce']}"
        return ScramProof(
            digest=_DIGESTS[self.login.mechanism],
            salted_password=hashlib.pbkdf2_hmac(
                _DIGESTS[self.login.mechanism], self.login.password.encode(), salt, iterations
            ),
            without_proof=without_proof,
            signed=f"{self._bare},{text},{without_proof}".encode(),
        )

    @property
    def _bare(self) -> str:
        # RFC 5802, section 5.1: the two signs that mean something are written otherwise.
        name = self.login.username.replace("=", "=3D").replace(",", "=2C")
        return f"n={name},r={self.nonce}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScramProof:
    """That the client knows the password; what follows must show that the broker does, too."""

    digest: str
    salted_password: bytes = field(repr=False)
    without_proof: str = field(repr=False)
    signed: bytes = field(repr=False)
    """AuthMessage: all that was said, without the proof."""

    @property
    def message(self) -> bytes:
        """The client's final message."""
        client_key = self._mac(self.salted_password, b"Client Key")
        stored_key = hashlib.new(self.digest, client_key).digest()
        signature = self._mac(stored_key, self.signed)
        proof = bytes(key ^ sign for key, sign in zip(client_key, signature, strict=True))
        return f"{self.without_proof},p={_encoded(proof)}".encode()

    def follow(self, challenge: bytes) -> None:
        """Nothing, if the broker's signature is right."""
        match = _SERVER_FINAL.fullmatch(_text(challenge))
        if match is None:
            raise ScramError("ended with something else than SCRAM")
        if match["kind"] == "e":
            raise ScramError(f"refused the proof: {match['value']}")
        server_key = self._mac(self.salted_password, b"Server Key")
        if not hmac.compare_digest(_decoded(match["value"]), self._mac(server_key, self.signed)):
            raise ScramError("does not know the password itself, so it is not who it should be")

    def _mac(self, key: bytes, message: bytes) -> bytes:
        return hmac.digest(key, message, self.digest)


def _iterations(text: str) -> int:
    count = int(text)
    if not ITERATIONS_MIN <= count <= ITERATIONS_MAX:
        raise ScramError(
            f"wants {count} iterations of SCRAM, and from {ITERATIONS_MIN} to {ITERATIONS_MAX} are made"
        )
    return count


def _text(message: bytes) -> str:
    try:
        return message.decode()
    except UnicodeDecodeError as error:
        raise ScramError("answered with something else than text") from error


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ScramError("answered with something else than base64") from error


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()
