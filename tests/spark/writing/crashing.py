"""Processes that die at a chosen request: before it is sent, or when its answer has come and helps nobody.

Connections count the requests of one made-up process; at the chosen one they raise what nothing in the
product catches, as a process that is killed does nothing more either.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, NoReturn

from penstock.spark.options.client_settings import ClientSettings
from penstock.wire.api_keys import ApiKey
from penstock.wire.schema import Struct
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Connection

NEVER = -1


class Crash(BaseException):
    """The process is dead."""


@dataclass(eq=False)
class Life:
    """How many requests a process has left."""

    dies_at: int = NEVER
    is_answered: bool = False
    """Whether the last request is carried out, so that only its answer is lost."""
    of: ApiKey | None = None
    """Count only requests of this kind."""
    asked: list[ApiKey] = field(default_factory=list)
    connections: list[Connection] = field(default_factory=list)

    def ask(self, api: ApiKey) -> int:
        """The number of a request that is about to be sent."""
        if self.of not in (None, api):
            return NEVER - 1
        self.asked.append(api)
        number = len(self.asked) - 1
        if number == self.dies_at and not self.is_answered:
            self._die(f"before request {self.dies_at}, {api.name}")
        return number

    def hear(self, number: int, api: ApiKey) -> None:
        if number == self.dies_at:
            self._die(f"after request {self.dies_at}, {api.name}")

    def _die(self, when: str) -> NoReturn:
        for connection in self.connections:
            connection.close()
        raise Crash(when)


class MortalConnection(Connection):
    """Counts what is asked over it, but for the handshake."""

    def __init__(self, *args: Any, life: Life, **kwargs: Any) -> None:
        self._life = life
        self._numbers: list[tuple[int, ApiKey]] = []
        super().__init__(*args, **kwargs)
        life.connections.append(self)

    def _send(self, api: ApiKey, version: int, message: Struct) -> None:
        if api is ApiKey.API_VERSIONS:
            super()._send(api, version, message)
            return
        number = self._life.ask(api)
        super()._send(api, version, message)
        self._numbers.append((number, api))

    def receive(self) -> Any:
        answer = super().receive()
        if self._numbers:
            self._life.hear(*self._numbers.pop(0))
        return answer


@dataclass(frozen=True, kw_only=True)
class MortalClient(ClientSettings):
    """Settings of a client that dies."""

    life: Life

    def connect(self) -> Cluster:
        connection = partial(MortalConnection, life=self.life, client_id=self.client_id)
        return Cluster.connect(self.addresses, connect=connection)


def mortal(client: ClientSettings, life: Life) -> MortalClient:
    """The same client with that life."""
    values = {name: getattr(client, name) for name in ClientSettings.__dataclass_fields__}
    return MortalClient(**values, life=life)
