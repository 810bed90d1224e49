"""An authority of a test's own, with certificates for brokers and clients: real ones, made by openssl."""

import ssl
import subprocess
from pathlib import Path

_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
KEY_PASSWORD = "the key's own"
HOSTS = "DNS:localhost,IP:127.0.0.1"
"""By which brokers of tests are reached."""


class Authority:
    """Signs certificates, and keeps everything as files of PEM in one directory."""

    def __init__(self, directory: Path, name: str = "authority") -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.certificate = directory / f"{name}.pem"
        self._key = directory / f"{name}.key"
        _openssl(
            *("req", "-x509", *_KEY, "-nodes", "-days", "2", "-subj", f"/CN={name}"),
            *("-keyout", str(self._key), "-out", str(self.certificate)),
        )

    def sign(self, name: str, *, hosts: str = "", is_encrypted: bool = False) -> tuple[Path, Path]:
        """A certificate and its key; ``hosts`` such as ``DNS:localhost,IP:127.0.0.1``."""
        key, request, made = (self.directory / f"{name}.{kind}" for kind in ("key", "csr", "pem"))
        protection = ("-passout", f"pass:{KEY_PASSWORD}") if is_encrypted else ("-nodes",)
        _openssl(
            *("req", *_KEY, *protection, "-subj", f"/CN={name}", "-keyout", str(key), "-out", str(request))
        )
        extensions = self.directory / f"{name}.ext"
        extensions.write_text(f"subjectAltName={hosts}\n" if hosts else "basicConstraints=CA:FALSE\n")
        _openssl(
            *(
                "x509",
                "-req",
                "-days",
                "2",
                "-in",
                str(request),
                "-out",
                str(made),
                "-extfile",
                str(extensions),
            ),
            *("-CA", str(self.certificate), "-CAkey", str(self._key), "-CAcreateserial"),
        )
        return made, key


def server_context(certificate: Path, key: Path, *, client_authority: Path | None = None) -> ssl.SSLContext:
    """What a broker's listener has; with an authority it wants its clients' certificates."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    if client_authority is not None:
        context.load_verify_locations(client_authority)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def _openssl(*words: str) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True)
