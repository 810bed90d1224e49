"""Where partitions are to be: plans, and the files they are kept in, which are Kafka's own.

``{"version": 1, "partitions": [{"topic": "orders", "partition": 0, "replicas": [1, 2, 3]}]}``
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from penstock.cli.failure import CommandFailed
from penstock.model.errors import UsageError
from penstock.model.ids import TopicPartition

Replicas = tuple[int, ...]
Assignment = Mapping[TopicPartition, Replicas]
"""Partitions with their replicas, the preferred leader first."""

_VERSION = 1
_ANY_DIRECTORY = "any"


class Move(NamedTuple):
    """A partition that is to change its replicas, or only their order."""

    where: TopicPartition
    before: Replicas
    after: Replicas

    @property
    def added(self) -> Replicas:
        """The replicas that have to be copied."""
        return tuple(node_id for node_id in self.after if node_id not in self.before)


def assignment_as_json(assignment: Assignment) -> dict[str, Any]:
    """In Kafka's form, in the order of topics and partitions."""
    partitions = [
        {"topic": topic, "partition": partition, "replicas": list(replicas)}
        for (topic, partition), replicas in sorted(assignment.items())
    ]
    return {"version": _VERSION, "partitions": partitions}


def write_plan(path: Path, assignment: Assignment) -> None:
    """Keep an assignment in a file."""
    try:
        path.write_text(json.dumps(assignment_as_json(assignment), indent=2) + "\n")
    except OSError as error:
        raise CommandFailed(f"Cannot write {path}: {(error.strerror or str(error)).lower()}.") from error


def read_plan(path: Path) -> Assignment:
    """The assignment in a file; ``UsageError`` says what is wrong with it."""
    try:
        content = json.loads(path.read_text())
    except OSError as error:
        raise UsageError(f"Cannot read {path}: {(error.strerror or str(error)).lower()}.") from error
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}.") from error
    try:
        return _assignment(content)
    except UsageError as error:
        raise UsageError(f"{path} is no plan: {error}") from None


def _assignment(content: Any) -> Assignment:
    if not isinstance(content, dict) or content.get("version") != _VERSION:
        raise UsageError(f'it must be an object with "version": {_VERSION}.')
    entries = content.get("partitions")
    if not isinstance(entries, list):
        raise UsageError('it must have a list of "partitions".')
    assignment: dict[TopicPartition, Replicas] = {}
    for entry in entries:
        where, replicas = _entry(entry)
        if where in assignment:
            raise UsageError(f"{where} is in it twice.")
        assignment[where] = replicas
    return assignment


def _entry(entry: Any) -> tuple[TopicPartition, Replicas]:
    fields = entry if isinstance(entry, dict) else {}
    topic, partition, replicas = (fields.get(name) for name in ("topic", "partition", "replicas"))
    if not isinstance(topic, str) or not topic or not _is_number(partition):
        raise UsageError(f'{json.dumps(entry)} has no "topic" and "partition".')
    where = TopicPartition(topic, int(partition or 0))
    if not isinstance(replicas, list) or not replicas or not all(map(_is_number, replicas)):
        raise UsageError(f'{where} has no list of "replicas", which are numbers of brokers.')
    if len(set(replicas)) < len(replicas):
        raise UsageError(f"{where} names a broker twice.")
    if any(directory != _ANY_DIRECTORY for directory in fields.get("log_dirs") or ()):
        raise UsageError(f'{where} names "log_dirs"; between the disks of a broker nothing is moved here.')
    return where, tuple(replicas)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
