"""What the Dockerfile says works: its commands are run here, and what they make serves, not as root."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.broker_process import READY_PREFIX, wait_until
from tests.chaos.vitals import long_run
from tests.deploy.dockerfile import stages_of
from tests.deploy.image import Image
from tests.deploy.test_dockerfile import PATH

from penstock.cli.generate.plan import METRICS_PORT, USER_ID

# Packages are fetched and built, which may take a while where nothing was fetched before.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), long_run]

BUILD, FINAL = stages_of(PATH)
SECONDS_MAX = 30


@pytest.fixture(scope="module")
def image() -> Iterator[Image]:
    # Not below pytest's own directory, into which nobody else may look.
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        built = Image(Path(directory))
        built.build(BUILD)
        data = built.path("/var/lib/penstock")
        data.mkdir(parents=True)
        if user_id() == USER_ID:
            os.chown(data, USER_ID, USER_ID)
        yield built


def user_id() -> int:
    """The image's user, where this one may become another who may use this Python; this one otherwise."""
    places = [Path(sys.base_prefix), *Path(sys.base_prefix).parents]
    is_for_all = all(place.stat().st_mode & stat.S_IXOTH for place in places)
    return USER_ID if os.getuid() == 0 and is_for_all else os.getuid()


def spawn(image: Image, words: list[str], **environment: str) -> "subprocess.Popen[str]":
    """Run a command as the image's user, if that can be."""
    who = USER_ID if user_id() == USER_ID else None
    return subprocess.Popen(
        words,
        cwd=image.path("/var/lib/penstock"),
        env={**image.environment(FINAL), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        user=who,
        group=who,
        extra_groups=None if who is None else [],
    )


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def health(image: Image, metrics_port: int) -> int:
    """The exit code of the health check, on another port."""
    words = json.loads(FINAL.only("HEALTHCHECK").rest.partition(" CMD ")[2])
    words = [word.replace(str(METRICS_PORT), str(metrics_port)) for word in words]
    words[0] = str(image.path("/opt/penstock") / "bin" / words[0])
    asked = spawn(image, words)
    asked.communicate(timeout=SECONDS_MAX)
    return asked.returncode


def test_image_serves_is_healthy_and_stops_when_it_is_told(image: Image) -> None:
    entry, command = FINAL.only("ENTRYPOINT").exec_form, FINAL.only("CMD").exec_form
    assert entry is not None
    assert command is not None
    metrics_port = free_port()
    assert health(image, metrics_port) != 0
    served = spawn(
        image,
        [str(image.path("/opt/penstock") / "bin" / entry[0]), *entry[1:], *command],
        PENSTOCK_LISTENERS="PLAINTEXT://127.0.0.1:0",
        PENSTOCK_METRICS_LISTENER=f"127.0.0.1:{metrics_port}",
    )
    try:
        wait_until(lambda: health(image, metrics_port) == 0, what="the broker is well", seconds=SECONDS_MAX)
        meta = image.path("/var/lib/penstock/data") / "meta.properties"
        assert meta.stat().st_uid == user_id()
        served.send_signal(signal.SIGTERM)
        told, _ = served.communicate(timeout=SECONDS_MAX)
    finally:
        served.kill()
        served.communicate()
    assert READY_PREFIX in told
    assert served.returncode == 0
    assert health(image, metrics_port) != 0


def test_image_has_the_gateway_and_can_generate(image: Image) -> None:
    penstock = str(image.path("/opt/penstock") / "bin" / "penstock")
    python = str(image.path("/opt/penstock") / "bin" / "python")
    for words in (
        [python, "-c", "import fastapi, uvicorn, penstock.gateway.main"],
        [penstock, "generate", "all", "--output", str(image.path("/var/lib/penstock") / "generated")],
    ):
        done = spawn(image, words)
        told, _ = done.communicate(timeout=SECONDS_MAX)
        assert done.returncode == 0, told
