"""Replacing a small file so that a reader finds the old content or the new one, whatever happens between.

Four steps, none of which may be left out: write a temporary file beside it, flush it, rename it over the old
one, sync the directory. Without the first flush the new name may point at nothing; without the last sync the
old content may come back after a power loss (seen on real ext4).
"""

from penstock.storage.filesystem import FileSystem, parent_directory

TEMPORARY_SUFFIX = ".tmp"
"""Files of this ending are leftovers of an interrupted replacement; a start removes them."""


def write_atomically(fs: FileSystem, path: str, data: bytes) -> None:
    """Replace or make the file; it is durable when this returns, and untouched if this raises before."""
    replace_file(fs, path, data)
    fs.sync_directory(parent_directory(path))


def replace_file(fs: FileSystem, path: str, data: bytes) -> None:
    """The same without the last step, for a caller who replaces several files of one directory.

    Until that caller syncs the directory, the old content may come back.
    """
    temporary = path + TEMPORARY_SUFFIX
    file = fs.open(temporary, create=True)
    try:
        file.truncate(0)
        file.write(0, [data])
        file.flush()
    finally:
        file.close()
    fs.rename(temporary, path)
