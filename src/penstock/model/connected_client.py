"""Who is at the other end of a connection, as far as it has said."""

from dataclasses import dataclass

UNKNOWN = "unknown"
"""What Kafka calls software that has not named itself."""


@dataclass(slots=True, kw_only=True)
class ConnectedClient:
    """Where a client is, and what it runs: that it says in ApiVersions, if it asks for them here at all."""

    address: str = UNKNOWN
    port: int = 0
    software_name: str = UNKNOWN
    software_version: str = UNKNOWN

    @property
    def host(self) -> str:
        """Where the client is, as Kafka writes it."""
        return f"/{self.address}"
