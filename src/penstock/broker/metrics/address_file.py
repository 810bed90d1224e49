"""A small file in the data directory that says where a running broker answers HTTP.

It is for people and tools on the same machine. It is taken away when the broker stops; after a crash it stays
and says nothing true any more, so whoever reads it must be ready to find nobody there.
"""

import os
from contextlib import suppress

FILE_NAME = "metrics.address"


def write_address(data_directory: str, address: str) -> None:
    """Say where; readers see the old file or the new one."""
    path = os.path.join(data_directory, FILE_NAME)
    temporary = f"{path}.tmp"
    with open(temporary, "w", encoding="ascii") as file:
        file.write(f"{address}\n")
    os.replace(temporary, path)


def remove_address(data_directory: str) -> None:
    """Nobody answers there any more."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(data_directory, FILE_NAME))


def read_address(data_directory: str) -> str | None:
    """``HOST:PORT`` as the broker on this directory wrote it; None when there is no such file."""
    try:
        with open(os.path.join(data_directory, FILE_NAME), encoding="ascii") as file:
            return file.read().strip() or None
    except FileNotFoundError:
        return None
