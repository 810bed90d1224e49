"""The file that lies beside a damaged segment until somebody decides (``<base offset>.corrupt``).

An operator decides by removing it. A replica that gets everything from its leader again is repaired: what was
damaged is kept under a name that nobody opens (``.log.damaged``), and the report says ``.repaired``.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from penstock.storage.atomic_file import write_atomically
from penstock.storage.filesystem import FileSystem, join_path

CORRUPT_SUFFIX = ".corrupt"
REPAIRED_SUFFIX = ".repaired"
EVIDENCE_SUFFIX = ".damaged"


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


def read_damage_reports(filesystem: FileSystem, directory: str) -> list[Damage]:
    """What earlier starts reported and nobody has decided about."""
    return [read_damage_report(filesystem, path) for path in _report_paths(filesystem, directory)]


def retire_damage_reports(filesystem: FileSystem, directory: str) -> None:
    """The log is repaired: let the reports tell the story without keeping anybody from writing."""
    for path in _report_paths(filesystem, directory):
        filesystem.rename(path, path.removesuffix(CORRUPT_SUFFIX) + REPAIRED_SUFFIX)
    filesystem.sync_directory(directory)


def _report_paths(filesystem: FileSystem, directory: str) -> list[str]:
    names = filesystem.list_directory(directory)
    return [join_path(directory, name) for name in names if name.endswith(CORRUPT_SUFFIX)]


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
