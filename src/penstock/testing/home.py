"""Where a broker under test lives, over all its lives: in a thread of this process, or as another one."""

from collections.abc import Mapping
from typing import Any, Protocol

from penstock.wire.api_keys import ApiKey
from penstock.wire.schema import Struct


class Home(Protocol):
    """Starts, ends and freezes brokers on the same port and data."""

    @property
    def address(self) -> str:
        """``host:port`` for clients; the same for ever."""

    @property
    def is_running(self) -> bool:
        """Whether a broker is there, paused or not."""

    @property
    def is_paused(self) -> bool:
        """Whether it is frozen."""

    def launch(self, settings: Mapping[str, str]) -> None:
        """Begin to start a broker."""

    def wait_ready(self) -> None:
        """Return when clients may connect."""

    def stop(self) -> None:
        """End the broker in good order."""

    def kill(self) -> None:
        """End it at once."""

    def pause(self) -> None:
        """Freeze it."""

    def resume(self) -> None:
        """Let it go on."""

    def ask(self, api: ApiKey, request: Struct) -> Any:
        """The broker's answer."""

    def log_text(self) -> str:
        """What it has logged, over all its lives; perhaps only the end."""

    def wipe(self) -> None:
        """Forget all data; no broker may be running."""

    def close(self) -> None:
        """End whatever runs, by the shortest way that keeps what must be kept, and give everything back."""
