"""What changed from one version of a subject to another."""

import difflib
from dataclasses import dataclass
from typing import Any

from penstock.cli.failure import CommandFailed
from penstock.cli.schema.asking import RegistryClient, subject_path
from penstock.cli.schema.files import pretty


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Two versions side by side."""

    old: dict[str, Any]
    new: dict[str, Any]
    lines: list[str]
    messages: list[str]
    """Why the new one could not follow the old one at the subject's level; nothing if it could."""

    def as_json(self) -> dict[str, Any]:
        """The difference for programs."""
        return {
            "subject": self.new["subject"],
            "from": self.old["version"],
            "to": self.new["version"],
            "diff": self.lines,
            "is_compatible": not self.messages,
            "messages": self.messages,
        }


def compare(registry: RegistryClient, subject: str, *, old: str | None, new: str) -> Difference:
    """Look both versions up and compare them."""
    newer = registry.get(subject_path(subject, "versions", new))
    older = registry.get(subject_path(subject, "versions", old or _before(registry, newer)))
    body = {key: newer[key] for key in ("schema", "schemaType", "references") if key in newer}
    path = f"/compatibility{subject_path(subject, 'versions', older['version'])}"
    told = registry.post(path, body, verbose=True)
    return Difference(old=older, new=newer, lines=_lines(older, newer), messages=told.get("messages") or [])


def print_difference(difference: Difference) -> None:
    """As ``diff -u`` prints it."""
    if not difference.lines:
        print("The two versions say the same.")
    for line in difference.lines:
        print(line)
    if difference.messages:
        print("\nnot compatible:")
        for message in difference.messages:
            print(f"  {message}")


def _before(registry: RegistryClient, newer: dict[str, Any]) -> int:
    versions = registry.get(subject_path(newer["subject"], "versions"))
    earlier = [version for version in versions if version < newer["version"]]
    if not earlier:
        raise CommandFailed(
            f"Version {newer['version']} of {newer['subject']} is its first: nothing can be compared with it."
        )
    return int(earlier[-1])


def _lines(older: dict[str, Any], newer: dict[str, Any]) -> list[str]:
    old, new = (
        pretty(each["schema"], each.get("schemaType", "AVRO")).splitlines() for each in (older, newer)
    )
    names = [f"{each['subject']} version {each['version']}, id {each['id']}" for each in (older, newer)]
    return list(difflib.unified_diff(old, new, names[0], names[1], lineterm=""))
