"""A real Prometheus under a test's control, with the configuration that ``penstock generate`` writes."""

import json
import math
import shutil
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

from tests.broker_process import wait_until

from penstock.cli.generate.plan import Plan
from penstock.cli.generate.prometheus import prometheus_files, target_lines
from penstock.cli.generate.writing import write_files

PROMETHEUS = shutil.which("prometheus")
PROMTOOL = shutil.which("promtool")
WITHOUT = "needs prometheus and promtool, as in Debian's package prometheus"
SCRAPE_SECONDS = 1
ANSWER_SECONDS_MAX = 10


class Prometheus:
    """Scrapes once a second, so that tests need not wait for a quarter of a minute."""

    def __init__(self, directory: Path, targets: Sequence[str]) -> None:
        self._directory = directory
        files = prometheus_files(Plan())
        original = files["prometheus/prometheus.yml"]
        files["prometheus/prometheus.yml"] = original.replace("interval: 15s", f"interval: {SCRAPE_SECONDS}s")
        files["prometheus/targets.yml"] = f"- targets:\n{target_lines(targets)}\n"
        write_files(directory, files, overwrites=False)
        self.url = f"http://127.0.0.1:{_free_port()}"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Prometheus":
        assert PROMETHEUS is not None
        with (self._directory / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [
                    PROMETHEUS,
                    f"--config.file={self._directory / 'prometheus' / 'prometheus.yml'}",
                    f"--storage.tsdb.path={self._directory / 'data'}",
                    f"--web.listen-address={self.url.removeprefix('http://')}",
                ],
                stdout=log,
                stderr=log,
            )
        wait_until(self._is_ready, what="Prometheus is ready", seconds=30, every_seconds=0.1)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def values(self, expression: str) -> list[float]:
        """What an expression gives now, but for values that are no numbers."""
        found = self._get("query", query=expression)["result"]
        return [value for each in found if not math.isnan(value := float(each["value"][1]))]

    def rules(self) -> list[dict[str, Any]]:
        """All rules, with their health and state."""
        return [rule for group in self._get("rules")["groups"] for rule in group["rules"]]

    def targets(self) -> list[dict[str, Any]]:
        """What is scraped, and how it goes."""
        found = self._get("targets")["activeTargets"]
        assert isinstance(found, list)
        return found

    def _get(self, what: str, **parameters: str) -> dict[str, Any]:
        url = f"{self.url}/api/v1/{what}?{urlencode(parameters)}"
        with urlopen(url, timeout=ANSWER_SECONDS_MAX) as answer:
            told = json.load(answer)
        assert told["status"] == "success"
        data = told["data"]
        assert isinstance(data, dict)
        return data

    def _is_ready(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self._directory / "log").read_text()[-2000:]
        try:
            with urlopen(f"{self.url}/-/ready", timeout=ANSWER_SECONDS_MAX):
                return True
        except URLError:
            return False


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
