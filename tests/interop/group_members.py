"""Members of a group as processes that can be killed, and what must be true of all that they say.

``MemberProcess`` runs one of the programs in ``members/`` and collects its events. ``check_story`` looks at
the events of all members of a group together, living and dead.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from tests.broker_process import wait_until
from tests.interop.members.story import Orders, Partition
from tests.telling_process import TellingProcess, python_command

PROGRAMS = Path(__file__).with_name("members")
JOIN_SECONDS = 30.0


class MemberProcess(TellingProcess):
    """One member."""

    def __init__(self, client: str, orders: Orders, *, environment: Mapping[str, str] | None = None) -> None:
        super().__init__(_command(client), asdict(orders), environment=environment)

    @property
    def owned(self) -> set[Partition]:
        """What it says it owns."""
        for event in reversed(self.events):
            if event["event"] in ("assigned", "revoked"):
                return {(topic, number) for topic, number in event["owned"]}
        return set()

    @property
    def generation(self) -> int:
        """Of the last assignment."""
        assigned = self.named("assigned")
        return int(assigned[-1]["generation"]) if assigned else -1

    @property
    def processed_count(self) -> int:
        return sum(len(event["records"]) for event in self.named("processed"))

    def revoked(self) -> set[Partition]:
        """Everything that was ever taken from it."""
        return {(topic, number) for event in self.named("revoked") for topic, number in event["partitions"]}


def _command(client: str) -> list[str]:
    if client == "kafkajs":
        return ["node", str(PROGRAMS / "kafkajs_member.js")]
    program = PROGRAMS / f"{client.replace('-', '_')}_member.py"
    return python_command(program)


def wait_settled(
    members: Sequence[MemberProcess], partitions: Iterable[Partition], *, difference_max: int = 1
) -> None:
    """Until these members own all the partitions, none twice, and none has much more than another."""
    wanted = sorted(partitions)

    def is_settled() -> bool:
        for member in members:
            assert member.is_alive, f"a member died: {member.error_text()}"
        shares = [member.owned for member in members]
        owned = sorted(itertools.chain.from_iterable(shares))
        sizes = [len(share) for share in shares]
        return owned == wanted and max(sizes) - min(sizes) <= difference_max

    try:
        wait_until(
            is_settled, what=f"{len(members)} members to share {len(wanted)} partitions", seconds=JOIN_SECONDS
        )
    except AssertionError as failure:
        raise AssertionError(f"{failure}; {describe(members)}") from None


def describe(members: Sequence[MemberProcess]) -> str:
    """For the message of a failed wait."""
    return "; ".join(
        f"member {number}: generation {member.generation}, owns {sorted(member.owned)}, "
        f"failures {[event['error'] for event in member.named('failed')][-2:]}, "
        f"stderr {member.error_text()[-500:]}"
        for number, member in enumerate(members)
    )


def processed_values(members: Iterable[MemberProcess]) -> set[str]:
    """Every value that any of them has dealt with."""
    return {
        value for member in members for event in member.named("processed") for *_, value in event["records"]
    }


def wait_processed(members: Sequence[MemberProcess], values: Iterable[str]) -> None:
    """Until all of these have been dealt with."""
    wanted = set(values)
    try:
        wait_until(
            lambda: wanted <= processed_values(members),
            what="every record to be processed",
            seconds=JOIN_SECONDS,
        )
    except AssertionError as failure:
        missing = sorted(wanted - processed_values(members))
        raise AssertionError(
            f"{failure}; {len(missing)} missing, as {missing[:5]}; {describe(members)}"
        ) from None


def wait_more_processed(members: Sequence[MemberProcess], count: int = 20) -> None:
    """Until every one of them has dealt with so many more."""
    before = [member.processed_count for member in members]

    def has_gone_on() -> bool:
        return all(member.processed_count >= had + count for member, had in zip(members, before, strict=True))

    try:
        wait_until(has_gone_on, what=f"{count} more records by each member", seconds=JOIN_SECONDS)
    except AssertionError as failure:
        raise AssertionError(f"{failure}; {describe(members)}") from None


class Teller(Protocol):
    """Whoever has told events."""

    @property
    def events(self) -> list[dict[str, Any]]: ...


def check_story(members: Sequence[Teller]) -> None:
    """What must be true of every group, whatever was done to it.

    In one generation a partition is processed by one member only, in order; and nothing is processed again
    in a later generation that was committed in an earlier one. After a commit that failed, as it may when the
    coordinator moves, a client may begin again with what is not committed.
    """
    owners: dict[tuple[int, Partition], set[int]] = defaultdict(set)
    committed: dict[Partition, dict[int, int]] = defaultdict(dict)
    first: dict[Partition, dict[int, int]] = defaultdict(dict)
    for number, member in enumerate(members):
        last: dict[tuple[int, Partition], int] = {}
        for event in member.events:
            generation = event["generation"]
            if event["event"] == "failed":
                last.clear()
            for topic, partition, offset, _ in event.get("records", ()):
                key = (topic, partition)
                owners[generation, key].add(number)
                assert offset > last.get((generation, key), -1), (
                    f"{key} out of order in generation {generation}"
                )
                last[generation, key] = offset
                first[key].setdefault(generation, offset)
                first[key][generation] = min(offset, first[key][generation])
            for topic, partition, offset in event.get("offsets", ()):
                key = (topic, partition)
                committed[key][generation] = max(offset, committed[key].get(generation, -1))
    shared = {key: numbers for key, numbers in owners.items() if len(numbers) > 1}
    assert not shared, f"(generation, partition) processed by more than one member: {shared}"
    for key, starts in first.items():
        for generation, offset in starts.items():
            floor = max([at for when, at in committed[key].items() if when < generation], default=0)
            assert offset >= floor, (
                f"{key} began again at {offset} in generation {generation}, committed was {floor}"
            )


def check_nothing_committed_is_processed_again(members: Sequence[Teller]) -> None:
    """Also within one generation: what a member has committed it does not see again."""
    for member in members:
        committed: dict[Partition, int] = {}
        for event in member.events:
            for topic, partition, offset, _ in event.get("records", ()):
                floor = committed.get((topic, partition), 0)
                assert offset >= floor, f"{topic}-{partition} went back to {offset} after a commit of {floor}"
            for topic, partition, offset in event.get("offsets", ()):
                committed[topic, partition] = offset
