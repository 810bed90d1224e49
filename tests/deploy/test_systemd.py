"""Units are what systemd understands, and let the services do little."""

import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.deploy.deploy_folder import DEPLOY

from penstock.cli.failure import ExitCode
from penstock.config.sources import load_broker_config

FOLDER = DEPLOY / "systemd"
UNITS = ("penstock.service", "penstock-gateway.service")
ANALYZE = shutil.which("systemd-analyze")
EXPOSURE_MAX = 2.0
"""Of 10, by systemd's own count."""

needs_systemd = pytest.mark.skipif(ANALYZE is None, reason="needs systemd-analyze")


def placed(name: str, directory: Path) -> Path:
    """A unit that names the command of this machine, since systemd looks for it."""
    installed = str(Path(sys.executable).with_name("penstock"))
    unit = directory / name
    unit.write_text((FOLDER / name).read_text().replace("/opt/penstock/bin/penstock", installed))
    return unit


def analyze(*words: str) -> subprocess.CompletedProcess[str]:
    assert ANALYZE is not None
    return subprocess.run(
        [ANALYZE, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )


@needs_systemd
def test_systemd_understands_every_line(tmp_path: Path) -> None:
    units = [str(placed(name, tmp_path)) for name in UNITS]
    verified = analyze("verify", *units)
    assert verified.returncode == 0, verified.stdout
    assert not [line for line in verified.stdout.splitlines() if "penstock" in line]


@needs_systemd
@pytest.mark.parametrize("name", UNITS)
def test_services_are_hardly_exposed(name: str, tmp_path: Path) -> None:
    told = analyze("security", "--offline=true", "--no-pager", str(placed(name, tmp_path))).stdout
    level = re.search(r"exposure level for \S+: ([\d.]+)", told)
    assert level is not None, told
    assert float(level[1]) <= EXPOSURE_MAX


def test_flush_that_failed_is_not_tried_again_by_itself() -> None:
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(FOLDER / "penstock.service")
    assert unit["Service"]["Restart"] == "on-failure"
    assert unit["Service"]["RestartPreventExitStatus"] == str(int(ExitCode.FLUSH_FAILED))


def test_settings_are_settings_and_lie_where_the_unit_may_write(tmp_path: Path) -> None:
    config = load_broker_config(file=FOLDER / "penstock.properties")
    assert config.data_directory == "/var/lib/penstock/data"
    assert config.listeners[0].host == "127.0.0.1"
    commented = tmp_path / "all.properties"
    text = (FOLDER / "penstock.properties").read_text().replace("\nlisteners=", "\n# listeners ")
    commented.write_text(re.sub(r"^#(?=[a-z.]+=)", "", text, flags=re.MULTILINE))
    assert load_broker_config(file=commented).bootstrap_servers
