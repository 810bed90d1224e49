"""Which partitions a command is about: ``--topic orders`` for all, ``--topic orders:0,2`` for some."""

from collections.abc import Iterable, Mapping

from penstock.cli.failure import CommandFailed, ExitCode
from penstock.model.errors import UsageError
from penstock.model.ids import TopicPartition

PartitionChoice = Mapping[str, frozenset[int] | None]
"""Topics, each with the numbers of its partitions; None for all of them."""


def parse_partition_choice(texts: Iterable[str], *, option: str = "--topic") -> PartitionChoice:
    """Read all values of the option; a topic that is named twice has the partitions of both."""
    chosen: dict[str, frozenset[int] | None] = {}
    for text in texts:
        topic, numbers = _parse(text, option)
        if topic in chosen:
            before = chosen[topic]
            numbers = None if before is None or numbers is None else before | numbers
        chosen[topic] = numbers
    return chosen


def chosen_partitions(choice: PartitionChoice, existing: Iterable[TopicPartition]) -> list[TopicPartition]:
    """The partitions of ``choice`` among those that exist, in order; a missing one fails the command."""
    known = set(existing)
    topics = {partition.topic for partition in known}
    for topic, numbers in choice.items():
        if topic not in topics:
            raise CommandFailed(
                f"There is no topic {topic!r}.", hint="See what there is with `penstock topic list`."
            )
        for number in sorted(numbers or ()):
            if TopicPartition(topic, number) not in known:
                raise CommandFailed(f"Topic {topic!r} has no partition {number}.", code=ExitCode.USAGE)
    return sorted(partition for partition in known if _is_chosen(partition, choice))


def _is_chosen(partition: TopicPartition, choice: PartitionChoice) -> bool:
    numbers = choice.get(partition.topic, frozenset())
    return numbers is None or partition.partition in numbers


def _parse(text: str, option: str) -> tuple[str, frozenset[int] | None]:
    topic, separator, numbers = text.partition(":")
    parts = [part.strip() for part in numbers.split(",")] if separator else []
    if not topic or not all(part.isdecimal() for part in parts):
        raise UsageError(f"{option} {text!r} is not of the form TOPIC or TOPIC:0,1,2.")
    return topic, frozenset(map(int, parts)) if separator else None
