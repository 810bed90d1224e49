"""What a connection is wrapped in, and who the client says it is: values, without any doing.

Certificates and keys are texts in PEM, as they are in files: who makes the value reads those, once, so that
it can travel to machines that have none of them. Invariant: no secret is part of what these values print.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from penstock.model.errors import UsageError


class SecurityProtocol(StrEnum):
    """Kafka's names for what a listener wants."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def is_encrypted(self) -> bool:
        """Whether bytes go through TLS."""
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)

    @property
    def wants_login(self) -> bool:
        """Whether the client proves who it is before anything else."""
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


class Mechanism(StrEnum):
    """The ways of proving it that are spoken here."""

    PLAIN = "PLAIN"
    SCRAM_SHA_256 = "SCRAM-SHA-256"
    SCRAM_SHA_512 = "SCRAM-SHA-512"


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """Who the client is, and how it proves that."""

    mechanism: Mechanism
    username: str
    password: str = field(repr=False)

    def __post_init__(self) -> None:
        if not self.username:
            raise UsageError("The name to log in with is empty.")
        for what, text in (("name", self.username), ("password", self.password)):
            if "\0" in text:
                raise UsageError(f"The {what} to log in with has a zero in it, which ends a name.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCertificate:
    """What a broker is shown that wants to know its clients, in PEM."""

    chain: str
    key: str = field(repr=False)
    key_password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Security:
    """All of it."""

    protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    trusted: str | None = field(default=None, repr=False)
    """Certificates to believe, in PEM; None for those that this system believes."""
    certificate: ClientCertificate | None = None
    checks_host_name: bool = True
    """Whether a broker's certificate must be for the host that was asked."""
    login: Login | None = None

    def __post_init__(self) -> None:
        if self.protocol.wants_login != (self.login is not None):
            needs = "needs" if self.protocol.wants_login else "has no use for"
            raise UsageError(f"The security protocol {self.protocol} {needs} somebody to log in as.")


PLAINTEXT = Security()
