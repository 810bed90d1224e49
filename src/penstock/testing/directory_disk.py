"""A directory of this machine as the disk of a broker in a thread."""

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

from penstock.testing.mortal_workers import MortalWorkers
from penstock.testing.tracked_filesystem import TrackedFileSystem

TEMPORARY_PREFIX = "penstock-"


class DirectoryDisk:
    """A directory of this machine; a temporary one unless it is named."""

    def __init__(self, directory: Path | None) -> None:
        self.is_kept = directory is not None
        self._path = Path(tempfile.mkdtemp(prefix=TEMPORARY_PREFIX)) if directory is None else directory
        self._path.mkdir(parents=True, exist_ok=True)
        self.directory = os.path.realpath(self._path)
        self.filesystem = TrackedFileSystem()

    def new_workers(self, loop: asyncio.AbstractEventLoop) -> MortalWorkers:
        """Threads."""
        return MortalWorkers(loop)

    def process_ended(self) -> None:
        """Close its files."""
        self.filesystem.close_everything()
        self.filesystem = TrackedFileSystem()

    def wipe(self) -> None:
        """Empty the directory."""
        for entry in Path(self.directory).iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

    def close(self) -> None:
        """Remove a temporary directory."""
        if not self.is_kept:
            shutil.rmtree(self.directory, ignore_errors=True)
