"""Builds and runs what a Dockerfile says, without containers: its commands, in directories of a test's own.

Paths of the image are mapped to directories below one root. Commands that make users are left out, since they
would make them on this machine.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.deploy.dockerfile import Instruction, Stage

ROOT = Path(__file__).parents[2]
BUILD_SECONDS_MAX = 250
OF_THE_IMAGE = ("/source", "/wheels", "/opt/penstock", "/var/lib/penstock")


class Image:
    """One root directory, and the stages that fill it."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def path(self, path: str) -> Path:
        """Where a path of the image is on this machine."""
        return self._root / path.lstrip("/")

    def placed(self, text: str) -> str:
        """A text with paths of this machine in place of the image's."""
        for path in OF_THE_IMAGE:
            text = text.replace(path, str(self.path(path)))
        return text

    def build(self, stage: Stage) -> None:
        """Carry out the first stage, in the order in which it is written."""
        self.path("/source").mkdir(parents=True)
        for each in stage.instructions:
            if each.word == "COPY":
                self._copy(each)
            elif each.word == "RUN":
                self._run(each)
            else:
                assert (each.word, each.rest) == ("WORKDIR", "/source")

    def _copy(self, instruction: Instruction) -> None:
        *sources, target = instruction.rest.split()
        for source in sources:
            if (ROOT / source).is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
                shutil.copytree(ROOT / source, self.path("/source") / target, ignore=ignored)
            else:
                shutil.copy(ROOT / source, self.path("/source"))

    def _run(self, instruction: Instruction) -> None:
        # An image keeps no cache; a test need not fetch what this machine has fetched before.
        command = self.placed(instruction.rest).replace("--no-cache-dir ", "")
        environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        environment.pop("PYTHONPATH", None)
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.path("/source"),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=BUILD_SECONDS_MAX,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}"

    def environment(self, stage: Stage) -> dict[str, str]:
        """Variables of the last stage, and nothing of this machine's but what no process can do without."""
        told = {name: self.placed(value) for name, value in stage.environment.items()}
        told["PATH"] = told["PATH"].replace("$PATH", "/usr/bin:/bin")
        return told
