"""The file that lies beside a damaged segment until an operator decides (``<base offset>.corrupt``)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from penstock.storage.atomic_file import write_atomically
from penstock.storage.filesystem import FileSystem

CORRUPT_SUFFIX = ".corrupt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """Bytes that are not what was acknowledged."""

    path: str
    position: int
    offset: int
    """The first offset that is lost or unreadable."""
    reason: str


def write_damage_report(
    filesystem: FileSystem, path: str, damage: Damage, facts: Mapping[str, int | None]
) -> None:
    """Describe the damage, and what else was known, for people and for the next start."""
    report = {
        "file": damage.path,
        "position": damage.position,
        "offset": damage.offset,
        "reason": damage.reason,
        **facts,
    }
    write_atomically(filesystem, path, json.dumps(report, indent=2).encode())


def read_damage_report(filesystem: FileSystem, path: str) -> Damage:
    """The damage that a report describes; a report that cannot be read is damage enough."""
    try:
        report = json.loads(filesystem.read_file(path))
        return Damage(
            path=str(report["file"]),
            position=int(report["position"]),
            offset=int(report["offset"]),
            reason=f"{report['reason']} (found by an earlier start; remove {path} to write on all the same)",
        )
    except (KeyError, TypeError, ValueError):
        return Damage(
            path=path, position=0, offset=0, reason="an earlier start found damage and reported it here"
        )
