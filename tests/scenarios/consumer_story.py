"""Stories with clients that speak the consumer protocol.

Commands beside those of ``group_story``:

    beat NAME ... [topics=orders,payments] [pattern=P] [instance=I] [assignor=A] [rebalance=60s]
                                send a heartbeat, and do what the answer says
    lose NAME ... [...]         the same, but the answer is lost
    stall NAME ...              the same, but the client does not let go of anything
    quit NAME ...               go for good
    away NAME ...               go, to come back under the same instance id
    reborn NAME AS              the client starts again under another member id
    grow TOPIC=COUNT            the topic has so many partitions now
"""

from tests.groups.actors import GROUP
from tests.groups.modern import Modern
from tests.groups.shell import TOPICS, FixedTopics
from tests.scenarios.group_story import Story, milliseconds
from tests.scenarios.telling import told_topics

from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from penstock.wire.schema import Struct

IDS = {name: TOPICS.id_of(name) for name in TOPICS.names()}


class ConsumerStory(Story):
    """One story being told."""

    def __init__(self) -> None:
        super().__init__()
        self.modern: dict[str, Modern] = {}

    def _told(self, name: str, response: Struct) -> str:
        if not isinstance(response, ConsumerGroupHeartbeatResponse):
            return super()._told(name, response)
        if response.error_code:
            return ErrorCode(response.error_code).name
        if response.member_epoch < 0:
            return "fine"
        if response.assignment is None:
            return f"epoch {response.member_epoch}"
        return f"epoch {response.member_epoch}, has {told_topics(response.assignment.topic_partitions)}"

    def _client(self, name: str, options: dict[str, str]) -> Modern:
        client = self.modern.setdefault(name, Modern(self.shell, name, group=GROUP))
        if options:
            client.is_unsure = True
        client.topics = tuple(options["topics"].split(",")) if "topics" in options else client.topics
        client.pattern = options.get("pattern", client.pattern)
        client.instance = options.get("instance", client.instance)
        client.assignor = options.get("assignor", client.assignor)
        client.rebalance_ms = milliseconds(options.get("rebalance", f"{client.rebalance_ms}ms"))
        self.shell.asker = name
        return client

    def _beat(self, names: list[str], options: dict[str, str]) -> None:
        for name in names:
            self._client(name, options).beat()

    def _lose(self, names: list[str], options: dict[str, str]) -> None:
        for name in names:
            client = self._client(name, options)
            self.shell.asker = f"lost: {name}"
            client.beat(is_lost=True)

    def _stall(self, names: list[str], options: dict[str, str]) -> None:
        for name in names:
            client = self._client(name, options)
            owned = set(client.owned)
            client.beat()
            client.owned |= owned if client.epoch else set()

    def _quit(self, names: list[str], options: dict[str, str]) -> None:
        for name in names:
            self._client(name, options).leave()

    def _away(self, names: list[str], options: dict[str, str]) -> None:
        for name in names:
            self._client(name, options).go_away()

    def _reborn(self, names: list[str], options: dict[str, str]) -> None:
        old = self._client(names[0], options)
        self.modern[names[1]] = Modern(
            self.shell, names[1], instance=old.instance, topics=old.topics, pattern=old.pattern
        )

    def _commit(self, names: list[str], options: dict[str, str]) -> None:
        if names[0] not in self.modern:
            super()._commit(names, options)
            return
        ((partition, offset),) = options.items()
        self._client(names[0], {}).commit(int(offset), partition=int(partition.removeprefix("orders-")))

    def _grow(self, names: list[str], options: dict[str, str]) -> None:
        counts = {**TOPICS.partition_counts, **{name: int(count) for name, count in options.items()}}
        self.shell.change_topics(FixedTopics(counts, IDS))
