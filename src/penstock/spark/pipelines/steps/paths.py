"""Paths in pipeline files: relative ones start from the file's own directory, URIs stay as they are."""

import re
from pathlib import Path

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def resolved(path: str, directory: str) -> str:
    """An absolute path or a URI."""
    if _SCHEME.match(path):
        return path
    return str((Path(directory) / path).resolve())


def local_path(location: str) -> Path | None:
    """The path of a location on this machine; None for one that is elsewhere."""
    if location.startswith("file:"):
        return Path("/" + location.removeprefix("file:").lstrip("/"))
    return None if _SCHEME.match(location) else Path(location)
