"""Everything that touches a disk: files behind a seam, the partition logs, and the small files beside them.

All of it goes through :class:`penstock.storage.filesystem.FileSystem`, so that the same code runs on a real
directory and on a simulated disk which loses power.
"""
