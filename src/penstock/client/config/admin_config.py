"""How an administrator works."""

from dataclasses import dataclass
from typing import Any

from penstock.client.config.client_config import ClientConfig, ClientSettings
from penstock.client.config.rules import setting, whole


class AdminSettings(ClientSettings, total=False):
    """The fields of ``AdminConfig`` as keyword arguments."""

    operation_timeout_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminConfig(ClientConfig):
    """Settings of an ``Admin`` or ``AsyncAdmin``."""

    operation_timeout_ms: int = setting(15_000, whole(0, 3_600_000))
    """How long a broker may wait until what was ordered is true on all brokers before it answers."""

    def _more(self) -> dict[str, Any]:
        return {"socket.nagle.disable": True}
