"""A directory of this user's own for what is dear to make: scripts and class data archives.

What lies in it is executed, so nobody else may be able to write there: a directory that belongs to somebody
else, or that others may write, is not used.
"""

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

VARIABLE = "PENSTOCK_CACHE_DIR"
"""Names the directory itself, for where homes are of no use."""

_MODE = 0o700


def cache_directory(environment: Mapping[str, str]) -> Path | None:
    """The first place that is ours, made if need be; None if there is none, as on a read-only system."""
    for candidate in _candidates(environment):
        try:
            candidate.mkdir(mode=_MODE, parents=True, exist_ok=True)
        except OSError:
            continue
        if _is_ours(candidate):
            return candidate
    return None


def _candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    if chosen := environment.get(VARIABLE):
        yield Path(chosen)
    if caches := environment.get("XDG_CACHE_HOME"):
        yield Path(caches) / "penstock"
    elif home := environment.get("HOME"):
        yield Path(home) / ".cache" / "penstock"
    yield Path(tempfile.gettempdir()) / f"penstock-{os.geteuid()}"


def _is_ours(directory: Path) -> bool:
    facts = directory.lstat()
    is_private = facts.st_uid == os.geteuid() and not facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(facts.st_mode) and is_private and os.access(directory, os.W_OK | os.X_OK)
