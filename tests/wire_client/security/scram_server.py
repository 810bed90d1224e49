"""The broker's side of SCRAM, as RFC 5802 has it: knows no password, only what was made of it."""

import base64
import hashlib
import hmac
import secrets


class ScramServer:
    """One login; ``first`` and then ``final``, which raises ``PermissionError`` for a wrong proof."""

    def __init__(self, digest: str, users: dict[str, str], *, iterations: int = 4096) -> None:
        self._digest = digest
        self._users = users
        self._iterations = iterations
        self.spoils_signature = False
        self.spoils_nonce = False

    def first(self, message: bytes) -> bytes:
        header, bare = message.decode()[:3], message.decode()[3:]
        assert header == "n,,"
        name, nonce = (part[2:] for part in bare.split(","))
        self.username = name.replace("=2C", ",").replace("=3D", "=")
        salt = secrets.token_bytes(16)
        password = self._users.get(self.username, secrets.token_hex(8)).encode()
        self._salted = hashlib.pbkdf2_hmac(self._digest, password, salt, self._iterations)
        whole = "" if self.spoils_nonce else nonce
        self._nonce = f"{whole}{secrets.token_hex(8)}"
        answer = f"r={self._nonce},s={base64.b64encode(salt).decode()},i={self._iterations}"
        self._said = f"{bare},{answer}"
        return answer.encode()

    def final(self, message: bytes) -> bytes:
        without_proof, _, proof = message.decode().rpartition(",p=")
        signed = f"{self._said},{without_proof}".encode()
        stored_key = hashlib.new(self._digest, self._mac(self._salted, b"Client Key")).digest()
        signature = self._mac(stored_key, signed)
        key = bytes(a ^ b for a, b in zip(base64.b64decode(proof), signature, strict=True))
        if (
            without_proof != f"c=biws,r={self._nonce}"
            or hashlib.new(self._digest, key).digest() != stored_key
        ):
            raise PermissionError(self.username)
        verifier = self._mac(self._mac(self._salted, b"Server Key"), signed)
        shown = bytes(len(verifier)) if self.spoils_signature else verifier
        return b"v=" + base64.b64encode(shown)

    def _mac(self, key: bytes, message: bytes) -> bytes:
        return hmac.digest(key, message, self._digest)
