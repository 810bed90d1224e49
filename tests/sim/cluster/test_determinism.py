"""A seed is a run: in another process, with other hashes, everything happens again, byte for byte."""

import os
import subprocess
import sys

import pytest


def told(seed: int, hash_seed: str) -> bytes:
    """What the replay of a seed prints, with everything that clients were told."""
    command = [sys.executable, "-m", "penstock.sim", "cluster", "--seed", str(seed), "--history"]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    ended = subprocess.run(command, env=environment, capture_output=True, timeout=110, check=False)
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
    return ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 7])
def test_same_seed_tells_the_same_story_under_other_hashes(seed: int) -> None:
    assert told(seed, "1") == told(seed, "2")
