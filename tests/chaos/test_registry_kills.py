"""Two gateways register schemas while they and the broker are killed all the time: no id twice, none lost.

``PENSTOCK_KILL_ROUNDS`` says how often. What a client was told is checked against what both gateways say in
the end, and against a third one that has read nothing but the topic.
"""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.broker_process import Server, penstock_command, wait_until
from tests.chaos.vitals import KILL_ROUNDS
from tests.conftest import MakeServer

ROUNDS = max(2, KILL_ROUNDS // 2)
ANSWER_SECONDS_MAX = 60.0

pytestmark = [pytest.mark.chaos, pytest.mark.slow]


class GatewayProcess:
    """A real ``penstock gateway``, killed and started again on another port."""

    def __init__(self, bootstrap: str, directory: Path) -> None:
        self._bootstrap = bootstrap
        self._log = directory / f"gateway-{id(self)}.log"
        self.url = ""
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        command = [*penstock_command(), "gateway", "--bootstrap-server", self._bootstrap]
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                [*command, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith("gateway on "), self._log.read_text()
        self.url = line.removeprefix("gateway on ").strip()

    def kill(self) -> None:
        assert self._process is not None
        self.url = ""
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait(10)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def ask(self, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            self.url + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/vnd.schemaregistry.v1+json"},
        )
        with urllib.request.urlopen(request, timeout=ANSWER_SECONDS_MAX) as answer:
            return json.load(answer)


class Registrar:
    """Registers one new schema after the other at one gateway, each until it is acknowledged."""

    def __init__(self, gateway: GatewayProcess, name: str) -> None:
        self._gateway = gateway
        self._name = name
        self.acknowledged: dict[str, int] = {}
        self.problems: list[str] = []
        self.is_stopped = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        number = 0
        while not self.is_stopped.is_set():
            number += 1
            subject = f"{self._name}-{number}"
            while subject not in self.acknowledged and not self.is_stopped.is_set():
                self._try(subject, number)

    def _try(self, subject: str, number: int) -> None:
        schema = {"type": "record", "name": f"{self._name}_{number}", "fields": []}
        try:
            told = self._gateway.ask(f"/subjects/{subject}/versions", {"schema": json.dumps(schema)})
            self.acknowledged[subject] = told["id"]
        except urllib.error.HTTPError as error:
            with error:
                if error.code < 500:
                    self.problems.append(error.read().decode())
        except (OSError, ValueError, http.client.HTTPException):
            time.sleep(0.02)  # Killed, or not up again yet.


@pytest.fixture
def broker(make_server: MakeServer) -> Server:
    return make_server()


@pytest.fixture
def gateways(broker: Server, tmp_path: Path) -> Iterator[list[GatewayProcess]]:
    made = [GatewayProcess(broker.bootstrap, tmp_path) for _ in range(3)]
    for gateway in made[:2]:
        gateway.start()
    yield made
    for gateway in made:
        with contextlib.suppress(AssertionError, ProcessLookupError):
            gateway.kill()


@pytest.mark.timeout(600)
def test_killed_gateways_give_no_id_twice_and_lose_nothing(
    broker: Server, gateways: list[GatewayProcess]
) -> None:
    random = Random(7)
    first, second, fresh = gateways
    victims: list[GatewayProcess | Server] = [first, second, broker]
    registrars = [
        Registrar(first, "a"),
        Registrar(first, "b"),
        Registrar(second, "c"),
        Registrar(second, "d"),
    ]
    for registrar in registrars:
        registrar.thread.start()
    for _ in range(ROUNDS):
        victim = random.choice(victims)
        time.sleep(random.uniform(0.1, 0.8))
        victim.kill()
        victim.start()
    known = sum(len(registrar.acknowledged) for registrar in registrars)
    wait_until(
        lambda: sum(len(registrar.acknowledged) for registrar in registrars) > known + 4,
        what="schemas registered after the last kill",
        seconds=60,
    )
    for registrar in registrars:
        registrar.is_stopped.set()
        registrar.thread.join(ANSWER_SECONDS_MAX)
        assert not registrar.problems
    acknowledged = {subject: number for each in registrars for subject, number in each.acknowledged.items()}
    fresh.start()
    wait_until(lambda: everything(first) == everything(second) == everything(fresh), what="agreement")
    check(everything(fresh), acknowledged)


def everything(gateway: GatewayProcess) -> list[Any]:
    found: list[Any] = gateway.ask("/schemas?deleted=true")
    return found


def check(schemas: list[Any], acknowledged: dict[str, int]) -> None:
    ids = {schema["subject"]: schema["id"] for schema in schemas}
    assert {subject: ids.get(subject) for subject in acknowledged} == acknowledged
    assert len(set(ids.values())) == len(ids) == len(schemas)
    assert all(schema["version"] == 1 for schema in schemas)
    assert sorted(ids.values()) == list(range(1, len(ids) + 1))
