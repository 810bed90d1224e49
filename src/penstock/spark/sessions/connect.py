"""Whether this Python can speak Spark Connect, which takes packages that a Spark of its own does not need.

PySpark looks for them too, but where it takes a program for a test of its documentation, as it does with
``python -c``, it ends it without an error.
"""

import importlib.util

_PACKAGES = {"grpc": "grpcio", "grpc_status": "grpcio-status", "pandas": "pandas", "zstandard": "zstandard"}
"""Modules, and what pip calls them."""


def missing_packages() -> list[str]:
    """What pip has to bring first; nothing, if all is there."""
    return [package for module, package in _PACKAGES.items() if not _is_there(module)]


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ValueError:  # of a module that was ruled out by setting it to None
        return False
