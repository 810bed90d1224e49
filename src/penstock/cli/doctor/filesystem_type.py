"""What kind of file system a path is on, as the kernel's table of mounts has it."""

import os
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")


def filesystem_type(path: Path, *, mounts: Path = MOUNTS) -> str | None:
    """``ext4``, ``tmpfs``, ...; None where nobody tells, as on other systems than Linux."""
    try:
        table = mounts.read_text(errors="replace")
    except OSError:
        return None
    wanted = os.path.realpath(path)
    found: tuple[str, str | None] = ("", None)
    for line in table.splitlines():
        before, separator, after = line.partition(" - ")
        fields = before.split()
        if not separator or len(fields) < 5:
            continue
        point = fields[4].replace("\\040", " ")
        is_above = wanted == point or wanted.startswith(point.rstrip("/") + "/")
        if is_above and len(point) >= len(found[0]):
            found = (point, after.split()[0])
    return found[1]
