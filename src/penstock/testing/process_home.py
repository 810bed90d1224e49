"""A broker as a process of its own, on a directory, with real signals."""

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.model.errors import UsageError
from penstock.testing.broker_process import BrokerProcess
from penstock.testing.directory_disk import TEMPORARY_PREFIX
from penstock.testing.machine import HOST, Port
from penstock.wire.api_keys import ApiKey
from penstock.wire.schema import Struct
from penstock.wire_client.connection import Address, Connection


class ProcessHome:
    """Brokers one after the other, each a process."""

    def __init__(self, directory: Path | None, port: Port) -> None:
        self._port = port
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
        self._is_kept = directory is not None
        self._scratch = Path(tempfile.mkdtemp(prefix=TEMPORARY_PREFIX))
        self._data = self._scratch / "data" if directory is None else directory
        self._log_file = self._scratch / "broker.log"
        self._log_file.touch()
        self._process: BrokerProcess | None = None

    @property
    def address(self) -> str:
        """``host:port`` for clients; the same for ever."""
        return f"{HOST}:{self._port.number}"

    @property
    def pid(self) -> int:
        """Of the process that runs."""
        return self._started().pid

    @property
    def is_running(self) -> bool:
        """Whether a broker is there, paused or not."""
        return self._process is not None and self._process.is_running

    @property
    def is_paused(self) -> bool:
        """Whether it is frozen."""
        return self._process is not None and self._process.is_paused

    def launch(self, settings: Mapping[str, str]) -> None:
        """Begin to start a broker."""
        self._process = BrokerProcess(self._data, settings, port=self._port.number, log_file=self._log_file)
        self._process.launch()

    def wait_ready(self) -> None:
        """Return when clients may connect."""
        self._started().wait_ready()

    def stop(self) -> None:
        """End the broker in good order."""
        self._started().stop()

    def kill(self) -> None:
        """SIGKILL."""
        self._started().kill()

    def pause(self) -> None:
        """SIGSTOP."""
        self._started().pause()

    def resume(self) -> None:
        """SIGCONT."""
        self._started().resume()

    def ask(self, api: ApiKey, request: Struct) -> Any:
        """The broker's answer, over a connection of its own."""
        with Connection(Address(HOST, self._port.number)) as connection:
            return connection.call(api, request)

    def log_text(self) -> str:
        """The end of what it has logged."""
        return self._log_file.read_text(errors="replace") if self._log_file.exists() else ""

    def wipe(self) -> None:
        """Empty the directory."""
        shutil.rmtree(self._data, ignore_errors=True)

    def close(self) -> None:
        """Stop in good order what is kept; kill what nobody will ever see again."""
        try:
            if self._process is not None and self._is_kept:
                self._process.stop()
            elif self._process is not None:
                self._process.kill()
        finally:
            self._port.close()
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _started(self) -> BrokerProcess:
        if self._process is None:
            raise UsageError("The broker is not running: start it, or use it in a with statement.")
        return self._process
