"""Logging in as steps: each has something to say, and what is answered leads to the next one.

Nothing is asked and nothing is drawn here: who holds the connection sends ``message`` and calls ``follow``
with what came back. PLAIN is here, after RFC 4616; SCRAM is next door.
"""

from dataclasses import dataclass, field
from typing import Protocol

from penstock.wire_client.security.scram import ScramStart
from penstock.wire_client.security.security import Login, Mechanism


class Step(Protocol):
    """Something to say to the broker."""

    @property
    def message(self) -> bytes:
        """What is sent."""
        ...

    def follow(self, challenge: bytes) -> "Step | None":
        """What comes after this answer: another step, or nothing when all is proved."""
        ...


@dataclass(frozen=True, slots=True)
class PlainStep:
    """Name and password as they are; the answer to them says nothing."""

    login: Login
    message: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # RFC 4616, section 2: nobody to act for, the name, the password.
        text = f"\0{self.login.username}\0{self.login.password}"
        object.__setattr__(self, "message", text.encode())

    def follow(self, challenge: bytes) -> None:
        """The broker has taken them, or it would have refused."""


def first_step(login: Login, nonce: str) -> Step:
    """Where logging in begins; ``nonce`` must never have been used before, nor be known to anybody."""
    if login.mechanism is Mechanism.PLAIN:
        return PlainStep(login)
    return ScramStart(login, nonce)
