"""The folder ``deploy/`` as tests look at it."""

from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"


def documents(*paths: Path) -> list[dict[str, Any]]:
    """All documents of YAML files."""
    found = [each for path in paths for each in yaml.safe_load_all(path.read_text()) if each is not None]
    assert all(isinstance(each, dict) for each in found)
    return found
